"""Every statistic that the contract suite is run on. A new statistic gets its tests by being added here."""

from dataclasses import dataclass, replace

import numpy as np

from tailguard.losses import Absolute, CustomLoss, Huber, Logistic, Squared, SquaredDistance
from tailguard.losses.multinomial import Multinomial
from tailguard.statistics import (
    Below,
    BoundedCurvatures,
    BoundedGradient,
    Capped,
    Catoni,
    Cells,
    Clamped,
    Clipped,
    Columns,
    Curvatures,
    Directional,
    Either,
    Gradient,
    Gram,
    Leaders,
    Norm,
    Octaves,
    Outer,
    RecordGradient,
    Rows,
    Shrunken,
    Slope,
    Statistic,
    Target,
    Truncated,
    View,
    Weighted,
)
from tailguard.statistics.class_regret import ClassLogLoss, ClassMistakes, ClassRegret
from tailguard.statistics.classes import ClassGradient, Membership
from tailguard.statistics.improvement import Duel, Improvement, LeastLoss, MiddleRegret, Regret
from tailguard.statistics.judged import (
    ClassErrors,
    ErrorSpread,
    Numbers,
    Predictions,
    Residuals,
    ScoreCells,
    SquaredErrors,
)
from tailguard.statistics.scalars import Largest, Occurring, Reciprocal
from tailguard.statistics.slopes import Leveraged, Slopes, SquaredLengths, Tilts
from tailguard.statistics.squares import Squares
from tests.support.neighbours import around


@dataclass(frozen=True)
class Case:
    """A statistic, the view its records pass, values worth trying, and how near some pair comes to the bound."""

    name: str
    statistic: Statistic
    view: View
    special: tuple[float, ...] = ()
    tight: float = 0.9


PLAIN = {d: View(d) for d in (1, 3, 50)}
MOVED = {d: View(d, centre=np.linspace(-1.0, 2.0, d), scale=np.geomspace(0.5, 4.0, d)) for d in (1, 3, 50)}
FULL = View(
    3,
    centre=[0.0, 5.0, -1.0],
    scale=[1.0, 0.01, 30.0],
    intercept=True,
    target_centre=1.0,
    target_scale=2.0,
)
DROPPED = View(4, centre=[0.0, 1.0, 2.0, 3.0], scale=[1.0, np.inf, 2.0, np.inf])


def point(view):
    """A point at which a row of equal entries is predicted to be about 0."""
    signs = np.where(np.arange(view.dimension) % 2 == 0, 1.0, -1.0)
    signs[-1] -= signs.sum()
    return 0.25 * signs


def cubic(w, rows, target):
    return (w - rows) ** 3


def gradient(view, loss):
    return Gradient(view, loss, point(view))


def _clipped():
    for view, name in ((PLAIN[1], "1"), (PLAIN[3], "3"), (PLAIN[50], "50"), (FULL, "full")):
        yield Case(f"rows {name}", Clipped(Rows(view), 2.0, 40), view, around(2.0))
        yield Case(f"squared {name}", Clipped(gradient(view, Squared()), 0.7, 30), view, around(0.7))
    for loss in (Logistic(), Absolute(smoothing=0.1), Huber(threshold=1.5)):
        field = gradient(MOVED[3], loss)
        yield Case(f"{loss.name} 3", Clipped(field, 1e-3, 20), MOVED[3], around(1e-3, 1e-6))
    yield Case("dropped", Clipped(gradient(DROPPED, Squared()), 5.0, 35), DROPPED, around(5.0))
    centred = RecordGradient(MOVED[50], SquaredDistance(), np.full(50, 0.3))
    yield Case("distance 50", Clipped(centred, 12.0, 33), MOVED[50], around(12.0))
    custom = RecordGradient(PLAIN[3], CustomLoss("cubic", cubic), np.zeros(3))
    yield Case("custom 3", Clipped(custom, 1e5, 33), PLAIN[3], around(1e5))
    yield Case("coarse grid", Clipped(Rows(PLAIN[50]), 1.0, 3), PLAIN[50], around(1.0), tight=0.0)


