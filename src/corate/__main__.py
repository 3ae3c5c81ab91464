"""`python -m corate` is `corate`."""

from corate.cli import main

main()
