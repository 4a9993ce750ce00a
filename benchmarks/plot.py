"""Plots as inline SVG in one style, light and dark by the reader's setting: horizontal bars, and curves over ε."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["EASIER", "STYLE", "TOLD", "Bar", "Curve", "bars", "curves", "number"]

TOLD, EASIER = "◆", "△"
"""Marks: told what a user would not know; calibrated for an easier neighbouring relation."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b78; --line: #d5dbe1; --back: #ffffff;
  --ours: #0b7a75; --peer: #8797a8; --free: #c9a227; --panel: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa8b5; --line: #37424d; --back: #14191f;
  --ours: #3fc1b8; --peer: #6c7c8d; --free: #d9b948; --panel: #1b222a; } }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .soft { fill: var(--soft); } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .ours { fill: var(--ours); } svg .peer { fill: var(--peer); } svg .free { fill: var(--free); }
svg .told { fill-opacity: 0.45; } svg .easier { stroke: var(--ink); stroke-dasharray: 3 2; stroke-width: 1.2; }
svg .whisker { stroke: var(--ink); stroke-width: 1.4; }
svg polyline { fill: none; stroke-width: 1.6; } svg polyline.ours { stroke: var(--ours); stroke-width: 3; fill: none; }
svg polyline.peer { stroke: var(--peer); fill: none; } svg polyline.free { stroke: var(--free); fill: none; }
svg polyline.told { stroke-dasharray: 5 4; stroke-opacity: 1; }
"""

LEFT, WIDTH, HEIGHT, RIGHT = 250, 330, 20, 520


@dataclass(frozen=True)
class Bar:
    """A bar: what it is called, how long, and what must be said about it.

    Parameters
    ----------
    label : str
        Method.
    value : float
        A positive number, drawn on a logarithmic axis.
    quartiles : (float, float) or None
        Whisker.
    told : str
        What the method was told that a user would not know; "" for nothing.
    easier : bool
        Whether its neighbouring relation is an easier one.
    look : {"ours", "peer", "free"}
        Colour: ours, another private method, a reference without privacy.
    note : str
        Shown behind the value.
    """

    label: str
    value: float
    quartiles: tuple[float, float] | None = None
    told: str = ""
    easier: bool = False
    look: str = "peer"
    note: str = ""

    @property
    def marks(self) -> str:
        """Return what is written on the bar."""
        words = [self.note] if self.note else []
        words += [f"{EASIER} add-or-remove-one"] if self.easier else []
        return " ".join([*words, *([f"{TOLD} told {self.told}"] if self.told else [])])

    @property
    def classes(self) -> str:
        return " ".join([self.look, *(["told"] if self.told else []), *(["easier"] if self.easier else [])])


@dataclass(frozen=True)
class Curve:
    """A line over ε with the look of a bar."""

    bar: Bar
    points: tuple[tuple[float, float], ...]


def number(value: float) -> str:
    """Return three digits."""
    return f"{value:.3g}" if 1e-4 <= abs(value) < 1e5 or value == 0.0 else f"{value:.1e}"


def bars(title: str, entries: Sequence[Bar], axis: str) -> str:
    """Return the plot of bars on a logarithmic axis, with every mark written beside its bar."""
    low, high = _range([entry.value for entry in entries])
    height = 34 + HEIGHT * len(entries) + 24
    parts = [f'<text x="0" y="14" font-weight="600">{escape(title)}</text>', *_grid(low, high, 26, height - 24, axis)]
    for place, entry in enumerate(entries):
        parts.append(_bar(entry, 32 + HEIGHT * place, low, high))
    return _svg(LEFT + WIDTH + RIGHT, height, title, parts)


def _bar(entry: Bar, y: float, low: float, high: float) -> str:
    length = max(1.0, _x(entry.value, low, high) - LEFT)
    end = LEFT + length
    words = f"{number(entry.value)} {entry.marks}"
    whisker = ""
    if entry.quartiles:
        first, last = (_x(value, low, high) for value in entry.quartiles)
        end = max(end, last)
        whisker = f'<line class="whisker" x1="{first:.1f}" x2="{last:.1f}" y1="{y + 7}" y2="{y + 7}"/>'
    return (
        f'<text x="{LEFT - 8}" y="{y + 11}" text-anchor="end">{escape(entry.label)}</text>'
        f'<rect class="{entry.classes}" x="{LEFT}" y="{y}" width="{length:.1f}" height="{HEIGHT - 6}"/>'
        f'{whisker}<text x="{end + 6:.1f}" y="{y + 11}">{escape(words)}</text>'
    )


def curves(title: str, lines: Sequence[Curve], axis: str) -> str:
    """Return the plot of curves over ε, both axes logarithmic, named at their right ends."""
    values = [value for line in lines for _, value in line.points]
    low, high = _range(values)
    epsilons = sorted({epsilon for line in lines for epsilon, _ in line.points})
    height = 320

    def x(epsilon: float) -> float:
        span = math.log(epsilons[-1] / epsilons[0]) or 1.0
        return 60 + 420 * math.log(epsilon / epsilons[0]) / span

    def y(value: float) -> float:
        return 280 - 240 * (math.log10(_clamp(value, low, high)) - math.log10(low)) / math.log10(high / low)

    parts = [f'<text x="0" y="14" font-weight="600">{escape(title)}</text>']
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        level = y(10.0**power)
        parts.append(f'<line class="grid" x1="60" x2="480" y1="{level:.1f}" y2="{level:.1f}"/>')
        parts.append(f'<text class="soft" x="52" y="{level + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for epsilon in epsilons:
        parts.append(f'<text class="soft" x="{x(epsilon):.1f}" y="298" text-anchor="middle">{epsilon:g}</text>')
    parts.append(f'<text class="soft" x="270" y="314" text-anchor="middle">ε; {escape(axis)}</text>')
    for line, place in zip(lines, _apart([y(line.points[-1][1]) for line in lines]), strict=True):
        path = " ".join(f"{x(epsilon):.1f},{y(value):.1f}" for epsilon, value in line.points)
        parts.append(f'<polyline class="{line.bar.classes}" points="{path}"/>')
        words = f"{line.bar.label} {line.bar.marks}"
        parts.append(f'<text x="490" y="{place + 4:.1f}">{escape(words)}</text>')
    return _svg(1180, max(height, 40 + 14 * len(lines)), title, parts)


def _apart(places: Sequence[float], gap: float = 14.0) -> list[float]:
    """Return the places moved down so that no two labels overlap."""
    found, last = [0.0] * len(places), -math.inf
    for index in sorted(range(len(places)), key=lambda index: places[index]):
        last = max(places[index], last + gap)
        found[index] = last
    return found


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return decades around the values, ten at most: what diverged may stick out."""
    positive = [value for value in values if value > 0.0] or [1.0]
    low = 10.0 ** math.floor(math.log10(min(positive)) - 0.05)
    high = 10.0 ** math.ceil(math.log10(max(positive)) + 0.05)
    return low, min(high, low * 1e8)


def _clamp(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def _x(value: float, low: float, high: float) -> float:
    return LEFT + WIDTH * math.log10(_clamp(value, low, high) / low) / math.log10(high / low)


def _grid(low: float, high: float, top: float, bottom: float, axis: str) -> list[str]:
    parts = []
    decades = round(math.log10(high / low))
    for power in range(0, decades + 1, max(1, decades // 6)):
        x = _x(low * 10.0**power, low, high)
        parts.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>')
        parts.append(
            f'<text class="soft" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{low * 10.0**power:g}</text>'
        )
    parts.append(f'<text class="soft" x="{LEFT + WIDTH + 24}" y="{bottom + 14}">{escape(axis)}</text>')
    return parts


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    inner = "\n".join(parts)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title, quote=True)}">{inner}</svg>'
