"""Mutants that no test can catch, with the reason: nothing that a user could see depends on them.

A mutant is one of these if its file, what it replaces and its line fit; `make mutants` leaves them out of the
sample and says how many there were. What is listed here has been looked at by eye, one by one.
"""

from __future__ import annotations

from tools.mutants import Mutant

COST = "how much is done at a time, or when a quicker way to the same answer is taken"
NEVER_EQUAL = "a comparison of floating-point numbers that are never equal"
SIGN_ONLY = "stands for “none”: only its sign is looked at"
ROOM = "room that is never read"
STOPS = "when a search stops that has arrived: the answer is rounded far above it"
CHOSEN = "chosen by measuring: no formula says that it is right"
WORDS = "how a message is cut or where a warning points"

# File below src/corate, what is replaced, a part of the line, and why nothing depends on it.
EQUIVALENT = [
    ("counts/table.py", "<=", "<= len(key)", COST),
    ("counts/counts.py", "", "FEW * len(b) < len(a)", COST),
    ("counts/counts.py", "1", "while len(partial) > 1 and", COST),
    ("counts/invariants.py", "2", "[np.empty(0, np.int32)] * 2", "a table without rows has no width"),
    ("counts/invariants.py", "2", "OUTSIDE in values[:2]", "sorted, it is one of the first two"),
    ("rates/reference.py", "-", "tables.row_labels, -1)", SIGN_ONLY),
    ("rates/lookup.py", "1", "np.full(len(queries), -1)", SIGN_ONLY),
    ("rates/lookup.py", "<<", "1 << self.groups.bits[source]", COST),
    ("rates/rates.py", "*", "2 * n_changed > counts.n_events", COST),
    ("rates/rates.py", ">", "2 * n_changed > counts.n_events", COST),
    ("rates/smoothed.py", "", "pair_count: float", CHOSEN),
    ("rates/smoothed.py", "", "prior_count: float", CHOSEN),
    ("rates/smoothed.py", "", "alpha: float", CHOSEN),
    ("rates/smoothed.py", "", "bounds: tuple", CHOSEN),
    ("lattice/constraints.py", "0", "with_blocks = int(", COST),
    ("lattice/constraints.py", ">", "with_blocks = int(", COST),
    ("models/counted.py", "8", 'return " ".join(words)', WORDS),
    ("models/empirical/empirical.py", "", "max(1, MOST_SCORES //", COST),
    ("models/empirical/factors.py", "<", "touches_unknown =", "a look-up that cannot find anything more"),
    ("models/loglinear/expectations.py", "-", "np.zeros((end - begin, n))", ROOM),
    ("models/loglinear/iis.py", "", "EXACT = 1e-13", STOPS),
    ("models/loglinear/lbfgs.py", "<", "not least < t < most", NEVER_EQUAL),
    ("models/loglinear/lbfgs.py", "<=", "most - least <= NARROW", NEVER_EQUAL),
    ("models/loglinear/lbfgs.py", "<", "abs(t - here.t) < abs(line - here.t)", NEVER_EQUAL),
    ("models/loglinear/lbfgs.py", ">", "here.value > best.value", NEVER_EQUAL),
    ("models/loglinear/optimise.py", "", "stacklevel=", WORDS),
    ("models/loglinear/optimise.py", "1.0", "least * max(1.0, norm(weights))", STOPS),
    ("models/loglinear/optimise.py", "*", "NEARLY_FLAT * max(1.0", STOPS),
    ("models/loglinear/pieces.py", "1", "max(1, int(lengths.max(initial=0)))", ROOM),
    ("models/loglinear/restore.py", "<=", "<= MOST_WEIGHT", NEVER_EQUAL),
    ("models/tagger/candidates.py", ">", "if sum(bits) > 63", COST),
    ("models/tagger/candidates.py", ">=", "[owner] - margin", NEVER_EQUAL),
    ("models/tagger/joint.py", "9", "round(entropy[key], 9)", STOPS),
    ("models/tagger/joint.py", "1", "most = max(1, settings.joint_tokens", COST),
    ("models/tagger/tagger.py", "2", "if self._exact else 2", COST),
]


def reason(mutant: Mutant) -> str | None:
    """Why no test can catch it, if it is listed."""
    for path, old, part, why in EQUIVALENT:
        if path == mutant.path and part in mutant.text and (not old or old == mutant.old.strip()):
            return why
    return None
