"""Pages that are made from the source tree: the proof notes, and the reference of every subpackage.

A note `src/tailguard/x/y.md` becomes the page `proofs/x/y.md`. A subpackage becomes the page `reference/x.md`, with one
entry for each name in its `__all__`, so that the reference cannot miss an export.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tailguard"
HIDDEN = {"cli"}
"""Subpackages whose interface is not Python."""


def proofs() -> dict[str, str]:
    """Return the proof notes by the path of their page."""
    return {f"proofs/{note.relative_to(SOURCE)}": note.read_text("utf-8") for note in sorted(SOURCE.rglob("*.md"))}


def packages() -> list[str]:
    """Return the names of the documented subpackages."""
    found = (init.parent.name for init in SOURCE.glob("*/__init__.py"))
    return sorted(name for name in found if name not in HIDDEN and exports(name))


def exports(package: str) -> list[str]:
    """Return the `__all__` of a subpackage, read without importing it; empty where there is none."""
    tree = ast.parse((SOURCE / package / "__init__.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in node.targets):
            return sorted(ast.literal_eval(node.value))
    return []


def address(package: str, name: str) -> str:
    """Return where an exported name is found; a function may be hidden by a module of its own name."""
    module = SOURCE / package / f"{name}.py"
    defined = ast.parse(module.read_text("utf-8")).body if module.exists() else []
    hidden = any(getattr(node, "name", None) == name for node in defined)
    return f"tailguard.{package}.{name}" + (f".{name}" if hidden else "")


def reference(package: str) -> str:
    """Return the reference page of a subpackage."""
    summary = ast.get_docstring(ast.parse((SOURCE / package / "__init__.py").read_text("utf-8"))) or ""
    entries = "\n\n".join(f"::: {address(package, name)}" for name in exports(package))
    return f"# tailguard.{package}\n\n{summary}\n\n{entries}\n"


def pages() -> dict[str, str]:
    """Return all generated pages by path."""
    return {**proofs(), **{f"reference/{name}.md": reference(name) for name in packages()}}


def on_config(config):
    """Put the generated pages into the navigation."""
    for section in config.nav:
        if "Proofs" in section:
            section["Proofs"] += [{title(text): path} for path, text in proofs().items()]
        if "Reference" in section:
            section["Reference"] += [{f"tailguard.{name}": f"reference/{name}.md"} for name in packages()]
    return config


def title(text: str) -> str:
    """Return the first heading of a page."""
    return re.sub(r"[`#]", "", text.splitlines()[0]).strip()


def on_files(files, config):
    """Add the generated pages."""
    from mkdocs.structure.files import File

    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files
