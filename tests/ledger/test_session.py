"""Sessions: what is charged, refused and remembered, by whoever asks."""

import copy
import json
import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.base import clone

import tailguard as tg
from tailguard.ledger import session_of
from tailguard.plans import digest
from tailguard.privacy import Cost

BUDGET = {"epsilon": 1.0, "delta": 1e-6}
PLAN = tg.Mean(epsilon=0.2, delta=1e-6).plan(5000, 2)
X = np.random.default_rng(0).standard_t(3, size=(5000, 2))


@pytest.fixture
def session(path):
    return tg.Session(path, **BUDGET)


def test_a_new_ledger_is_empty_and_is_found_again(path, session):
    statement = session.statement()
    assert statement.privacy == tg.Privacy(1.0, 1e-6)
    assert statement.charges == ()
    assert statement.spent == 0.0
    assert tg.Session(str(path)) == tg.Session(path, **BUDGET) == session
    assert {file.name for file in path.parent.iterdir()} == {"ledger.db"}


@pytest.mark.parametrize(
    "asked", [{"epsilon": 2.0}, {"epsilon": 1.0, "delta": 1e-5}, {"delta": 0.0}, {"n_rows": 7}, {"slack": 1e-9}]
)
def test_a_ledger_keeps_the_budget_that_it_was_made_with(path, session, asked):
    with pytest.raises(tg.ParameterError, match="as in the ledger"):
        tg.Session(path, **asked)
    assert session.statement().privacy == tg.Privacy(1.0, 1e-6)


@pytest.mark.parametrize("bad", ["", ":memory:", 3, None, b"ledger.db", "a\0b"])
def test_a_path_must_be_the_path_of_a_file(bad):
    with pytest.raises(tg.ParameterError, match="'path' parameter of Session"):
        tg.Session(bad, **BUDGET)


@pytest.mark.parametrize("bad", [{"epsilon": -1.0}, {"epsilon": 1.0, "delta": 1.0}, {"epsilon": 1.0, "n_rows": 0}])
def test_wrong_budgets_make_no_file(path, bad):
    with pytest.raises(tg.ParameterError):
        tg.Session(path, **bad)
    assert not path.exists()


def test_names_that_are_special_in_addresses_are_plain_names(tmp_path):
    path = tmp_path / "file:a?mode=memory&b#%41 ü.db"
    tg.Session(path, **BUDGET).charge(PLAN)
    assert path.exists()
    assert len(tg.Session(path).statement().charges) == 1


def test_a_charge_holds_digest_events_and_cost(session):
    receipt = session.charge(PLAN)
    assert (receipt.number, receipt.privacy) == (1, tg.Privacy(1.0, 1e-6))
    (charge,) = session.check().charges
    assert charge.digest == digest(PLAN)
    assert (charge.n, charge.d) == (5000, 2)
    assert charge.cost == Cost.of(PLAN.event, 1e-6)
    assert session.statement().spent == charge.alone <= 0.2


def test_plans_are_charged_until_the_budget_is_spent(session):
    count = 17  # a plain sum of ε would end after five
    for _ in range(count):
        session.charge(PLAN)
    with pytest.raises(tg.BudgetError, match=r"costs ρ = 0\.00\d+, and the session has ρ = 0\.00\d+ of 0\.0244 left"):
        session.charge(PLAN)
    statement = session.check()
    assert len(statement.charges) == count
    assert 0.9 < statement.spent <= 1.0
    assert statement.left < Cost.of(PLAN.event, 1e-6).rho
    assert math.fsum(charge.rho for charge in statement.charges) <= statement.limit


def test_a_pure_session_adds_epsilon_and_takes_pure_fits_alone(path):
    session = tg.Session(path, epsilon=1.0)
    with pytest.raises(tg.BudgetError, match="pure"):
        session.charge(PLAN)
    pure = tg.Mean(epsilon=0.5, delta=0.0).plan(40_000, 2)
    session.charge(pure)
    session.charge(pure)
    with pytest.raises(tg.BudgetError, match=r"costs ε = 0\.5, and the session has ε = .* of 1 left\."):
        session.charge(pure)
    assert session.check().spent <= 1.0


def test_what_was_done_elsewhere_is_charged_by_hand(path):
    session = tg.Session(path, **BUDGET, slack=1e-7)
    session.charge_other(tg.Privacy(0.1), "a histogram of ages")
    session.charge_other(tg.Privacy(0.1, 1e-8), "a count by another tool")
    labels = [charge.label for charge in session.check().charges]
    assert labels == ["a histogram of ages", "a count by another tool"]
    with pytest.raises(tg.BudgetError, match="slack"):
        session.charge_other(tg.Privacy(0.1, 1e-6), "too much")
    with pytest.raises(tg.BudgetError, match=r"costs ρ = 0\.5"):
        session.charge_other(tg.Privacy(1.0), "too much")
    with pytest.raises(tg.ParameterError):
        session.charge_other(0.1, "a number")


