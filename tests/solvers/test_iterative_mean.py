"""Program (27) against brute force and in every corner, and Lemmas 7 and 8 of Zhao et al. 2024 by numbers."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from tailguard.errors import ParameterError
from tailguard.solvers.direction import estimate
from tailguard.solvers.iterative_mean import iterations_needed, iterative_mean

Matrix = NDArray[np.float64]
CONTRACTION = 217.0 / 256.0  # of the squared distance; the lemma says 233/256

KINDS = {
    "normal": lambda rng, k, d: rng.standard_normal((k, d)),
    "heavy": lambda rng, k, d: rng.standard_t(1.5, (k, d)),
    "thin": lambda rng, k, d: rng.standard_normal((k, d)) * np.logspace(0.0, 1.5, d),
    "skewed": lambda rng, k, d: np.exp(rng.standard_normal((k, d))) - 1.6,
    "two": lambda rng, k, d: rng.standard_normal((k, d)) + 8.0 * (rng.random((k, 1)) < 0.3),
}


def unit(vectors: Matrix) -> Matrix:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / norms)[norms[..., 0] > 0.0] if vectors.ndim == 2 else vectors / norms


def levels(offsets: Matrix, directions: Matrix) -> Matrix:
    """Return for each direction the largest s that nine tenths of the projections reach, by sorting."""
    allowed = len(offsets) // 10  # groups that may stay below
    return np.sort(directions @ offsets.T, axis=1)[:, allowed]


def exact(offsets: Matrix) -> float:
    """Return the maximum in the plane: it lies where two projections cross, or along a point."""
    i, j = np.triu_indices(len(offsets), 1)
    across = (offsets[i] - offsets[j]) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    return float(levels(offsets, unit(np.concatenate([across, -across, offsets]))).max())


def dense(offsets: Matrix, count: int = 20_000) -> float:
    """Return the maximum over a Fibonacci grid of the sphere, refined around the best points."""
    turn, height = np.pi * (1.0 + 5.0**0.5) * np.arange(count), 1.0 - (2.0 * np.arange(count) + 1.0) / count
    grid = np.stack([np.cos(turn), np.sin(turn), height], axis=1)
    grid[:, :2] *= np.sqrt(1.0 - height**2)[:, None]
    best = grid[np.argsort(-levels(offsets, grid))[:10]]
    for size in 0.02 * 0.5 ** np.arange(10):
        near = unit((best[:, None] + size * grid[None, :: count // 200]).reshape(-1, 3))
        best = near[np.argsort(-levels(offsets, near))[:10]]
    return float(levels(offsets, best).max())


def cases(d: int, counts: tuple[int, ...]) -> list[tuple[str, Matrix]]:
    rng = np.random.default_rng(11 + d)
    away = [0.0, 1.0, 3.0, 10.0]
    return [
        (f"{kind}, k = {k}, {far} away", draw(rng, k, d) + far * unit(rng.standard_normal(d)))
        for kind, draw in KINDS.items()
        for k in counts
        for far in away
    ]


def reach(groups: Matrix, mean: Matrix) -> float:
    """Return an r with (26): at most a tenth of the groups is farther than r from the mean, in norm."""
    return float(np.sort(np.linalg.norm(groups - mean, axis=1))[len(groups) - len(groups) // 10 - 1])


def exact_reach(groups: Matrix, mean: Matrix) -> float:
    """Return the smallest r with (26) in the plane: the largest of the (k/10 + 1)-th largest projections."""
    offsets = groups - mean
    i, j = np.triu_indices(len(offsets), 1)
    across = (offsets[i] - offsets[j]) @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    return float((-levels(offsets, unit(np.concatenate([across, -across, -offsets])))).max())


def contaminated(rng: np.random.Generator, k: int, d: int, far: float) -> Matrix:
    groups = rng.standard_normal((k, d))
    groups[: k // 10] = far * unit(rng.standard_normal((k // 10, d)))
    return groups


def test_plane_against_exact_enumeration() -> None:
    for name, offsets in cases(2, (3, 12, 30, 100)):
        best, (found, _) = exact(offsets), estimate(offsets, np.zeros(2))
        assert best * (1.0 + 1e-12 * np.sign(best)) >= found >= best - 0.01 * abs(best), name


def test_space_against_a_dense_grid() -> None:
    for name, offsets in cases(3, (5, 15, 60)):
        best, (found, _) = dense(offsets), estimate(offsets, np.zeros(3))
        assert found >= best - 0.01 * abs(best), name


def test_value_is_the_order_statistic_of_the_direction() -> None:
    for k in (1, 2, 9, 10, 11, 19, 20, 21, 95):
        rng = np.random.default_rng(k)
        groups, centre = rng.standard_normal((k, 4)), rng.standard_normal(4)
        distance, direction = estimate(groups, centre)
        projections = np.sort((groups - centre) @ direction)
        assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-12)
        assert distance == pytest.approx(projections[k - math.ceil(9 * k / 10)], abs=1e-12)
        assert (projections >= distance - 1e-12).sum() >= 0.9 * k


@pytest.mark.parametrize("k", [1, 2, 10, 11, 50])
def test_line_is_exact(k: int) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        groups, centre = rng.standard_normal((k, 1)), rng.standard_normal(1)
        distance, direction = estimate(groups, centre)
        assert distance == pytest.approx(levels(groups - centre, np.array([[1.0], [-1.0]])).max(), abs=1e-14)
        assert abs(direction[0]) == 1.0


@pytest.mark.parametrize("d", [1, 2, 7])
def test_one_group_and_equal_groups(d: int) -> None:
    point = np.arange(1.0, d + 1.0)
    for k in (1, 3, 40):
        distance, direction = estimate(np.tile(point, (k, 1)), np.zeros(d))
        assert distance == pytest.approx(np.linalg.norm(point), rel=1e-14)
        np.testing.assert_allclose(direction, point / np.linalg.norm(point), atol=1e-14)
        at_zero, axis = estimate(np.tile(point, (k, 1)), point)
        assert at_zero == 0.0
        assert np.linalg.norm(axis) == 1.0


def test_two_groups_are_a_segment() -> None:
    groups = np.array([[2.0, 1.0, 0.0], [2.0, -5.0, 0.0]])
    distance, direction = estimate(groups, np.zeros(3))
    assert distance == pytest.approx(2.0)
    np.testing.assert_allclose(direction, [1.0, 0.0, 0.0], atol=1e-9)
    inside, across = estimate(groups, np.array([2.0, 0.0, 0.0]))
    assert inside == pytest.approx(0.0, abs=1e-12)
    assert across[1] == pytest.approx(0.0, abs=1e-9)


def test_symmetric_clouds_have_a_true_direction() -> None:
    # Mean and median are 0: a start without a direction would have level 0, above every true one.
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    distance, direction = estimate(corners, np.zeros(2))
    assert distance == pytest.approx(-1.0)
    assert np.linalg.norm(direction) == pytest.approx(1.0)


@pytest.mark.parametrize("exponent", [-1060, -900, -500, 500, 1000])
@pytest.mark.parametrize("d", [1, 3])
def test_every_scale(exponent: int, d: int) -> None:
    rng = np.random.default_rng(3)
    groups, centre = rng.integers(-99, 99, (30, d)) * 1.0, rng.integers(-99, 99, d) * 1.0
    distance, direction = estimate(groups, centre)
    scaled, same = estimate(np.ldexp(groups, exponent), np.ldexp(centre, exponent))
    assert scaled == pytest.approx(math.ldexp(distance, exponent), rel=1e-12, abs=5e-324)
    np.testing.assert_array_equal(same, direction)


def test_wild_groups_neither_overflow_nor_hide_the_rest() -> None:
    rng = np.random.default_rng(4)
    for k, far in ((30, 1e150), (30, 1e300), (100, 1e8)):
        bulk = rng.standard_normal((k - k // 10, 3)) + 5.0
        wild = far * unit(rng.standard_normal((k // 10, 3)))
        distance, _ = estimate(np.concatenate([bulk, wild]), np.zeros(3))
        assert 0.8 * np.linalg.norm(bulk.mean(axis=0)) < distance < 1.5 * np.linalg.norm(bulk.mean(axis=0))


def test_duplicates_deterministic_and_order_free() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(rng.standard_normal((8, 3)), 5, axis=0)
    distance, direction = estimate(groups, np.ones(3))
    again, same = estimate(groups, np.ones(3))
    assert again == distance
    np.testing.assert_array_equal(same, direction)
    assert estimate(groups[::-1], np.ones(3))[0] == pytest.approx(distance, rel=1e-6)


@pytest.mark.parametrize("kind", ["normal", "heavy"])
@pytest.mark.parametrize("far", [5.0, 20.0])
def test_many_dimensions(kind: str, far: float) -> None:
    groups = KINDS[kind](np.random.default_rng(6), 2000, 50)
    centre = -far * np.eye(50)[0]
    distance, direction = estimate(groups, centre)
    # All that Lemma 7 needs: no less than the level of the direction to the mean.
    assert distance >= levels(groups - centre, np.eye(1, 50))[0]
    assert direction[0] > 0.95


def test_lemma_7_in_the_plane_with_the_smallest_radius() -> None:
    rng, mean = np.random.default_rng(7), np.zeros(2)
    for draw in KINDS.values():
        groups = draw(rng, 40, 2)
        r = exact_reach(groups, mean)
        assert r <= reach(groups, mean)
        for ratio in (0.0, 0.5, 2.0, 4.0, 8.0):
            centre = ratio * r * unit(rng.standard_normal(2))
            distance, direction = estimate(groups, centre)
            assert abs(distance - ratio * r) <= r * (1.0 + 1e-9)  # (28)
            if ratio >= 4.0:
                assert -direction @ centre >= 0.5 * ratio * r  # (29)


def test_lemma_7_with_wild_groups() -> None:
    rng = np.random.default_rng(8)
    for d in (1, 3, 10):
        groups = contaminated(rng, 60, d, 1000.0)
        r = reach(groups, np.zeros(d))
        for ratio in (0.0, 1.0, 4.0, 100.0):
            centre = ratio * r * unit(rng.standard_normal(d))
            distance, direction = estimate(groups, centre)
            assert abs(distance - ratio * r) <= r
            if ratio >= 4.0:
                assert -direction @ centre >= 0.5 * ratio * r


def test_lemma_8_contraction_follows_from_its_inputs() -> None:
    # r = D/4, D = 1: s in [3/4, 5/4] by (28), inner product at least s − r by the proof of (29).
    s = np.linspace(0.75, 1.25, 5001)
    assert (1.0 + s**2 / 16.0 - s * (s - 0.25) / 2.0).max() == pytest.approx(CONTRACTION)
    assert 1.0 + 1.25**2 / 16.0 - 0.75 * 0.5 / 2.0 == 233.0 / 256.0  # as printed: the two ends cannot meet
    # A maximiser that misses 17 % of the level still contracts as printed.
    s = 0.83 * 0.75
    assert 1.0 + s**2 / 16.0 - s * (s - 0.25) / 2.0 <= 233.0 / 256.0


def test_lemma_8_by_steps() -> None:
    rng = np.random.default_rng(9)
    for d in (2, 5):
        groups = contaminated(rng, 40, d, 30.0)
        r = exact_reach(groups, np.zeros(2)) if d == 2 else reach(groups, np.zeros(d))
        centre = 30.0 * r * unit(rng.standard_normal(d))
        for _ in range(12):
            before = float(centre @ centre)
            if before <= 16.0 * r * r:
                break
            distance, direction = estimate(groups, centre)
            centre = centre + 0.25 * distance * direction
            assert centre @ centre <= CONTRACTION * before
        else:
            pytest.fail("The iterates do not come near.")


@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("ratio", [3.0, 4.1, 5.0, 20.0])
def test_lemma_8_error(d: int, ratio: float) -> None:
    rng = np.random.default_rng(10)
    groups = contaminated(rng, 20, d, 50.0)
    r = reach(groups, np.zeros(d))
    start = ratio * r * unit(rng.standard_normal(d))
    answer = iterative_mean(groups, start, iterations_needed(ratio * r, r))
    assert np.linalg.norm(answer) <= 6.0 * r  # (30)


def test_iterates_as_printed() -> None:
    groups = np.random.default_rng(12).standard_normal((20, 2))
    start = np.array([9.0, -9.0])
    np.testing.assert_array_equal(iterative_mean(groups, start, 1), start)
    distance, direction = estimate(groups, start)
    second = start + 0.25 * distance * direction
    np.testing.assert_array_equal(iterative_mean(groups, start, 2), second)
    assert estimate(groups, second)[0] < distance
    # Whole steps leave an only group at once, and the least distance wins, not the last one.
    np.testing.assert_allclose(iterative_mean(np.ones((1, 2)), np.zeros(2), 5, step=1.0), [1.0, 1.0])
    assert np.linalg.norm(iterative_mean(groups, start, 40)) < 2.0


@pytest.mark.parametrize(
    ("distance", "radius", "count"),
    [(0.0, 1.0, 1), (4.0, 1.0, 1), (4.0001, 1.0, 1), (100.0, 1.0, 69), (1e300, 1e-300, 29322)],
)
def test_iterations_needed(distance: float, radius: float, count: int) -> None:
    assert iterations_needed(distance, radius) == count
    assert 4.0 * radius >= distance * (233.0 / 256.0) ** (count / 2.0)


def test_wrong_parameters() -> None:
    groups, start = np.zeros((3, 2)), np.zeros(2)
    for call in (
        lambda: estimate(np.zeros(3), start),
        lambda: estimate(np.zeros((0, 2)), start),
        lambda: estimate(groups, np.zeros(3)),
        lambda: estimate(groups, np.array([0.0, np.nan])),
        lambda: iterative_mean(groups, start, 0),
        lambda: iterative_mean(groups, start, 3, step=0.0),
        lambda: iterations_needed(1.0, 0.0),
        lambda: iterations_needed(-1.0, 1.0),
    ):
        with pytest.raises(ParameterError, match="must be"):
            call()
