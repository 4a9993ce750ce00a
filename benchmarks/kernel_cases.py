"""What the kernels are timed on: the statistics that fits ask for, beside the same numbers in plain NumPy."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tailguard.losses import Squared
from tailguard.statistics import (
    Below,
    Capped,
    Catoni,
    Clamped,
    Clipped,
    Columns,
    Gradient,
    Gram,
    Norm,
    Octaves,
    Ranks,
    Shrunken,
    Signed,
    Statistic,
    Target,
    Truncated,
    View,
    Weighted,
)

__all__ = ["Naive", "cases"]

BITS = 40
THRESHOLD, LIMIT, RADIUS = 1.0, 2.0, 8.0


def cases(X: Any, y: Any, w: Any) -> dict[str, tuple[Statistic, Callable[[], Any]]]:
    """Return the statistics by name, each with its naive twin, for least squares at the point w."""
    n, d = X.shape
    naive, columns = Naive(X, y, w), Columns(View(d))
    field = Gradient(View(d), Squared(), w)
    moved = View(d, centre=np.full(d, 0.1), scale=np.full(d, 2.0), intercept=True)
    moved_field = Gradient(moved, Squared(), np.append(w, 0.0))
    smooth = Catoni(field, THRESHOLD, 32)
    lengths = Octaves(Norm(field), -20, 20, 2, 32)
    return {
        "clipped sum": (Clipped(field, THRESHOLD, BITS), naive.clipped),
        "clipped sum, centred and scaled": (Clipped(moved_field, THRESHOLD, BITS), naive.clipped_moved),
        "weighted sum": (Weighted(field, RADIUS, LIMIT, BITS), naive.weighted),
        "clamped sum": (Clamped(field, THRESHOLD, BITS), naive.clamped),
        "truncated sum": (Truncated(field, THRESHOLD, BITS), naive.truncated),
        "capped sum": (Capped(field, THRESHOLD, BITS), naive.capped),
        "shrunken sum": (Shrunken(field, THRESHOLD, LIMIT, BITS), naive.shrunken),
        "Catoni sum": (Catoni(field, THRESHOLD, BITS), naive.catoni),
        "signed scores of a Catoni sum": (Signed(smooth), naive.signed),
        "counts below": (Below(columns, np.zeros(d), BITS), naive.below),
        "counts below, target alone": (Below(Target(View(d)), np.zeros(1), BITS), naive.target_below),
        "octave counts, two an octave": (Octaves(columns, -20, 20, 2, BITS), naive.octaves),
        "octave counts of gradient norms": (lengths, naive.norm_octaves),
        "rank distances of gradient norms": (Ranks(lengths, 0.5, n), naive.median_norm),
        "Gram matrix": (Gram(View(d), RADIUS, BITS), naive.gram),
    }


@dataclass(frozen=True, eq=False)
class Naive:
    """The same sums as one would write them: whole matrices of gradients, no grid, no care for what is not finite."""

    X: Any
    y: Any
    w: Any

    def gradients(self) -> Any:
        return (self.X @ self.w - self.y)[:, np.newaxis] * self.X

    def clipped(self) -> Any:
        G = self.gradients()
        return (G * np.minimum(1.0, THRESHOLD / np.linalg.norm(G, axis=1))[:, np.newaxis]).sum(axis=0)

    def clipped_moved(self) -> Any:
        Z = np.column_stack([(self.X - 0.1) / 2.0, np.ones(len(self.X))])
        G = (Z[:, :-1] @ self.w - self.y)[:, np.newaxis] * Z
        return (G * np.minimum(1.0, THRESHOLD / np.linalg.norm(G, axis=1))[:, np.newaxis]).sum(axis=0)

    def weighted(self) -> Any:
        weight = np.minimum(1.0, RADIUS / np.linalg.norm(self.X, axis=1))
        slopes = np.clip(self.X @ self.w - self.y, -LIMIT, LIMIT)
        return ((weight * slopes)[:, np.newaxis] * self.X).sum(axis=0)

    def clamped(self) -> Any:
        return np.clip(self.gradients(), -THRESHOLD, THRESHOLD).sum(axis=0)

    def truncated(self) -> Any:
        G = self.gradients()
        return np.where(np.abs(G) <= THRESHOLD, G, 0.0).sum(axis=0)

    def capped(self) -> Any:
        return np.clip(self.gradients(), 0.0, THRESHOLD).sum(axis=0)

    def shrunken(self) -> Any:
        slopes = np.clip(self.X @ self.w - self.y, -LIMIT, LIMIT)
        return (slopes[:, np.newaxis] * np.clip(self.X, -THRESHOLD, THRESHOLD)).sum(axis=0)

    def catoni(self) -> Any:
        """Return the bounded function without the smoothing; the closed form with it takes dozens of times as long."""
        A = np.clip(self.gradients() / THRESHOLD, -np.sqrt(2.0), np.sqrt(2.0))
        return (A - A * A * A / 6.0).sum(axis=0)

    def signed(self) -> Any:
        total = self.catoni()
        return np.concatenate([-total, total])

    def below(self) -> Any:
        return (self.X <= 0.0).sum(axis=0)

    def target_below(self) -> Any:
        return (self.y <= 0.0).sum()

    def octaves(self) -> Any:
        d = self.X.shape[1]
        cell = np.clip(np.floor(2 * np.log2(np.abs(self.X))) + 40, 0, 79).astype(np.int64)
        return np.bincount((cell + 80 * np.arange(d)).ravel(), minlength=80 * d)

    def norm_octaves(self) -> Any:
        cell = np.clip(np.floor(2 * np.log2(np.linalg.norm(self.gradients(), axis=1))) + 40, 0, 79).astype(np.int64)
        return np.bincount(cell, minlength=80)

    def median_norm(self) -> Any:
        return np.median(np.linalg.norm(self.gradients(), axis=1))

    def gram(self) -> Any:
        Z = self.X * np.minimum(1.0, RADIUS / np.linalg.norm(self.X, axis=1))[:, np.newaxis]
        return Z.T @ Z
