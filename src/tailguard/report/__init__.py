"""Summaries of plans and releases, as text and as one self-contained HTML page.

A report reads plans and releases only. Whatever it shows is public or was released.
"""

from tailguard.report.page import html
from tailguard.report.shares import Share, shares
from tailguard.report.text import renderable, summary

__all__ = ["Share", "html", "renderable", "shares", "summary"]
