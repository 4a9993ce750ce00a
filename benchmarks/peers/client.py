"""A long-lived process a peer: imports are paid once, a fit that takes too long ends its process, not the benchmark."""

import atexit
import contextlib
import os
import select
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks.peers.environments import environment
from benchmarks.peers.workers.wire import Arrays, Closed, receive, send

__all__ = ["PeerError", "PeerTimeoutError", "Worker", "call", "close_all"]

START_SECONDS = 180.0


class PeerError(RuntimeError):
    """The peer raised, or its process ended."""


class PeerTimeoutError(PeerError):
    """The peer took too long and its process was ended."""


class Worker:
    """The process of a peer.

    Parameters
    ----------
    python : path
        Interpreter of the peer's environment.
    script : path
        The worker script that runs there.
    log : path or None
        Where its standard error goes.
    start_seconds : float
        How long its imports may take.
    """

    def __init__(self, python: Path, script: Path, log: Path | None = None, start_seconds: float = START_SECONDS):
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        environ = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | threads
        # JAX would otherwise start a thread a core for a matrix of twenty columns.
        environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        with open(log or os.devnull, "ab") as errors:
            self.process = subprocess.Popen(
                [str(python), str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environ
            )
        self.versions: dict[str, str] = self._receive(start_seconds)[0]["versions"]

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def call(self, header: dict[str, Any], arrays: Arrays, timeout: float) -> tuple[dict[str, Any], Arrays]:
        """Send a request, wait for the answer; end the process when it does not come in time."""
        try:
            reply, results = self._ask(header, arrays, timeout)
        except BaseException:
            # Whoever interrupts the wait (a deadline's signal, Ctrl-C) must not leave an answer for the next question.
            self.close()
            raise
        if "error" in reply:
            raise PeerError(reply["error"])
        return reply, results

    def _ask(self, header: dict[str, Any], arrays: Arrays, timeout: float) -> tuple[dict[str, Any], Arrays]:
        try:
            send(self.process.stdin, header, arrays)
        except (OSError, ValueError) as error:  # a broken pipe, or one that was closed before
            raise PeerError(f"the peer's process ended: {error}") from None
        return self._receive(timeout)

    def _receive(self, timeout: float) -> tuple[dict[str, Any], Arrays]:
        deadline = time.monotonic() + timeout
        ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            self.close()
            raise PeerTimeoutError(f"took more than {timeout:g} s")
        try:
            return receive(self.process.stdout)
        except Closed:
            self.close()
            raise PeerError("the peer's process ended without an answer") from None

    def close(self) -> None:
        """End the process."""
        if self.alive:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()


_WORKERS: dict[tuple[int, str], Worker] = {}


def call(peer: str, header: dict[str, Any], arrays: Arrays, timeout: float) -> tuple[dict[str, Any], Arrays]:
    """Send a request to the peer's process of this process, which is started when there is none."""
    key = (os.getpid(), peer)  # a forked benchmark process must not share its parent's pipes
    worker = _WORKERS.get(key)
    if worker is None or not worker.alive:
        home = environment(peer)
        worker = _WORKERS[key] = Worker(home.python, home.worker, home.root / f"{peer}.log")
    return worker.call(header, arrays, timeout)


def close_all() -> None:
    """End the processes that this process started."""
    for pid, peer in [key for key in _WORKERS if key[0] == os.getpid()]:
        _WORKERS.pop((pid, peer)).close()


atexit.register(close_all)