def _coordinatewise():
    for kind in (Clamped, Truncated):
        for view, name in ((PLAIN[1], "1"), (PLAIN[3], "3"), (PLAIN[50], "50"), (MOVED[3], "moved")):
            yield Case(f"rows {name}", kind(Rows(view), 3.0, 40), view, around(3.0))
        for view, name in ((PLAIN[3], "3"), (MOVED[50], "50")):
            yield Case(f"squared {name}", kind(gradient(view, Squared()), 0.5, 30), view, around(0.49))
        custom = RecordGradient(PLAIN[3], CustomLoss("cubic", cubic), np.zeros(3))
        yield Case("custom 3", kind(custom, 1.0, 25), PLAIN[3], around(1.0))
        yield Case("dropped", kind(Rows(DROPPED), 1.0, 25), DROPPED, around(1.0), tight=0.5)
        yield Case("logistic full", kind(gradient(FULL, Logistic()), 0.5, 12), FULL, around(0.5), tight=0.4)


def _shrunken():
    for view, name in ((PLAIN[1], "1"), (PLAIN[3], "3"), (MOVED[50], "50")):
        yield Case(f"rows {name}", Shrunken(Rows(view), 3.0, 0.5, 40), view, around(3.0))
        yield Case(f"squared {name}", Shrunken(gradient(view, Squared()), 0.5, 2.0, 30), view, around(0.5, 2.0))
    yield Case("logistic full", Shrunken(gradient(FULL, Logistic()), 0.5, 0.1, 12), FULL, around(0.5))
    yield Case("dropped", Shrunken(Rows(DROPPED), 1e-100, 1e90, 25), DROPPED, around(1e-100), tight=0.0)
    yield Case("extreme", Shrunken(gradient(PLAIN[3], Squared()), 1e120, 1e-120, 40), PLAIN[3], around(1e120))
    custom = RecordGradient(PLAIN[3], CustomLoss("cubic", cubic), np.zeros(3))
    yield Case("custom 3", Shrunken(custom, 1.0, 1.0, 1), PLAIN[3], around(1.0))


def _catoni():
    for beta in (0.1, 1.0, 100.0):
        for view, name in ((PLAIN[1], "1"), (PLAIN[3], "3"), (MOVED[50], "50")):
            special = around(3.0, 3.0 * 2.0**0.5, 3e4)
            yield Case(f"rows {name}, {beta}", Catoni(Rows(view), 3.0, 40, beta), view, special)
        squared = gradient(MOVED[3], Squared())
        yield Case(f"squared, {beta}", Catoni(squared, 0.5, 30, beta), MOVED[3], around(0.5, 1e5))
    yield Case("logistic full", Catoni(gradient(FULL, Logistic()), 0.01, 12), FULL, around(0.5))
    yield Case("dropped", Catoni(Rows(DROPPED), 1e-100, 25), DROPPED, around(1e-100), tight=0.5)
    yield Case("extreme", Catoni(gradient(PLAIN[3], Squared()), 1e120, 40), PLAIN[3], around(1e120))
    custom = RecordGradient(PLAIN[3], CustomLoss("cubic", cubic), np.zeros(3))
    yield Case("custom 3", Catoni(custom, 1.0, 1), PLAIN[3], around(1.0))


def _weighted():
    for view, name in ((PLAIN[1], "1"), (PLAIN[3], "3"), (PLAIN[50], "50"), (FULL, "full")):
        for loss in (Squared(), Logistic(), Huber(threshold=2.0)):
            statistic = Weighted(gradient(view, loss), 4.0, 0.5, 32)
            yield Case(f"{loss.name} {name}", statistic, view, around(4.0, 0.5))
    yield Case("rows", Weighted(Rows(PLAIN[3]), 1e-100, 1.0, 40), PLAIN[3], around(1e-100))
    yield Case("dropped", Weighted(gradient(DROPPED, Squared()), 1e100, 1e-80, 20), DROPPED, around(1e100))


