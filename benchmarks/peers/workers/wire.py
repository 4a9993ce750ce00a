"""Messages between the benchmark and a peer's process: a JSON header and named arrays, over pipes.

Runs in the benchmark's interpreter and in every peer's: numpy is all it needs.
"""

import json
import os
import resource
import struct
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any, BinaryIO

import numpy as np

__all__ = ["Arrays", "Closed", "receive", "send", "serve"]

Arrays = dict[str, np.ndarray]


class Closed(Exception):  # noqa: N818 - the other side has gone; for a worker that is the normal end
    """The other side closed the pipe."""


def send(stream: BinaryIO, header: dict[str, Any], arrays: Arrays | None = None) -> None:
    """Write a message: the length of the header, the header, the arrays one after the other."""
    packed = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
    layout = [[name, array.dtype.str, list(array.shape)] for name, array in packed.items()]
    text = json.dumps({"header": header, "layout": layout}).encode()
    stream.write(struct.pack("<Q", len(text)) + text)
    for array in packed.values():
        stream.write(array.tobytes())
    stream.flush()


def receive(stream: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    """Read a message; raise `Closed` at the end of the stream."""
    (length,) = struct.unpack("<Q", _exactly(stream, 8))
    message = json.loads(_exactly(stream, length))
    arrays = {}
    for name, dtype, shape in message["layout"]:
        count = int(np.prod(shape, dtype=np.int64))
        raw = _exactly(stream, count * np.dtype(dtype).itemsize)
        arrays[name] = np.frombuffer(raw, dtype=dtype).reshape(shape).copy()
    return message["header"], arrays


def _exactly(stream: BinaryIO, count: int) -> bytes:
    parts = []
    while count:
        part = stream.read(count)
        if not part:
            raise Closed
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def serve(fit: Callable[[dict[str, Any], Arrays], tuple[dict[str, Any], Arrays]], versions: dict[str, str]) -> None:
    """Answer requests until the pipe closes; a mistake is an answer too, so that one fit does not end the worker."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not end up between the messages
    requests = sys.stdin.buffer
    send(answers, {"ready": True, "versions": versions})
    while True:
        try:
            header, arrays = receive(requests)
        except Closed:
            return
        send(answers, *_answer(fit, header, arrays))


def _answer(fit: Callable[..., Any], header: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    before, start = _memory("VmRSS", reset=True), time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            reply, results = fit(header, arrays)
        except Exception as error:
            traceback.print_exc()
            return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}, {}
    reply["seconds"] = time.perf_counter() - start
    reply["peak_mb"] = max(0.0, _memory("VmHWM") - before)
    reply["warnings"] = sorted({f"{w.category.__name__}: {str(w.message).splitlines()[0][:200]}" for w in caught})
    return reply, results


def _memory(name: str, reset: bool = False) -> float:
    """Return megabytes held now ("VmRSS") or at most ("VmHWM"); the highest ever, where the system keeps no status."""
    try:
        if reset:
            with open("/proc/self/clear_refs", "w") as clear:
                clear.write("5")
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024.0
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
