"""Codes: many vectors of equal weight, pairwise far apart. They make many distributions that are hard to tell apart."""

import math
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tailguard._validate import integer, refuse

__all__ = ["DISTANCE", "GROWTH", "Code", "Uniforms", "gilbert_varshamov", "random_code"]

Code = NDArray[np.int64]

GROWTH = 7.0 * math.log(2.0) / 128.0
"""ln|Θ| ≥ GROWTH·d for a code of weight ⌊d/2⌋ and distance at least d/8 (Tao et al. 2022, Lemma 21), from d = 2 on."""

DISTANCE = 0.125
"""Distance of that code, as a share of d."""

_PATIENCE = 1000  # draws a codeword before a code is called too large


class Uniforms(Protocol):
    """A source of uniform numbers in [0, 1), such as a NumPy generator. It is passed in, never made here."""

    def random(self, size: int | tuple[int, ...]) -> NDArray[np.float64]:
        """Return an array of independent uniform numbers."""
        ...


def gilbert_varshamov(d: int, weight: int, distance: int, *, signed: bool = False) -> float:
    """Return ln of a size that a code with this weight and Hamming distance certainly can have.

    As long as there are fewer codewords than (number of words) ÷ (number of words nearer than `distance` to one of
    them), there is room for another.

    Parameters
    ----------
    d, weight, distance : int
        Length of a word, number of its non-zero entries, and smallest number of places in which two words differ.
    signed : bool
        Whether entries are in {−1, 0, 1} instead of {0, 1}.

    Examples
    --------
    >>> gilbert_varshamov(128, 64, 16) > GROWTH * 128
    True
    """
    words = math.comb(d, weight) * (2**weight if signed else 1)
    near = _near_signed(d, weight, distance) if signed else _near(d, weight, distance)
    return math.log(words) - math.log(near)


def random_code(
    d: int,
    size: int,
    generator: Uniforms,
    *,
    weight: int | None = None,
    distance: int | None = None,
    signed: bool = False,
) -> Code:
    """Return a code by rejection: words are drawn uniformly and kept if they are far from all those before.

    Parameters
    ----------
    d, size : int
        Length and number of the words.
    generator : Uniforms
        The source of randomness; equal generators make equal codes.
    weight, distance : int or None
        Number of non-zero entries, and smallest Hamming distance of two words. None takes the ⌊d/2⌋ and ⌈d/8⌉ of Tao
        et al. 2022, Lemma 21; its Lemma 28 has weight s, distance ⌈s/2⌉ and signs.
    signed : bool
        Whether non-zero entries are −1 or 1 instead of 1.

    Returns
    -------
    ndarray of shape (size, d)
        The words, one a row.

    Raises
    ------
    ParameterError
        If no such word turned up in a thousand draws a codeword.
    """
    integer("d", d, "random_code")
    integer("size", size, "random_code")
    ones = integer("weight", d // 2 if weight is None else weight, "random_code", at_least=0, at_most=d)
    gap = integer("distance", math.ceil(d * DISTANCE) if distance is None else distance, "random_code", at_most=d)
    code = np.empty((size, d), dtype=np.int64)
    found = 0
    for _ in range(_PATIENCE * size):
        word = _word(d, ones, signed, generator)
        if np.all(np.count_nonzero(code[:found] != word, axis=1) >= gap):
            code[found] = word
            found += 1
        if found == size:
            return code
    raise refuse("size", "random_code", "small enough for this weight and distance", size)


def _word(d: int, weight: int, signed: bool, generator: Uniforms) -> Code:
    word = np.zeros(d, dtype=np.int64)
    places = np.argsort(generator.random(d), kind="stable")[:weight]
    word[places] = np.where(generator.random(weight) < 0.5, -1, 1) if signed else 1
    return word


def _near(d: int, weight: int, distance: int) -> int:
    """Count words of this weight that differ in fewer than `distance` places: i ones leave, i others come."""
    swaps = range((distance + 1) // 2)
    return sum(math.comb(weight, i) * math.comb(d - weight, i) for i in swaps)


def _near_signed(d: int, weight: int, distance: int) -> int:
    """The same with signs: i entries move (two places each, new signs free), j of those that stay flip (one place)."""
    total = 0
    for i in range((distance + 1) // 2):
        moved = math.comb(weight, i) * math.comb(d - weight, i) * 2**i
        total += moved * sum(math.comb(weight - i, j) for j in range(min(distance - 2 * i, weight - i + 1)))
    return total
