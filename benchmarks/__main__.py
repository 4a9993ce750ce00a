"""`python -m benchmarks`: the accuracy benchmark. Kernels and planning: `python -m benchmarks.speed`."""

import sys

from benchmarks.cli import main

if __name__ == "__main__":
    sys.exit(main())
