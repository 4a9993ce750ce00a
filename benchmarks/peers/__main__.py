"""`python -m benchmarks.peers [name …]`: make the environments of the peers; the second call is instant."""

import sys
import time

from benchmarks.peers.environments import PEERS, environment


def main(names: list[str]) -> int:
    """Make the environments; a peer that cannot be installed is reported, and is not an error."""
    unknown = sorted(set(names) - set(PEERS))
    if unknown:
        print(f"unknown peers: {', '.join(unknown)}; there are {', '.join(PEERS)}")
        return 2
    for name in names or PEERS:
        start = time.perf_counter()
        reason = environment(name).make()
        print(f"{name:12} {'ready' if reason is None else f'skipped: {reason}'} ({time.perf_counter() - start:.1f} s)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