def _counts():
    for view, name, tight in ((PLAIN[1], "1", 0.9), (MOVED[50], "50", 0.9), (DROPPED, "dropped", 0.5)):
        edges = np.linspace(-0.5, 0.5, view.dimension)
        yield Case(f"columns {name}", Below(Columns(view), edges, 40), view, around(0.5), tight)
        octaves = Octaves(Columns(view), -10, 10, 2, 30)
        yield Case(f"columns {name}", octaves, view, around(1.0, 2.0**0.5, 2.0**10), tight)
        folded = np.arange(view.dimension) % 2 == 0
        cells = Cells(Columns(view), np.tile([-1.0, 0.5, 2.0, np.inf], (view.dimension, 1)), folded, 30)
        yield Case(f"columns {name}", cells, view, around(-1.0, 0.5, 2.0), tight)
        shifted = np.tile([[-1.0, 2.0], [0.5, 4.0], [0.25, np.inf]], (view.dimension, 1))
        several = Cells(Columns(view), shifted, np.repeat(folded, 3), 30)
        yield Case(f"columns {name}, three histograms each", several, view, around(-1.0, 0.25, 0.5, 2.0, 4.0), tight)
        yield Case(f"columns {name}", Leaders(view, -3, 4, 5, 30), view, around(0.125, 2.0, 2.0**17), tight)
    for scalars, name in (
        (Target(FULL), "target"),
        (Occurring(Target(FULL)), "occurring target"),
        (Slope(gradient(FULL, Squared())), "slope"),
        (Norm(gradient(FULL, Huber(threshold=1.0))), "norm"),
    ):
        yield Case(name, Below(scalars, np.array([0.25]), 20), FULL, around(0.25))
        yield Case(name, Octaves(scalars, -1022, 1024, 1, 20), FULL, around(1.0, 1e-160))


def _either():
    """Counts and sums with the same sensitivity, followed by zeros."""
    for bits in (4, 30):
        counts = Octaves(Slope(gradient(FULL, Squared())), -10, 10, 2, bits)
        yield Case(f"counts, {bits} bits", Either(counts, 45, bits), FULL, around(1.0, 2.0**0.5, 2.0**10))
    for view, name in ((PLAIN[3], "3"), (FULL, "full")):
        weighted = Weighted(gradient(view, Squared()), 4.0, 0.5, 32)
        yield Case(f"sum {name}", Either(weighted, view.dimension + 7, 32), view, around(4.0, 0.5))


def _gram():
    yield Case("1", Gram(PLAIN[1], 2.0, 30), PLAIN[1], around(2.0), tight=0.7)
    for view, name in ((PLAIN[3], "3"), (PLAIN[50], "50"), (FULL, "full"), (DROPPED, "dropped")):
        yield Case(name, Gram(view, 1.5, 36), view, around(1.5, 100.0))
    yield Case("coarse grid", Gram(PLAIN[3], 1.0, 2), PLAIN[3], around(1.0), tight=0.0)


def _outer():
    for view, name in ((PLAIN[3], "3"), (PLAIN[50], "50"), (FULL, "full"), (DROPPED, "dropped")):
        yield Case(f"gradients {name}", Outer(gradient(view, Squared()), 1.5, 36), view, around(1.5, 100.0))
        bread = Curvatures(gradient(view, Logistic()), 2.0, 0.9)
        yield Case(f"curvatures {name}", Outer(bread, 0.8, 36), view, around(2.0, 0.9), tight=0.5)
        bounded = BoundedGradient(gradient(view, Squared()), 2.0, 0.9)
        yield Case(f"bounded gradients {name}", Outer(bounded, 1.8, 36), view, around(2.0, 0.9))
        bread = BoundedCurvatures(gradient(view, Logistic()), 2.0, 0.9)
        yield Case(f"bounded curvatures {name}", Outer(bread, 0.8, 36), view, around(2.0, 0.9), tight=0.5)
    yield Case("coarse grid", Outer(Leveraged(gradient(PLAIN[3], Squared()), 2.0), 1.0, 2), PLAIN[3], tight=0.0)


