"""One virtual environment a peer, made from its pinned requirements; a peer that cannot be installed says why."""

import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PEERS", "Environment", "environment"]

HERE = Path(__file__).resolve().parent
ROOT = Path(os.environ.get("TAILGUARD_PEERS", HERE.parent.parent / ".peers"))
PEERS = ("diffprivlib", "opacus", "jax_privacy", "opendp")

Command = Callable[[list[str]], None]


def _command(arguments: list[str]) -> None:
    subprocess.run(arguments, check=True, capture_output=True, text=True, timeout=1800)


@dataclass(frozen=True)
class Environment:
    """The environment of a peer: requirements, interpreter, and the stamp that says that they belong together."""

    name: str
    root: Path = ROOT
    requirements_root: Path = HERE / "requirements"

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    @property
    def worker(self) -> Path:
        return HERE / "workers" / f"fit_{self.name}.py"

    @property
    def requirements(self) -> Path:
        return self.requirements_root / f"{self.name}.txt"

    @property
    def stamp(self) -> str:
        """Return what an environment must have been made from: these requirements, this Python."""
        text = f"{sys.version_info[:2]}\n{self.requirements.read_text(encoding='utf-8')}"
        return hashlib.sha256(text.encode()).hexdigest()

    def missing(self) -> str | None:
        """Return None when the environment can be used, or the reason why it cannot, in one line."""
        if self._read("stamp") == self.stamp and self.python.exists():
            return None
        failure = self._read("failed")
        if failure and failure.startswith(self.stamp):
            return failure.removeprefix(self.stamp).strip()
        return "no environment: run `make bench-peers`"

    def make(self, command: Command = _command) -> str | None:
        """Make the environment unless its stamp is right; return None, or the reason why it cannot be made."""
        if self.missing() is None:
            return None
        shutil.rmtree(self.folder, ignore_errors=True)
        self.root.mkdir(parents=True, exist_ok=True)
        try:
            command([sys.executable, "-m", "venv", str(self.folder)])
            options = ["install", "--quiet", "--disable-pip-version-check", "--requirement", str(self.requirements)]
            command([str(self.python), "-m", "pip", *options])
        except (OSError, subprocess.SubprocessError) as error:
            reason = _reason(error)
            shutil.rmtree(self.folder, ignore_errors=True)
            self._write("failed", f"{self.stamp} {reason}")
            return reason
        self._write("stamp", self.stamp)
        return None

    def _read(self, kind: str) -> str:
        path = self.root / f"{self.name}.{kind}"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def _write(self, kind: str, text: str) -> None:
        (self.root / f"{self.name}.{kind}").write_text(text, encoding="utf-8")


def _reason(error: Exception) -> str:
    """Return the line of pip's complaint that says what is wrong."""
    if isinstance(error, subprocess.TimeoutExpired):
        return "installation took too long"
    lines = [line.strip() for line in (getattr(error, "stderr", None) or "").splitlines() if line.strip()]
    wrong = [line for line in lines if line.startswith("ERROR")]
    return f"cannot be installed: {(wrong or lines or [str(error)])[0][:200]}"


def environment(name: str) -> Environment:
    """Return the environment of a peer."""
    return Environment(name)
