"""A page in a real browser, without a window: what a reader would see of it."""

import json
import re
import shutil
import subprocess
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

__all__ = ["browser", "dark", "look"]

# The page is put into a frame of the wanted width: windows cannot be as narrow as a phone.
FRAME = """<!doctype html><meta charset="utf-8"><pre id="seen"></pre>
<iframe id="page" srcdoc="{page}" style="width: {width}px; height: 1200px; border: 0"></iframe>
<script>
function luminance(colour) {{
  const part = colour.match(/[0-9.]+/g).slice(0, 3).map(c => c / 255);
  const linear = part.map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}}
function background(element) {{
  for (let e = element; e; e = e.parentElement) {{
    const colour = getComputedStyle(e).backgroundColor;
    if (!/, 0\\)$/.test(colour)) return colour;
  }}
  return "rgb(255, 255, 255)";
}}
function contrast(element) {{
  const a = luminance(getComputedStyle(element).color), b = luminance(background(element));
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}}
document.getElementById("page").addEventListener("load", event => {{
  const page = event.target.contentDocument, root = page.documentElement;
  const texts = [...page.body.querySelectorAll("*")].filter(e => !e.closest("svg") && e.getClientRects().length
    && [...e.childNodes].some(c => c.nodeType === 3 && c.textContent.trim()));
  const seen = {{
    width: root.clientWidth, content: root.scrollWidth, height: root.scrollHeight,
    contrast: Math.min(...texts.map(contrast)),
    smallest: Math.min(...texts.map(e => parseFloat(getComputedStyle(e).fontSize))),
    drawings: page.querySelectorAll("svg").length,
    text: page.body.innerText,
  }};
  document.getElementById("seen").textContent = JSON.stringify(seen);
}});
</script>"""


def browser() -> str:
    """Return the program; skip the test where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("No Chromium here: Debian's package `chromium` lets this test look at the report.")
    return found


def look(page: str, width: int, folder: Path) -> dict[str, Any]:
    """Return what a browser makes of a page at a width in pixels; skip the test where there is no browser."""
    file = folder / "frame.html"
    file.write_text(FRAME.format(page=escape(page), width=width), encoding="utf-8")
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom"]
    folders = [f"--user-data-dir={folder / 'profile'}", file.as_uri()]
    done = subprocess.run([*command, *folders], capture_output=True, text=True, timeout=120, check=True)
    seen = re.search(r'<pre id="seen">(.*?)</pre>', done.stdout, re.DOTALL)
    assert seen is not None
    assert seen.group(1), done.stderr
    found: dict[str, Any] = json.loads(unescape(seen.group(1)))
    return found


def dark(page: str) -> str:
    """Return the page as readers with dark screens see it."""
    return page.replace("(prefers-color-scheme: dark)", "all")
