"""corate eval: how well a model labels text whose labels are known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from corate.cli.common import (
    check_labeller,
    console,
    load_labeller,
    optional_model_option,
    plural,
    scheme_option,
    table,
    threads_option,
    valid_option,
    valid_spans,
)
from corate.cli.text_options import TextOptions, text_options
from corate.errors import InputError
from corate.evaluation.report import heading, parts, percent

if TYPE_CHECKING:
    from rich.console import Console

    from corate.evaluation.evaluate import Evaluation
    from corate.evaluation.significance import Comparison
    from corate.models.counted import CountedModel
    from corate.text.corpus import Corpus


@click.command("eval")
@click.argument("file", metavar="FILE")
@optional_model_option(
    text="Model file, from corate train. With --folds, one whose kind and options are taken."
)
@click.option(
    "--folds",
    metavar="K",
    type=click.IntRange(2),
    help="Label each of K parts of FILE with a model of the others: no model file is needed.",
)
@click.option(
    "--weights",
    type=click.Choice(["fitted", "fixed"]),
    help="--folds: weights of the models, fitted anew for each part (the default) or constant.",
)
@click.option(
    "--against", "other_path", metavar="MODEL", help="A second model: is the difference more than chance?"
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.option("--conlleval", "as_conlleval", is_flag=True, help="The text that conlleval prints.")
@scheme_option
@valid_option
@click.option(
    "--errors", default=10, show_default=True, type=click.IntRange(0), help="Most frequent errors to show."
)
@text_options()
@threads_option
def eval_(
    file: str,
    model_path: str | None,
    folds: int | None,
    weights: str | None,
    other_path: str | None,
    as_json: bool,
    as_conlleval: bool,
    scheme: str,
    valid: str | None,
    errors: int,
    text: TextOptions,
    threads: int,
) -> None:
    """Label FILE with a model and compare with the labels that it has.

    With --folds no model is needed: FILE is counted once, and every part of it is labelled by the model of
    the others, whose counts are those of FILE without the part's. Weights are fitted anew for each, so that
    the figures are those of as many trainings.

    Accuracy overall, on known and on unknown words (those that training did not have); precision, recall and
    F1 of spans where labels are of the form B-PER. With --against, the difference to another model with its
    95 % interval and p-values: McNemar's exact test on tokens, and resampled sentences.

    \b
    Example:
      corate eval -m pos.model test.conll
      corate eval -m ner.model ned.testb --json | jq .f1
      corate eval --folds 5 train.conll
      corate eval -m new.model --against old.model test.conll
    """
    from corate.evaluation.evaluate import conlleval

    if as_json and as_conlleval:
        raise click.UsageError("--json and --conlleval do not go together: choose one")
    if other_path and (as_conlleval or folds is not None):
        other = "--conlleval" if as_conlleval else "--folds"
        raise click.UsageError(f"--against and {other} do not go together: choose one")
    if folds is None and weights is not None:
        raise click.UsageError("--weights is for --folds: a model file has its own")
    if model_path is not None:
        text = text.for_model(load_labeller(model_path))
    gold = Gold(file, text, None if scheme == "none" else scheme)
    comparison = None
    if folds is not None:
        result = _evaluate_folds(gold, folds, model_path, weights, valid, threads)
    elif model_path is None:
        raise click.UsageError("-m MODEL is missing, or --folds K")
    else:
        result, comparison = _evaluate_models(gold, model_path, other_path, valid, threads)
    if as_json:
        against = {} if comparison is None else {"against": comparison.to_json()}
        click.echo(json.dumps(result.to_json() | against, ensure_ascii=False))
    elif as_conlleval:
        click.echo(conlleval(result))
    else:
        _print(console(), result, errors)
        if comparison is not None:
            _print_comparison(console(), comparison)


class Gold:
    """The sentences of FILE with the labels that they have, and how these make spans."""

    def __init__(self, file: str, text: TextOptions, scheme: str | None) -> None:
        from corate.text.corpus import Corpus

        sentences = [sentence for sentence in text.read(file) if len(sentence)]
        self.file, self.scheme = file, scheme
        self.labels = [sentence.labels or [] for sentence in sentences]
        self.words = [sentence.words for sentence in sentences]
        self.corpus = Corpus.from_sentences(sentences)


def _evaluate_models(
    gold: Gold, path: str, other_path: str | None, valid: str | None, threads: int
) -> tuple[Evaluation, Comparison | None]:
    """How well a model labels the sentences, and how it compares with another one."""
    from corate.evaluation.evaluate import evaluate
    from corate.evaluation.significance import compare

    labels = {y for labels in gold.labels for y in labels}
    each = []
    for model_path in filter(None, (path, other_path)):
        crf = load_labeller(model_path).set_params(n_jobs=threads)
        if not labels & {*crf.classes_}:
            raise InputError(f"{gold.file} and {model_path} have no label in common: is --label right?")
        each.append((crf.predict(gold.corpus, valid_spans(valid)), crf.known_words()))
    (predicted, known_words), *others = each
    result = evaluate(gold.labels, predicted, gold.words, known_words, gold.scheme)
    comparison = None
    for theirs, _ in others:
        comparison = compare(gold.labels, predicted, theirs, scheme=gold.scheme)
    return result, comparison


def _evaluate_folds(
    gold: Gold, n_folds: int, like: str | None, weights: str | None, valid: str | None, threads: int
) -> Evaluation:
    """How well models of the other folds label each one."""
    from corate.evaluation.evaluate import evaluate

    predicted, known = _folds(gold.corpus, n_folds, like, weights, valid, threads)
    # Which words are known is another matter in every fold: say it of each token.
    marked = [[str(w in fold) for w in words] for words, fold in zip(gold.words, known, strict=True)]
    return evaluate(gold.labels, predicted, marked, {str(True)}, gold.scheme)


def _folds(
    corpus: Corpus, n_folds: int, like: str | None, weights: str | None, valid: str | None, threads: int
) -> tuple[list[list[str]], list[set[str]]]:
    """Labels of every sentence by a model of the other folds, and the words that it knew."""
    from corate.cli.changes import load_counted
    from corate.evaluation.folds import label_folds
    from corate.models.tagger.tagger import Tagger

    model: CountedModel = Tagger()
    if like is not None:
        model = check_labeller(load_counted(like), like)
        model = type(model)(**model.get_params())
    if weights is not None and not isinstance(model, Tagger):
        raise click.UsageError(f"--weights is for the Tagger, and {like} holds another model")
    model.set_params(n_jobs=threads, ledger=False, **({} if weights is None else {"weights": weights}))
    labels: list[list[str]] = []
    known: list[set[str]] = []
    for fold in label_folds(model, corpus, n_folds, valid_spans(valid)):
        labels += fold.labels
        known += [fold.known_words] * (fold.last - fold.first)
    return labels, known


def _print(out: Console, result: Evaluation, n_errors: int) -> None:
    out.print(heading(result))
    for title, headers, rows in parts(result, n_errors):
        out.print()
        out.print(table(*headers, title=title, rows=rows))


def _print_comparison(out: Console, found: Comparison) -> None:
    out.print()
    rates = {"accuracy": found.accuracy} | ({} if found.f1 is None else {"F1": found.f1})
    title = "Against the other model (interval and p from resampled sentences)"
    against = table("", "this", "other", "difference", "95 % interval", "p", title=title)
    for name, rate in rates.items():
        interval = f"{100 * rate.low:+.2f} to {100 * rate.high:+.2f}"
        against.add_row(
            name, percent(rate.a), percent(rate.b), f"{100 * rate.lead:+.2f}", interval, f"{rate.p:.2g}"
        )
    out.print(against)
    only = f"{plural(found.only_a, 'token')} right in this model alone, {found.only_b:,} in the other alone"
    out.print(f"{only}: McNemar's exact p = {found.mcnemar:.2g}")
