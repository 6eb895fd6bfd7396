"""`python -m headway` and the `headway` command."""

import sys

from headway.cli.main import main


def run() -> None:
    """Exit with the status of the command."""
    sys.exit(main())


if __name__ == "__main__":
    run()
