"""Certificates: whatever is altered is found, by recomputing it where the plan knows it, else by a signature."""

import contextlib
import copy
import dataclasses
import hashlib
import json
import re

import numpy as np
import pytest

import tailguard as tg
from tailguard.plans import (
    certificate_schema,
    check_certificate,
    check_signature,
    sign,
)
from tailguard.plans.certificate import _checksum
from tailguard.plans.codec import canonical
from tailguard.plans.result import result_hash
from tailguard.plans.schema import mismatch
from tailguard.run.randomness import Exact, Float, Simulation

X = np.random.default_rng(0).standard_t(3, size=(20_000, 2))

TOLD = ("versions", "result", "issued", "session", "skipped")
"""What only the run could know: nothing but the checksum and a signature speak for it."""


@pytest.fixture(scope="module")
def release():
    return (
        tg.Mean(epsilon=1.0, delta=1e-6, moment=tg.Moment(2.0, 3.0), method="clipping", parameters="paper")
        .fit(X)
        .release_
    )


@pytest.fixture(scope="module")
def certificate(release):
    return release.certificate(issued="today")


def leaves(value, path=()):
    """Yield the path of everything in a JSON document that has no parts, and of every list."""
    if isinstance(value, list):
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if items is None:
        yield path
        return
    for key, item in items:
        yield from leaves(item, (*path, key))


