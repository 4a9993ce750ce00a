"""Draw docs/images/report.png: a report on a screen and on a phone at night, as a browser without a window shows it.

python examples/screenshot.py [--image docs/images/report.png]

The fit is private, so that its numbers differ from run to run; the data are synthetic.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from html import escape
from pathlib import Path

import numpy as np

import tailguard as tg

IMAGE = Path("docs") / "images" / "report.png"
NAMES, TARGET = ("distance", "packages", "rain", "traffic", "night"), "delay"
ROWS, SCREEN, PHONE, HEIGHT = 20_000, 760, 390, 1040
"""Rows of data, widths of the two frames, and their height in pixels."""

FRAMES = """<!doctype html><meta charset="utf-8">
<style>
body {{ margin: 0; display: flex; gap: 16px; background: #b9c0c9; }}
iframe {{ border: 0; height: {height}px; }}
</style>
<iframe srcdoc="{page}" style="width: {screen}px"></iframe>
<iframe srcdoc="{night}" style="width: {phone}px"></iframe>
"""


def report() -> str:
    """Return the report of a private fit to synthetic delays of deliveries, in minutes."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.gamma(2.0, 6.0, ROWS), rng.poisson(9.0, ROWS), *rng.standard_t(3, size=(3, ROWS))])
    y = X @ [0.8, 0.3, 2.0, 4.0, 0.0] + 5.0 + 6.0 * rng.standard_t(3, ROWS)
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6).fit(X, y)
    return tg.report.html(model.release_, names=NAMES, target=TARGET)


def picture(page: str, browser: str, image: Path) -> None:
    """Write what a browser shows of a page, in the light of day and in the dark."""
    night = page.replace("(prefers-color-scheme: dark)", "all")
    frames = FRAMES.format(page=escape(page), night=escape(night), screen=SCREEN, phone=PHONE, height=HEIGHT)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "frames.html"
        file.write_text(frames, encoding="utf-8")
        quiet = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            f"--user-data-dir={folder}/profile",
        ]
        size = f"--window-size={SCREEN + PHONE + 16},{HEIGHT}"
        command = [browser, *quiet, size, f"--screenshot={image.resolve()}", file.as_uri()]
        subprocess.run(command, check=True, capture_output=True, timeout=120)


def main() -> int:
    """Draw the picture, or say what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--image", type=Path, default=IMAGE)
    image = parser.parse_args().image
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("No Chromium here: it is Debian's package `chromium`.", file=sys.stderr)
        return 1
    picture(report(), browser, image)
    print(f"{image}: {image.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
