"""What every mechanism must do: follow its law, report the event it promised, stay inside int64."""

import dataclasses
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tailguard.errors import ParameterError
from tailguard.mechanisms import Mechanism, Randomness
from tailguard.privacy import events
from tailguard.run.randomness import Exact, Float, Simulation
from tests.support.laws import miss_probability, p_value
from tests.support.registry_mechanisms import LAWS, MECHANISMS, WIDER, Law

ALL = MECHANISMS | WIDER
LEVEL = 1e-7
SOURCES: dict[str, Callable[[], Randomness]] = {
    "simulation": lambda: Simulation(1),
    "float": Float,
    "exact": Exact,
}
sources = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
mechanisms = pytest.mark.parametrize("mechanism", ALL.values(), ids=ALL.keys())
all_laws = pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())


@all_laws
@sources
def test_noise_has_its_law_and_no_scale_that_is_ten_percent_off(
    law: Law,
    source: Callable[[], Randomness],
) -> None:
    counts = law.counts(source())
    assert counts.sum() == law.draws
    assert p_value(counts, law.probabilities(law.scale)) > LEVEL
    assert p_value(counts, law.probabilities(0.9 * law.scale)) < LEVEL
    assert p_value(counts, law.probabilities(1.1 * law.scale)) < LEVEL


@all_laws
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_the_law_test_is_strong_enough(law: Law, factor: float) -> None:
    truth, wrong = law.probabilities(law.scale), law.probabilities(factor * law.scale)
    assert truth.sum() == pytest.approx(1.0)
    assert miss_probability(law.draws, truth, wrong, LEVEL) < 1e-7


@mechanisms
def test_some_law_covers_the_mechanism(mechanism: Mechanism) -> None:
    assert type(mechanism) in {type(law.mechanism) for law in LAWS.values()}


@mechanisms
@given(
    multiplier=st.floats(1e-3, 1e6),
    sensitivity=st.floats(2.0**15, 2.0**30),
    dimension=st.integers(3, 40),
)
@settings(max_examples=20, deadline=None)
def test_event_performed_is_the_event_promised(
    mechanism: Mechanism, multiplier: float, sensitivity: float, dimension: int
) -> None:
    value = np.arange(dimension, dtype=np.int64)
    released, performed = mechanism.release(value, sensitivity, multiplier, Simulation(0))
    assert performed == mechanism.event(multiplier, sensitivity, dimension)
    assert released.dtype == np.int64


@mechanisms
def test_event_falls_with_the_multiplier(mechanism: Mechanism) -> None:
    assert mechanism.event(1.0, 2.0**20, 50) != mechanism.event(math.nextafter(1.0, 2.0), 2.0**20, 50)


@mechanisms
@sources
def test_extreme_integers_saturate_and_never_wrap(
    mechanism: Mechanism,
    source: Callable[[], Randomness],
) -> None:
    ends = np.iinfo(np.int64)
    value = np.array([ends.min, -(2**62), -1, 0, 2**62, ends.max], dtype=np.int64)
    released, _ = mechanism.release(value, 2.0**30, 4.0, source())
    assert released.dtype == np.int64
    if released.size == value.size:
        # Noise is far below 2**61: what is released is near the input, or 0 where peeling dropped it.
        kept = released != 0
        moved = [abs(int(a) - int(b)) for a, b in zip(released[kept], value[kept], strict=True)]
        assert max(moved) < 2**40
    else:
        assert set(released.tolist()) <= set(range(value.size))
        assert released[0] == 5


@mechanisms
@sources
def test_noise_beyond_the_integers_saturates(mechanism: Mechanism, source: Callable[[], Randomness]) -> None:
    value = np.full(8, 2**62, dtype=np.int64)
    released, _ = mechanism.release(value, 2.0**40, 2.0**15, source())
    assert released.dtype == np.int64
    if mechanism.norm != "linf":
        huge = mechanism.release(value, 2.0**40, 2.0**40, source())[0].astype(float)
        assert (np.abs(huge) > 2.0**60).mean() > 0.8


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=MECHANISMS.keys())
@sources
@pytest.mark.parametrize("dimension", [1, 1000])
def test_one_coordinate_and_many(
    mechanism: Mechanism,
    source: Callable[[], Randomness],
    dimension: int,
) -> None:
    released, _ = mechanism.release(np.zeros(dimension, dtype=np.int64), 2.0**20, 4.0, source())
    assert released.shape in {(dimension,), (1,)}
    assert released.dtype == np.int64


@mechanisms
def test_the_value_is_not_changed(mechanism: Mechanism) -> None:
    value = np.arange(6, dtype=np.int64)
    value.setflags(write=False)
    mechanism.release(value, 2.0**20, 4.0, Simulation(0))
    assert value.tolist() == [0, 1, 2, 3, 4, 5]


@mechanisms
@pytest.mark.parametrize("multiplier", [0.0, -1.0, math.inf, math.nan, "1", True, None, 1e300])
def test_wrong_multipliers_are_refused_by_both(mechanism: Mechanism, multiplier: float) -> None:
    value = np.zeros(3, dtype=np.int64)
    with pytest.raises(ParameterError, match="The 'multiplier' parameter of"):
        mechanism.event(multiplier, 2.0**20, 3)
    with pytest.raises(ParameterError, match="The 'multiplier' parameter of"):
        mechanism.release(value, 2.0**20, multiplier, Simulation(0))


@mechanisms
def test_wrong_sensitivities_and_dimensions_are_refused(mechanism: Mechanism) -> None:
    with pytest.raises(ParameterError, match="The 'sensitivity' parameter of"):
        mechanism.event(1.0, -2.0, 3)
    with pytest.raises(ParameterError):
        mechanism.event(1.0, 2.0**20, 0)


@mechanisms
def test_mechanisms_are_frozen_values(mechanism: Mechanism) -> None:
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(mechanism) == hash(dataclasses.replace(mechanism))
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.norm = "l1"  # type: ignore[misc]


@mechanisms
@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_repeat_costs_as_much_as_its_copies(mechanism: Mechanism, count: int) -> None:
    composition = pytest.importorskip("tailguard.privacy.composition")
    event = mechanism.event(20.0, 2.0**30, 50)
    repeated, copies = events.Repeat(event, count), events.Sequential((event,) * count)
    for delta in (1e-6, 1e-9):
        assert composition.epsilon(repeated, delta) == pytest.approx(composition.epsilon(copies, delta))
