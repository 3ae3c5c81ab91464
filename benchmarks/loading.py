"""What it costs to label one sentence, most of which is to load the model; and whether many go as fast.

Brown 32623/1000, Taggers with fixed and with fitted weights, each command in a process of its own: CPU
seconds (user and system) and peak memory, the median of some rounds that take turns. Beside `corate tag`: the
same with all of the file read (which is what happens for many sentences), and, with --before, an older corate
in another environment, which trains its own models.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

from lab import terminal
from lab.children import Finished, run
from lab.corpora import BROWN_SPLITS, brown
from lab.rows import write_rows

SPLIT = list(BROWN_SPLITS)[-1]
SENTENCE = "The quick brown fox jumps over the lazy dog .\n"
AT_ONCE = (
    "from corate.rates import lookup; lookup.PartIndex.most_tokens = 0; import corate.cli; corate.cli.main()"
)
Command = list[str | Path]


def write(data: Path, folder: Path) -> None:
    """Sentences to train on, to label, and one alone."""
    split = brown(data).splits[SPLIT]
    sentences = zip(split.train.words, split.train.labels, strict=True)
    write_rows(folder / "train.conll", (zip(*sentence, strict=True) for sentence in sentences))
    (folder / "many.txt").write_text("".join(" ".join(words) + "\n" for words in split.test.words))
    (folder / "one.txt").write_text(SENTENCE)


def commands(folder: Path, pythons: dict[str, str], weights: str, text: str) -> dict[str, Command]:
    def tag(python: str, *how: str, name: str) -> Command:
        return [python, *how, "tag", "-q", "-m", folder / f"{name}-{weights}.model", folder / text]

    made = {name: tag(python, "-m", "corate", name=name) for name, python in pythons.items()}
    made["now, all of it read"] = tag(pythons["now"], "-c", AT_ONCE, name="now")
    return made


def compare(what: str, every: dict[str, Command], rounds: int) -> None:
    done: dict[str, list[Finished]] = {name: [] for name in every}
    for _ in range(rounds):
        for name, command in every.items():
            done[name].append(run(command))
    assert len({each.output for found in done.values() for each in found}) == 1, "labels differ"
    first = median(each.cpu for each in next(iter(done.values())))
    for name, found in done.items():
        cpu, peak = median(each.cpu for each in found), median(each.peak for each in found)
        print(f"{what:<22} {name:<20} {cpu:7.3f} s  ratio {cpu / first:5.2f}  {peak:6.0f} MB", flush=True)


def prepare(data: Path, folder: Path, pythons: dict[str, str], weights: str) -> None:
    """What is not in the folder yet."""
    if not (folder / "one.txt").exists():
        # A child, for the memory of this process would be counted as that of its children.
        run([sys.executable, "-m", "benchmarks.loading", "--data", data, "--write", folder])
    for who, python in pythons.items():
        saved, train = folder / f"{who}-{weights}.model", folder / "train.conll"
        if not saved.exists():
            run([python, "-m", "corate", "train", "-q", "--weights", weights, train, "-m", saved])


def main() -> None:
    parser = terminal.arguments(
        __doc__, "benchmarks.loading --data ../shared/data", data="folder with brown/"
    )
    parser.add_argument("--before", metavar="PYTHON", help="interpreter that has an older corate")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", type=Path, help="where models are kept, and found if they are there")
    parser.add_argument("--write", type=Path, help="only write the sentences to this folder")
    options = parser.parse_args()
    if options.write:
        write(options.data, options.write)
        return
    pythons = ({"before": options.before} if options.before else {}) | {"now": sys.executable}
    with tempfile.TemporaryDirectory() as name:
        folder = (options.folder or Path(name)).resolve()
        for weights in ("fixed", "fitted"):
            prepare(options.data, folder, pythons, weights)
            compare(f"one sentence, {weights}", commands(folder, pythons, weights, "one.txt"), options.rounds)
            compare(
                f"1,000, {weights}", commands(folder, pythons, weights, "many.txt"), min(3, options.rounds)
            )
    helped = [run([sys.executable, "-m", "corate", "tag", "--help"]).cpu for _ in range(options.rounds)]
    print(f"{'corate tag --help':<43} {median(helped):7.3f} s")


if __name__ == "__main__":
    terminal.run(main)
