"""`python -m tailguard`: the command line."""

import sys

from tailguard.cli import main

if __name__ == "__main__":
    sys.exit(main())
