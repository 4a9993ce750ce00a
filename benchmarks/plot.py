"""Plots as SVG in one style, light and dark by the reader's setting: horizontal bars, and curves over ε or n."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["EASIER", "STYLE", "TOLD", "Bar", "Curve", "bars", "curves", "document", "number"]

TOLD, EASIER = "◆", "△"
"""Marks: told what a user would not know; calibrated for an easier neighbouring relation."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --soft: #5d6b78; --line: #d5dbe1; --back: #ffffff;
  --ours: #1f5fa8; --peer: #8797a8; --free: #c9a227; --panel: #f6f8fa; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6ebf0; --soft: #9aa8b5; --line: #37424d; --back: #14191f;
  --ours: #6aa5e8; --peer: #6c7c8d; --free: #d9b948; --panel: #1b222a; } }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .soft { fill: var(--soft); } svg .grid { stroke: var(--line); stroke-width: 1; }
svg .ours { fill: var(--ours); } svg .peer { fill: var(--peer); } svg .free { fill: var(--free); }
svg .told { fill-opacity: 0.45; } svg .easier { stroke: var(--ink); stroke-dasharray: 3 2; stroke-width: 1.2; }
svg .whisker { stroke: var(--ink); stroke-width: 1.4; }
svg polyline { fill: none; stroke-width: 1.6; } svg polyline.ours { stroke: var(--ours); stroke-width: 3; fill: none; }
svg polyline.peer { stroke: var(--peer); fill: none; } svg polyline.free { stroke: var(--free); fill: none; }
svg polyline.told { stroke-dasharray: 5 4; stroke-opacity: 1; }
"""

LEFT, WIDTH, HEIGHT, RIGHT = 260, 300, 20, 640


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


def curves(title: str, lines: Sequence[Curve], axis: str, over: str = "ε") -> str:
    """Return the plot of curves, both axes logarithmic, named at their right ends."""
    low, high = _range([value for line in lines for _, value in line.points])
    places = sorted({place for line in lines for place, _ in line.points})
    x = _scale(places[0], places[-1], 60.0, 480.0)
    y = _scale(low, high, 280.0, 40.0)
    parts = [f'<text x="0" y="14" font-weight="600">{escape(title)}</text>']
    for power in range(round(math.log10(low)), round(math.log10(high)) + 1):
        level = y(10.0**power)
        parts.append(f'<line class="grid" x1="60" x2="480" y1="{level:.1f}" y2="{level:.1f}"/>')
        parts.append(f'<text class="soft" x="52" y="{level + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    for place in places:
        parts.append(f'<text class="soft" x="{x(place):.1f}" y="298" text-anchor="middle">{place:g}</text>')
    parts.append(f'<text class="soft" x="270" y="314" text-anchor="middle">{over}; {escape(axis)}</text>')
    for line, level in zip(lines, _apart([y(line.points[-1][1]) for line in lines]), strict=True):
        path = " ".join(f"{x(place):.1f},{y(value):.1f}" for place, value in line.points)
        parts.append(f'<polyline class="{line.bar.classes}" points="{path}"/>')
        parts.append(f'<text x="490" y="{level + 4:.1f}">{escape(f"{line.bar.label} {line.bar.marks}")}</text>')
    return _svg(1180, max(320, 40 + 14 * len(lines)), title, parts)


def _scale(low: float, high: float, first: float, last: float) -> Callable[[float], float]:
    """Return a logarithmic map of [low, high] to [first, last]; what lies outside is put on the edge."""
    span = math.log(high / low) or 1.0
    return lambda value: first + (last - first) * math.log(_clamp(value, low, high) / low) / span


def document(figure: str) -> str:
    """Return a plot as a file of its own."""
    head, rest = figure.split(">", 1)
    back = '<rect width="100%" height="100%" fill="var(--back)"/>'
    return f'{head} xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>{back}{rest}\n'


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
    return _scale(low, high, LEFT, LEFT + WIDTH)(value)


def _grid(low: float, high: float, top: float, bottom: float, axis: str) -> list[str]:
    parts = []
    decades = round(math.log10(high / low))
    for power in range(0, decades + 1, math.ceil(decades / 5)):
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
