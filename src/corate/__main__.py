"""`python -m corate` is `corate`; Ctrl-C is one line from the first import on."""

import sys


def main() -> None:
    try:
        from corate.cli import main as run
    except KeyboardInterrupt:
        print("corate: interrupted", file=sys.stderr)
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