def mutated(value):
    """Yield values that are like this one, and another."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, -value - 1, float(value) + 0.5)
    elif isinstance(value, float):
        yield from (value * 1.01 + 1e-12, value / 2 - 1e-9)
    elif isinstance(value, str):
        yield from (value + "x", value[:-1], re.sub("[0-9a-f]", "7", value, count=1) + "7")
    elif isinstance(value, list):
        yield from ([*value, *value[-1:], 3], value[:-1] if value else [0])
    else:
        yield from ("null", {})


def edits(document):
    for path in leaves(document):
        place = document
        for key in path:
            place = place[key]
        for value in mutated(place):
            if value != place:
                yield path, replaced(document, path, value)


def replaced(document, path, value):
    changed = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def with_checksum(document):
    """As somebody does it who knows how."""
    rest = {name: value for name, value in document.items() if name not in ("checksum", "signature")}
    return {**document, "checksum": hashlib.sha256(canonical(rest).encode()).hexdigest()}


def test_a_certificate_is_json_and_good(release, certificate):
    again = json.loads(json.dumps(certificate))
    assert again == certificate
    for form in (certificate, again, json.dumps(certificate, indent=2)):
        found = check_certificate(form)
        assert found.plan == release.plan
        assert found.guarantee == release.guarantee
        assert found.digest == release.digest
        assert found.signer is None


def test_what_it_says(release, certificate):
    assert certificate["private"] is True
    assert "ε = 1, δ = 1e-06" in certificate["statement"]
    assert certificate["relation"]["n"] == 20_000
    assert certificate["guarantee"]["recomputed"] <= certificate["guarantee"]["epsilon"] == 1.0
    assert certificate["numerics"] == {"label": Exact.label, "exact": True}
    assert certificate["session"] is None
    assert any("accuracy" in sentence for sentence in certificate["assumed"])
    assert release.certificate()["issued"] is None
    assert not any("floating point" in sentence for sentence in certificate["assumed"])


def test_noise_in_floating_point_is_said():
    rng = np.random.default_rng(0)
    found = tg.Mean(epsilon=2.0, numerics="float").fit(rng.standard_normal((2000, 2))).release_.certificate()
    assert found["numerics"]["exact"] is False
    assert any("floating point" in sentence for sentence in found["assumed"])
    check_certificate(found)


def test_any_edit_is_found(certificate):
    for path, changed in edits(certificate):
        if path != ("checksum",):
            with pytest.raises(tg.PlanError):
                check_certificate(changed)


def test_any_edit_of_what_the_plan_knows_is_found_even_with_a_new_checksum(certificate):
    """By recomputing. What only the run could know is left; `TOLD` is all of it."""
    tried, kept = 0, set()
    for path, changed in edits(certificate):
        tried += 1
        try:
            check_certificate(with_checksum(changed))
        except tg.PlanError:
            continue
        kept.add(next(part for part in reversed(path) if isinstance(part, str)))
    assert tried > 200
    assert kept - {"tailguard", "opendp", "dp-accounting", "numpy"} <= {*TOLD, "checksum"}


def test_a_consistent_change_of_the_plan_is_another_promise(release):
    """Whoever rewrites the plan and everything that follows from it gets the true cost of that plan, or a refusal."""
    cheap = dataclasses.replace(release, plan=dataclasses.replace(release.plan, privacy=tg.Privacy(0.5, 1e-6)))
    with pytest.raises(tg.PlanError, match="costs ε = "):
        check_certificate(cheap.certificate())
    dear = dataclasses.replace(release, plan=dataclasses.replace(release.plan, privacy=tg.Privacy(5.0, 1e-6)))
    assert check_certificate(dear.certificate()).guarantee.epsilon == release.guarantee.epsilon
    silent = dataclasses.replace(release, ledger=type(release.ledger)(release.ledger.entries[:-1]))
    with pytest.raises(tg.LedgerError):
        silent.certificate()


def test_a_simulation_says_so_and_is_refused():
    document = tg.Mean(epsilon=1.0, random_state=3).fit(X).release_.certificate()
    assert document["private"] is False
    assert document["statement"].startswith("NOT PRIVATE")
    assert document["numerics"]["exact"] is False
    with pytest.raises(tg.PlanError, match="NOT PRIVATE"):
        check_certificate(document)
    for lie in ({"private": True}, {"statement": "private"}):
        with pytest.raises(tg.PlanError):
            check_certificate(with_checksum({**document, **lie}))


def test_noise_in_floats_is_private_and_not_exact():
    document = tg.Mean(epsilon=1.0, numerics="float").fit(X).release_.certificate()
    assert (document["private"], document["numerics"]["exact"]) == (True, False)
    check_certificate(document)


def test_certificates_of_other_fits():
    """Selections, disjoint blocks, skipped steps, pure budgets, floating-point steps, custom losses."""
    y = X @ [1.0, 2.0]
    fits = [
        tg.LinearRegression(epsilon=1.0).fit(X, y),
        tg.SparseLinearRegression(epsilon=4.0, delta=0.0, sparsity=1).fit(X, y),
        tg.Mean(epsilon=4.0, delta=0.0).fit(X),
    ]
    loss = tg.losses.CustomLoss("distance", lambda point, rows, target: point - rows)
    releases = [fit.release_ for fit in fits]
    releases.append(tg.minimize(loss, tg.domains.L2Ball(2, 1.0), X, tg.Privacy(1.0, 1e-6)))
    for release in releases:
        document = release.certificate()
        assert mismatch(document, certificate_schema()) is None
        assert check_certificate(json.dumps(document)).guarantee == release.guarantee


def test_a_session_is_named(tmp_path):
    session = tg.Session(tmp_path / "ledger.db", epsilon=2.0, delta=1e-6)
    document = tg.Mean(epsilon=1.0, session=session).fit(X).release_.certificate()
    identity = session.statement().identity
    assert document["session"] == {"ledger": identity, "number": 1, "epsilon": 2.0, "delta": 1e-6}
    check_certificate(document)
    with pytest.raises(tg.PlanError, match="'assumed'"):
        check_certificate(with_checksum({**document, "session": None}))


@pytest.mark.parametrize("bad", [None, 3, [], {}, "", "[]", "{", '{"format": 1, "format": 2}', "NaN", "[" * 100_000])
def test_other_things_are_refused(bad):
    with pytest.raises(tg.PlanError):
        check_certificate(bad)


@pytest.mark.parametrize("bad", [10**400, float("inf"), float("nan"), "\ud800"])
def test_what_is_no_number_and_no_text_is_refused_in_a_sentence(certificate, bad):
    for place in (("issued",), ("guarantee", "recomputed"), ("guarantee", "epsilon")):
        altered = copy.deepcopy(certificate)
        part = altered[place[0]] if len(place) == 2 else altered
        part[place[-1]] = bad
        with contextlib.suppress(ValueError):
            altered["checksum"] = _checksum({k: v for k, v in altered.items() if k not in ("checksum", "signature")})
        with pytest.raises(tg.PlanError):
            check_certificate(altered)


def test_a_release_that_is_not_private_gets_no_certificate_that_says_so(release):
    with pytest.raises(tg.PlanError, match="label of numerics"):
        dataclasses.replace(release, private=False).certificate()
    simulated = tg.Mean(epsilon=1.0, delta=1e-6, random_state=0).fit(X).release_
    with pytest.raises(tg.PlanError, match="label of numerics"):
        dataclasses.replace(simulated, numerics="noise of my own").certificate()


def test_the_result_of_several_classes_has_all_its_intercepts():
    labels = np.digitize(X[:, 0], [-0.5, 0.5])
    release = tg.LogisticRegression(epsilon=2.0, delta=1e-6, classes=(0, 1, 2)).fit(X, labels).release_
    estimate = release.estimate
    numbers = {"coefficients": estimate.coefficients.tolist(), "intercept": estimate.offsets.tolist()}
    assert release.certificate()["result"] == result_hash({**numbers, "uncertainty": None})
    assert len(numbers["intercept"]) == 3


def test_the_result_has_its_intervals():
    """A certificate is for one coefficient and for its standard error: neither can be exchanged."""
    release = tg.Mean(epsilon=1.0, delta=1e-6).fit(X).release_
    found, true = release.estimate.uncertainty, release.certificate()["result"]
    doubled = dataclasses.replace(found, covariance=4.0 * found.covariance)
    moved = dataclasses.replace(found, centre=found.centre + 1.0)
    for other in (doubled, moved, None):
        estimate = dataclasses.replace(release.estimate, uncertainty=other)
        assert dataclasses.replace(release, estimate=estimate).certificate()["result"] != true


def test_the_result_of_an_evaluation_has_its_intervals():
    y = X.sum(axis=1)
    model = tg.LinearRegression(epsilon=2.0, delta=1e-6).fit(X, y)
    release = tg.evaluate(model, X, y, epsilon=2.0, measures=["r2"]).release
    (measure,) = release.estimate.measures
    sure = dataclasses.replace(release.estimate, measures=(dataclasses.replace(measure, low=measure.value),))
    assert dataclasses.replace(release, estimate=sure).certificate()["result"] != release.certificate()["result"]


def test_a_certificate_of_another_version_is_refused_by_its_version(certificate):
    for version in (1, 3):
        with pytest.raises(tg.PlanError, match=f"of version {version}, and this tailguard reads version 2"):
            check_certificate(with_checksum({**certificate, "version": version}))


def test_a_plan_that_is_no_plan_is_refused(certificate):
    deep = {}
    for _ in range(5000):
        deep = {"type": "plans.Plan", "x": deep}
    for plan in ({}, {"type": "nonsense"}, certificate["plan"]["privacy"], deep):
        changed = {**certificate, "plan": plan}
        with pytest.raises(tg.PlanError):
            check_certificate(changed if plan is deep else with_checksum(changed))


def test_the_schema_knows_all_labels_and_is_strict(certificate):
    rule = certificate_schema()
    label = rule["properties"]["numerics"]["properties"]["label"]["pattern"]
    for source in (Exact(), Float(), Simulation(12)):
        assert re.search(label, source.label)
        assert re.search(label, source.label + "; floating-point sampling in solution")
    assert set(rule["required"]) == set(rule["properties"]) == set(certificate)
    for name in certificate:
        assert mismatch({key: value for key, value in certificate.items() if key != name}, rule)
    assert "unknown field" in mismatch({**certificate, "comment": "trust me"}, rule)
    assert "wrong type" in mismatch({**certificate, "version": True}, rule)


def test_the_schema_agrees_with_a_validator_of_the_full_language(certificate):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(certificate_schema())
    validator = jsonschema.Draft202012Validator(certificate_schema())
    assert validator.is_valid(certificate)
    for _, changed in edits(certificate):
        assert validator.is_valid(changed) == (mismatch(changed, certificate_schema()) is None)


@pytest.fixture(scope="module")
def keys():
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    forms = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    pem, plain = forms.Encoding.PEM, forms.NoEncryption()

    def pair():
        private = ed25519.Ed25519PrivateKey.generate()
        public = private.public_key().public_bytes(pem, forms.PublicFormat.SubjectPublicKeyInfo)
        return private.private_bytes(pem, forms.PrivateFormat.PKCS8, plain), public

    return pair(), pair()


def both(document, public):
    check_certificate(document)
    check_signature(document, public)


def test_a_signature_covers_everything(certificate, keys):
    (private, public), (_, other) = keys
    signed = sign(certificate, private)
    signer = check_signature(signed, public)
    assert check_certificate(json.loads(json.dumps(signed))).signer == signer == check_signature(signed)
    with pytest.raises(tg.PlanError, match="another key"):
        check_signature(signed, other)
    with pytest.raises(tg.PlanError, match="not signed"):
        check_signature(certificate, public)
    for path, changed in edits(signed):
        with pytest.raises(tg.PlanError):
            both(changed if path == ("checksum",) else with_checksum(changed), public)


def test_wrong_keys_are_refused(certificate, keys):
    (private, public), _ = keys
    for key in (b"", b"nonsense", public):
        with pytest.raises(tg.ParameterError, match="Ed25519 private key"):
            sign(certificate, key)
    with pytest.raises(tg.ParameterError, match="Ed25519 public key"):
        check_signature(sign(certificate, private), private)


def test_without_the_package_signatures_are_refused(certificate, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(tg.ParameterError, match=r"tailguard\[sign\]"):
        sign(certificate, b"")
    with pytest.raises(tg.ParameterError, match=r"tailguard\[sign\]"):
        check_signature(certificate)
