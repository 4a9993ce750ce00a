"""From a fit to a certificate that somebody else verifies."""

import json

import pytest

from tailguard.cli.model_file import _checksum

FIT = ("--target", "pay", "--epsilon", 4)


@pytest.fixture
def made(tailguard, files, tmp_path):
    """A function that fits, and returns the paths of the certificate and the model."""

    def fit(*words):
        certificate, model = tmp_path / "certificate.json", tmp_path / "model.json"
        where = ("--certificate", certificate, "--output", model)
        outcome = tailguard("fit", files / "claims.parquet", *FIT, *where, *words)
        assert outcome.status == 0, outcome.err
        return certificate, model

    return fit


def test_a_certificate_is_verified(tailguard, made):
    certificate, model = made()
    outcome = tailguard("verify", certificate, "--model", model)
    assert outcome.status == 0, outcome.err
    assert "The certificate is good" in outcome.out
    document = json.loads(certificate.read_text())
    found = json.loads(tailguard("verify", certificate, "--json").out)
    assert found["holds"] is True
    assert found["digest"] == document["digest"]
    assert document["issued"].startswith("20")


def test_it_is_for_one_model_alone(tailguard, made, tmp_path):
    certificate, model = made()
    kept = tmp_path / "kept.json"
    kept.write_text(certificate.read_text())
    made()
    assert "not for the model" in tailguard("verify", kept, "--model", model).sentence()
    assert tailguard("verify", certificate, "--model", model).status == 0
    assert "not a model file" in tailguard("verify", certificate, "--model", certificate).sentence()


def test_it_is_for_these_names_alone(tailguard, made):
    certificate, path = made()
    document = json.loads(path.read_text())
    first, second, *rest = document["model"]["columns"]
    for name, other in (("columns", [second, first, *rest]), ("target", first), ("classes", ["no", "yes"])):
        body = {key: value for key, value in document.items() if key != "checksum"}
        body["model"] = {**document["model"], name: other}
        path.write_text(json.dumps({**body, "checksum": _checksum(body)}))
        assert "not for the model" in tailguard("verify", certificate, "--model", path).sentence()


def test_it_names_the_line_of_the_ledger(tailguard, made, tmp_path):
    for name in ("one.db", "two.db"):
        assert tailguard("ledger", "create", tmp_path / name, "--epsilon", 5, "--delta", 1e-6).status == 0
    certificate, _ = made("--session", tmp_path / "one.db")
    outcome = tailguard("verify", certificate, "--session", tmp_path / "one.db")
    assert "paid by line 1 of 1; total budget ε = 5" in outcome.out
    assert "has not paid" in tailguard("verify", certificate, "--session", tmp_path / "two.db").sentence()
    certificate, _ = made()
    assert "has not paid" in tailguard("verify", certificate, "--session", tmp_path / "one.db").sentence()


def test_an_altered_one_is_refused(tailguard, made):
    certificate, _ = made()
    document = json.loads(certificate.read_text())
    certificate.write_text(json.dumps({**document, "statement": "(ε = 0.1)"}))
    outcome = tailguard("verify", certificate)
    assert outcome.status == 1
    assert "altered" in outcome.sentence()
    certificate.write_text(certificate.read_text()[:-10])
    assert "not a tailguard certificate" in tailguard("verify", certificate).sentence()


def test_a_simulation_is_refused(tailguard, made):
    certificate, _ = made("--seed", 1)
    assert "NOT PRIVATE" in json.loads(certificate.read_text())["statement"]
    assert "NOT PRIVATE" in tailguard("verify", certificate).sentence()


def test_options_of_certificates_need_one(tailguard, made):
    _, model = made()
    assert "is no certificate" in tailguard("verify", model, "--model", model).sentence()


def test_signing(tailguard, made, tmp_path):
    ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519")
    forms = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    private = ed25519.Ed25519PrivateKey.generate()
    key, public, other = (tmp_path / name for name in ("key.pem", "public.pem", "other.pem"))
    key.write_bytes(private.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption()))
    for file, of in ((public, private), (other, ed25519.Ed25519PrivateKey.generate())):
        form = forms.PublicFormat.SubjectPublicKeyInfo
        file.write_bytes(of.public_key().public_bytes(forms.Encoding.PEM, form))
    certificate, _ = made()
    assert "not signed" in tailguard("verify", certificate, "--key", public).sentence()
    outcome = tailguard("certify", certificate, "--key", key)
    assert outcome.status == 0, outcome.err
    signer = json.loads(tailguard("certify", certificate, "--key", key, "--json").out)["signed_by"]
    assert outcome.out == f"Signed by {signer}.\n"
    assert "signature   good" in tailguard("verify", certificate, "--key", public).out
    assert "was not asked" in tailguard("verify", certificate).out
    assert "another key" in tailguard("verify", certificate, "--key", other).sentence()
    assert "cannot be read" in tailguard("verify", certificate, "--key", tmp_path / "none.pem").sentence()
    assert "private key" in tailguard("certify", certificate, "--key", public).sentence()
    document = json.loads(certificate.read_text())
    certificate.write_text(json.dumps({**document, "issued": "yesterday"}))
    assert "altered" in tailguard("certify", certificate, "--key", key).sentence()  # what is not good is not signed