def _derived():
    """Fields and scalars that are made from other fields."""
    inner = gradient(FULL, Squared())
    yield Case("residuals", Clipped(Slopes(inner), 0.7, 40), FULL, around(0.7))
    yield Case("residuals in a longer row", Weighted(Slopes(inner, 3), 1.0, 0.7, 40), FULL, around(0.7))
    lengths = SquaredLengths(BoundedCurvatures(inner, 2.0, 0.9), 3)
    yield Case("squared lengths", Weighted(lengths, 1.0, 2.0, 40), FULL, around(2.0, 0.9), tight=0.4)
    yield Case("tilts", Clipped(Tilts(inner, 0.4, 0.9, 1.5), 0.3, 40), FULL, around(0.4, 0.9))
    yield Case("leveraged", Clipped(Leveraged(inner, 2.0), 0.7, 40), FULL, around(0.7, 2.0))
    yield Case("leveraged logistic", Clamped(Leveraged(gradient(MOVED[3], Logistic()), 0.5), 0.01, 30), MOVED[3])
    ends = View(3, centre=[0.0, 5.0, -1.0], target_centre=1.0, basis=[[0.0, 1.0], [0.0, -0.5], [0.0, 0.25]])
    way = Directional(ends, Squared(), np.array([0.1, -0.2]), np.array([0.0, 0.5, 1.0]))
    yield Case("on the way", Clamped(way, 0.7, 40), ends, around(0.7))
    yield Case("largest", Octaves(Largest(Leveraged(inner, 2.0)), -8, 8, 2, 30), FULL, around(1.0))
    yield Case("reciprocal", Below(Reciprocal(Norm(Slopes(inner))), [4.0], 20), FULL, around(0.25))


def _classes():
    """Gradients of all classes at once; few adversarial targets are classes, so that pairs are seldom extreme."""
    for view, name in ((PLAIN[3], "3"), (FULL, "full")):
        loss = Multinomial(3)
        field = ClassGradient(view, loss, np.linspace(-1.0, 1.0, 3 * view.dimension), 2.0)
        yield Case(f"classes {name}", Clipped(field, 0.3, 36), view, around(2.0, 0.3), tight=0.2)
        yield Case(f"membership {name}", Clipped(Membership(view, loss), 1.0, 36), view, (1.0, 2.0), tight=0.5)


def _class_regrets():
    """What records have against two models of three classes."""
    models = np.array(
        [[0.0, 0.5, -1.0, 1.0, 0.0, 0.25], [1.0, -0.5, 0.25, 0.0, 0.0, 1.0], [0.0, 2.0, 1.0, -1.0, 0.5, 0.0]]
    )
    offsets = np.array([0.0, 0.5, -0.5, 0.25, 0.0, -0.25])
    for loss, limit in ((ClassLogLoss(), 0.5), (ClassMistakes(), 0.5)):
        kind = type(loss).__name__
        for view, name in ((PLAIN[3], "3"), (MOVED[3], "moved")):
            regret = ClassRegret(replace(view, basis=models), loss, offsets, limit, 3)
            yield Case(f"regret, {kind} {name}", Clamped(regret, limit, 30), view, (0.0, 1.0, 2.0), tight=0.4)
            for scalars, what in ((MiddleRegret(regret), "middle regret"), (LeastLoss(regret), "least loss")):
                yield Case(f"{what}, {kind} {name}", Octaves(scalars, -64, 64, 1, 30), view, (0.0, 1.0, 2.0))


