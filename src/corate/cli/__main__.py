"""`python -m corate.cli` is `corate`."""

from corate.cli import main

main()
