"""Every claim of the papers with its verdict, by a check that can fail.

python -m experiments.claims                 what needs no corpus; of measured tables what --results has
python -m experiments.claims theorem_1       one of them
"""

from __future__ import annotations

from experiments.claims.verdicts import main
from lab import terminal

if __name__ == "__main__":
    terminal.run(main)
