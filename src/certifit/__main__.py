"""``python -m certifit``: the command line."""

import sys

from certifit.cli import main

if __name__ == "__main__":
    sys.exit(main())