def test_the_number_of_rows_belongs_to_the_session(path, session):
    session.charge_other(tg.Privacy(0.01), "something else")
    assert session.statement().n_rows is None
    session.charge(PLAN)
    assert session.statement().n_rows == 5000
    part = tg.Mean(epsilon=0.2).plan(4000, 2)
    with pytest.raises(tg.BudgetError, match=r"5000 rows, and this plan is for 4000: .* tg\.select") as caught:
        session.charge(part)
    assert session.refusal(part) == str(caught.value)
    assert session.refusal(PLAN) is None
    session.charge(tg.Mean(epsilon=0.2).plan(5000, 1))  # a choice of columns by name is public
    told = tg.Session(path.parent / "other.db", **BUDGET, n_rows=100)
    with pytest.raises(tg.BudgetError, match="100 rows"):
        told.charge(PLAN)
    assert told.statement().charges == ()


def test_pickles_and_copies_share_the_ledger(session, tmp_path, monkeypatch):
    others = [pickle.loads(pickle.dumps(session)), copy.copy(session), copy.deepcopy(session)]
    for other in others:
        assert other == session
        assert hash(other) == hash(session)
        other.charge(PLAN)
    assert len(session.statement().charges) == 3
    monkeypatch.chdir(session.path.parent)
    relative = tg.Session("ledger.db")
    monkeypatch.chdir(tmp_path)
    relative.charge(PLAN)
    assert len(session.statement().charges) == 4
    assert repr(session) == f"Session({str(session.path)!r})"


def test_estimators_with_a_session_clone_and_pickle(session):
    for given in (session, str(session.path), session.path):
        model = tg.Mean(epsilon=0.2, session=given)
        for other in (clone(model), pickle.loads(pickle.dumps(model))):
            assert other.get_params() == model.get_params()
            other.fit(X)
            assert other.release_.receipt.ledger == session.statement().identity
    assert [charge.number for charge in session.statement().charges] == [1, 2, 3, 4, 5, 6]
    assert pickle.loads(pickle.dumps(other)).release_.receipt.number == 6


def test_a_session_parameter_of_another_kind_is_refused():
    with pytest.raises(tg.ParameterError, match="'session' parameter of Mean must be a Session"):
        session_of("Mean", 3)
    with pytest.raises(tg.ParameterError, match="'session' parameter of Mean must be a Session"):
        tg.Mean(session=3).fit(X)


def test_threads_charge_once_each(path):
    session = tg.Session(path, epsilon=1.0)
    small = tg.Privacy(1.0 / 32.0)

    def ask(k):
        try:
            return session.charge_other(small, f"{k}").number
        except tg.BudgetError:
            return None

    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(ask, range(40)))
    assert sorted(number for number in numbers if number) == list(range(1, 33))
    statement = session.check()
    assert statement.spent == 1.0
    assert len({charge.label for charge in statement.charges}) == 32


def _fit(path, k):
    return tg.Mean(epsilon=0.2 + 0.001 * k, session=path).fit(X).release_.receipt.number


def test_ten_fits_from_two_workers_are_charged_exactly_once_each(path, session):
    numbers = joblib.Parallel(n_jobs=2)(joblib.delayed(_fit)(str(path), k) for k in range(10))
    assert sorted(numbers) == list(range(1, 11))
    charges = session.check().charges
    expected = {digest(tg.Mean(epsilon=0.2 + 0.001 * k).plan(5000, 2)) for k in range(10)}
    assert {charge.digest for charge in charges} == expected
    assert len(charges) == 10


def test_a_statement_is_json(session):
    session.charge(PLAN)
    session.charge_other(tg.Privacy(0.05), "elsewhere")
    document = json.loads(json.dumps(session.statement().document(), allow_nan=False))
    assert document["budget"] == {"epsilon": 1.0, "delta": 1e-6, "slack": 0.0}
    assert [charge["number"] for charge in document["charges"]] == [1, 2]
    assert document["charges"][0]["epsilon"] is None
    assert document["left"]["unit"] == "rho"
    assert 0.0 < document["spent"]["epsilon"] < 1.0
    assert document["next_epsilon"] > 0.5


def test_nothing_is_left_open(path, session):
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(5):
        session.charge(PLAN)
        with pytest.raises(tg.BudgetError):
            session.charge(tg.Mean(epsilon=3.0).plan(5000, 2))
    after = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    assert after == before
    assert {file.name for file in path.parent.iterdir()} == {"ledger.db"}