def _improvements():
    """How much better models predict than the first one, whose own entry is always 0."""
    models = np.array([[0.0, 0.0, 0.0], [1.0, -0.5, 0.25], [-1.0, 0.5, 2.0]]).T
    for loss, limit in ((Squared(), 2.0), (Logistic(), 0.01), (Huber(threshold=1.5), 1e-3)):
        for view, name in ((PLAIN[3], "3"), (MOVED[3], "moved")):
            field = Improvement(replace(view, basis=models), loss, np.array([0.0, 0.5, -0.5]))
            yield Case(f"improvement, {loss.name} {name}", Clamped(field, limit, 30), view, around(1.0), tight=0.5)
            duel = Duel(replace(view, basis=models[:, :2]), loss, np.array([0.0, 0.5]), 0.3 * limit)
            yield Case(f"duel, {loss.name} {name}", Clamped(duel, limit, 30), view, around(1.0), tight=0.5)
            regret = Regret(field.view, loss, field.offsets, limit)
            yield Case(f"regret, {loss.name} {name}", Clamped(regret, limit, 30), view, around(1.0), tight=0.5)
            for scalars, kind in ((MiddleRegret(regret), "middle regret"), (LeastLoss(regret), "least loss")):
                yield Case(f"{kind}, {loss.name} {name}", Octaves(scalars, -64, 64, 1, 30), view, around(1.0))


def _squares():
    for view, name in ((PLAIN[1], "1"), (PLAIN[3], "3"), (MOVED[50], "50"), (DROPPED, "dropped")):
        # All squares point into one orthant, so that no two of them are opposite.
        yield Case(f"squares {name}", Clipped(Squares(view), 2.0, 36), view, around(2.0**0.5), tight=0.45)


def _judged():
    """Errors of a fixed model; the targets of these records are numbers, and some of them 0 and 1."""
    view, moved = View(3, basis=[[1.0], [-0.5], [0.25]]), View(3, [0.5, 0.0, -1.0], [1.0, np.inf, 2.0])
    predictions = Predictions(view, 0.5)
    errors = SquaredErrors(predictions, 0.25, 2.0)
    for name, field in (
        ("squared errors", errors),
        ("error spread", ErrorSpread(errors, 0.3)),
        ("error spread, bad model", ErrorSpread(errors, 30.0)),
        ("wrong", ClassErrors(predictions, None)),
        ("losses", ClassErrors(predictions, 6.0)),
        ("squared errors within a range", SquaredErrors(Predictions(view, 0.5, (-3.0, 2.0)), 0.25, 2.0)),
        ("squared errors of rows drawn back", SquaredErrors(Predictions(view, 0.5, rows=moved, radius=1.5), 0.25, 2.0)),
    ):
        yield Case(name, Capped(field, 1.0, 30), view, (0.0, 1.0, *around(2.0)), tight=0.7)
    for view, name in ((PLAIN[3], "3"), (MOVED[50], "50")):
        yield Case(f"rows {name}", Capped(Rows(view), 0.5, 40), view, (-1.0, *around(0.5)))
    sloped = gradient(FULL, Squared())
    yield Case("squared full", Capped(sloped, 0.5, 12), FULL, (-1.0, *around(0.5)), tight=0.6)
    yield Case("numbers", Clamped(Numbers(Residuals(predictions)), 0.7, 30), predictions.view, around(0.7))
    cells = ScoreCells(predictions, 0.1, 2.0, 8)
    yield Case("score cells", Octaves(cells, 0, 16, 1, 30), predictions.view, (0.0, 1.0), tight=0.7)


CASES = [
    *_judged(),
    *_clipped(),
    *_coordinatewise(),
    *_shrunken(),
    *_catoni(),
    *_weighted(),
    *_counts(),
    *_either(),
    *_gram(),
    *_outer(),
    *_derived(),
    *_classes(),
    *_improvements(),
    *_class_regrets(),
    *_squares(),
]
"""All cases; the identity of one is its statistic's kind and its name."""
