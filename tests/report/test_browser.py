"""The report as a browser shows it: on a phone, on a screen, in the dark."""

import runpy
import struct
from pathlib import Path

import numpy as np
import pytest

import tailguard as tg
from tests.support.browser import browser, dark, look

ROOT = Path(__file__).resolve().parent.parent.parent
PICTURE = Path("docs") / "images" / "report.png"


@pytest.fixture(scope="module")
def page() -> str:
    rng = np.random.default_rng(5)
    X = rng.standard_t(3, size=(20_000, 6))
    y = X.sum(axis=1) + rng.standard_t(3, 20_000)
    model = tg.LinearRegression(epsilon=1.0, delta=1e-6, random_state=5).fit(X, y)
    names = ["a_rather_long_name_of_a_column_that_somebody_chose", "b", "c", "d", "e", "f"]
    return tg.report.html(model.release_, names=names, target="cost")


@pytest.mark.parametrize("width", [360, 820, 1400])
@pytest.mark.parametrize("shade", ["light", "dark"])
def test_everything_fits_and_can_be_read(page, width, shade, tmp_path):
    seen = look(dark(page) if shade == "dark" else page, width, tmp_path)
    assert seen["content"] <= seen["width"], "the page must not scroll sideways"
    assert seen["contrast"] >= 4.5, "text must stand out from its background (WCAG AA)"
    assert seen["smallest"] >= 11.0
    assert "What is promised" in seen["text"] or "does not keep" in seen["text"]


def test_the_look_can_fail(tmp_path):
    pale = "<!doctype html><body style='background: #fff'><p style='color: #ddd; width: 900px; font-size: 7px'>Hi</p>"
    seen = look(pale, 360, tmp_path)
    assert seen["contrast"] < 4.5
    assert seen["content"] > seen["width"]
    assert seen["smallest"] == 7.0


def size(image: Path) -> tuple[int, int]:
    """Width and height of a PNG file, from its header."""
    data = image.read_bytes()
    assert data.startswith(b"\x89PNG")
    return struct.unpack(">II", data[16:24])


def test_the_picture_of_the_report_is_small_and_shown():
    assert (ROOT / PICTURE).stat().st_size < 300_000
    assert "images/report.png" in (ROOT / "docs" / "report.md").read_text("utf-8")
    assert str(PICTURE) in (ROOT / "README.md").read_text("utf-8")


def test_the_picture_can_be_drawn_again(page, tmp_path):
    script = runpy.run_path(str(ROOT / "examples" / "screenshot.py"))
    script["picture"](page, browser(), tmp_path / "report.png")
    assert size(tmp_path / "report.png") == size(ROOT / PICTURE)
    assert (tmp_path / "report.png").stat().st_size > 50_000, "an empty page is smaller"
