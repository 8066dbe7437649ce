"""`assay`, and `python -m assay`: the command line."""

import os
import sys

INTERRUPTED = 130


def main() -> None:
    """Run the command line.  Who interrupts it while it is loaded, or ends, is told as others are."""
    try:
        from assay.cli.main import main as command

        command()
    except KeyboardInterrupt:
        os.write(2, b"interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
