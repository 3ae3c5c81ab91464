"""Random bytes for every reader: `make fuzz RUNS=1000000` executions, of one TARGET or of all in turn.

With atheris installed (pip install atheris), --engine atheris follows what the bytes reach in the code; the
plain engine mutates the seeds of tests/fuzz by a seed of its own, so that every finding can be made again.
What is found is written to tests/fuzz/TARGET/ and ends the run.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from hashlib import sha256
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent.parent / "tests")]

from attacks import ATTACKS, SEEDS, mutated, seeds_of  # noqa: E402


def keep(target: str, data: bytes) -> Path:
    path = SEEDS / target / f"found-{sha256(data).hexdigest()[:10]}"
    path.write_bytes(data)
    return path


def plain(targets: list[str], n: int, seed: int) -> int:
    """Executions in turn, until all are done or one has found something."""
    seeds, started = {target: seeds_of(target) for target in targets}, time.monotonic()
    for k in range(n):
        target = targets[k % len(targets)]
        data = mutated(random.Random(f"{seed} {k}"), seeds[target])
        try:
            ATTACKS[target](data)
        except BaseException as error:
            print(f"{target}, execution {k} of seed {seed}: {error!r:.300}\n{data!r}\n{keep(target, data)}")
            return 1
        if (k + 1) % 500_000 == 0:
            print(f"{k + 1:,} executions, {time.monotonic() - started:,.0f} s", flush=True)
    print(f"{n:,} executions of {', '.join(targets)} (seed {seed}): nothing found")
    return 0


def guided(target: str, n: int, seed: int) -> int:
    import atheris

    atheris.instrument_all()
    options = [f"-runs={n}", f"-seed={seed + 1}", "-max_len=400", f"-artifact_prefix={SEEDS / target}/found-"]
    atheris.Setup([sys.argv[0], *options, str(SEEDS / target)], ATTACKS[target])
    atheris.Fuzz()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=100_000, help="executions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", choices=[*ATTACKS])
    parser.add_argument("--engine", choices=["plain", "atheris"], default="plain")
    options = parser.parse_args()
    if options.engine == "atheris":
        if options.target is None:
            parser.error("--engine atheris needs --target")
        return guided(options.target, options.n, options.seed)
    return plain([options.target] if options.target else [*ATTACKS], options.n, options.seed)


if __name__ == "__main__":
    sys.exit(main())
