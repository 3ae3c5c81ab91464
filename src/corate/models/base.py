"""What every model of sentences shares: decoding. A model only says how it is trained, and how sentences
become a lattice.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from operator import eq
from typing import Any, TypeVar

import numpy as np

from corate.arrays import Ids, check_room
from corate.contexts.template import Context, parse_all
from corate.errors import InputError, RoomError
from corate.lattice import decode
from corate.lattice.constraints import Constraints, constrain
from corate.lattice.lattice import Lattice
from corate.lattice.triple_blocks import check_expandable
from corate.models.model import Model
from corate.models.one_sentence import OneSentence
from corate.text.corpus import UNLABELLED, Corpus
from corate.text.tokens import NUMBERS, as_corpus

# Tokens that are decoded at a time: enough to be fast, few enough to keep lattices small.
BATCH_TOKENS = 100_000

# Scores of a lattice that is decoded at a time, where every label or pair of labels has one.
MOST_SCORES = 1 << 22

NUMBERS_OF_LABEL = 16  # in n-best: steps back, candidates, labels, and the lists that are given


Own = TypeVar("Own", bound="Estimator")


class LabelLists(list[list[str]]):
    """Label lists, of which NumPy makes an array of lists, however long each is: scikit-learn's
    `cross_val_predict` puts those of all folds together so."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.fromiter(self, object, len(self))


class Estimator(OneSentence, Model):
    """Base of all models of sentences: children fill in `fit` and the methods of the first section.

    In all methods `X` is a list of sentences, each a list of tokens (strings, tuples of columns, or features
    as dicts or lists), and `y` a list of label lists; a `Corpus` that was read from a file is taken in place
    of both. `constraints` (`corate.Constraints`) are what the labels have to respect.
    """

    classes_: list[str]
    contexts: Sequence[str] | None
    numbers: str | None = None  # what to do with features that are numbers; None: it takes words alone
    _contexts: list[Context]  # the templates that the trained model looks at
    _exact = False  # whether nothing that is possible may be left out
    _says_no = False  # whether a feature that is False is a value, and not absent

    # What a model of sentences says of itself --------------------------------------------------------

    @abstractmethod
    def _lattice(self, corpus: Corpus) -> Lattice:
        """Candidates and scores of the corpus' sentences."""

    def _lattice_with(self, corpus: Corpus, labels: Ids) -> Lattice:
        """The lattice that is decoded; if candidates are left out, these labels (−1: unknown) stay."""
        return self._refine(self._lattice(corpus), corpus)

    def _refine(self, lattice: Lattice, corpus: Corpus) -> Lattice:
        """The lattice that is decoded, after constraints have been laid upon it."""
        return lattice

    def _batch_tokens(self) -> int:
        """How many tokens are decoded at a time."""
        return BATCH_TOKENS

    def _corpus(self, X: Any, y: Any = None) -> Corpus:
        """Sentences in a shape that the model can label."""
        self._check_fitted()
        keys = tuple(sorted({atom.key for c in self._contexts for atom in c.atoms if atom.key is not None}))
        return as_corpus(X, y, self._fitted_params.get("numbers"), keys, self._says_no)

    def _named_contexts(self, corpus: Corpus) -> list[Context] | None:
        """The contexts that the user has named, if they fit the tokens; None where none are named."""
        if self.contexts is None:
            return None
        contexts = list(dict.fromkeys(parse_all(self.contexts)))
        if corpus.keys and not all(context.is_feature for context in contexts):
            stranger = next(str(context) for context in contexts if not context.is_feature)
            raise InputError(f"the context {stranger} looks at words, and the tokens are given by features")
        return contexts

    def _check_numbers(self) -> None:
        if self.numbers not in NUMBERS:
            raise InputError(f"numbers={self.numbers!r}: choose from {', '.join(map(repr, NUMBERS))}")

    def known_words(self) -> set[str]:
        """The words that training had; none where tokens were given by features."""
        return set()

    def _remember_params(self) -> None:
        contexts = map(str, self._contexts) if self.contexts is None else self.contexts
        self._fitted_params = {**self.get_params(), "contexts": tuple(contexts)}

    def context_names(self) -> list[str]:
        """The contexts that the trained model looks at."""
        return [str(context) for context in self._contexts]

    # Decoding ----------------------------------------------------------------------------------------

    def _now(self: Own, exact: bool = False) -> Own:
        """The model as it is now, whatever another thread teaches it meanwhile."""
        self._check_fitted()
        self._derive()
        now = type(self).__new__(type(self))
        now.__dict__.update(self.__dict__)  # at once
        now._exact = exact
        return now

    def _derive(self) -> None:
        """Make what decoding needs beside what was learned, if it is not there yet."""

    def _batches(
        self,
        X: Any,
        constraints: Constraints | None = None,
        n_sequences: int = 0,
        with_labels: bool = False,
    ) -> Iterator[tuple[Corpus, Lattice]]:
        """The sentences in batches, each with its lattice; in smaller ones where n sequences are wanted.

        `with_labels`: candidates that are the labels of the sentences stay."""
        corpus = self._corpus(X)
        n_tokens = max(1, self._batch_tokens() // max(1, n_sequences))
        if constraints is not None:
            constraints.check(corpus, self.classes_)
        targets = np.arange(n_tokens, corpus.n_tokens, n_tokens)
        bounds = [0, *np.searchsorted(corpus.offsets, targets).tolist(), corpus.n_sentences]
        todo = [*reversed([*pairwise(bounds)])]
        while todo:
            first, last = todo.pop()
            batch = corpus.select(first, last) if last - first < corpus.n_sentences else corpus
            try:
                if with_labels:
                    assert batch.labels is not None
                    lattice = self._lattice_with(batch, batch.labels.encode(self.classes_))
                else:
                    lattice = self._decodable(batch, constraints, first, n_sequences)
            except RoomError as error:
                if last - first == 1:
                    about = f"sentence {first}, of {batch.n_tokens:,} tokens: {error}"
                    raise InputError(f"{about}: cut it into shorter ones") from error
                middle = (first + last) // 2
                todo += [(middle, last), (first, middle)]
                continue
            yield batch, lattice

    def _decodable(
        self, batch: Corpus, constraints: Constraints | None, first: int, n_sequences: int
    ) -> Lattice:
        """What is decoded of some sentences, of which the first has this number; RoomError for too many."""
        lattice = self._lattice(batch)
        if constraints is not None:
            lattice = constrain(lattice, constraints, self.classes_, first)
        lattice = self._refine(lattice, batch)
        if n_sequences:
            n_numbers = n_sequences * lattice.n_positions * NUMBERS_OF_LABEL
            check_room(n_numbers, f"{n_sequences:,} label sequences")
            check_expandable(lattice)
        return lattice

    def predict(
        self, X: Any, constraints: Constraints | None = None, *, exact: bool = False
    ) -> list[list[str]]:
        """The best label sequence of every sentence.

        A Tagger leaves labels out that have hardly a chance; with `exact` it looks at all, which is slow, and
        refused where it takes too much memory. Other models are exact as they are.
        """
        now = self._now(exact)
        labels = LabelLists()
        for batch, lattice in now._batches(X, constraints):
            best = decode.viterbi(lattice, now._n_threads())
            labels += batch.split(best.labels(lattice), now.classes_)
        return labels

    def predict_marginals(
        self,
        X: Any,
        constraints: Constraints | None = None,
        *,
        exact: bool = False,
        all_labels: bool = False,
    ) -> list[list[dict[str, float]]]:
        """For every token, the probability of each label that is possible there, or with `all_labels` of each
        that there is, 0 for the others; `exact` as in `predict`."""
        now = self._now(exact)
        none: dict[str, float] = dict.fromkeys(now.classes_, 0.0) if all_labels else {}
        sentences: list[list[dict[str, float]]] = []
        for batch, lattice in now._batches(X, constraints):
            probabilities = decode.marginals(lattice, now._n_threads()).probabilities.tolist()
            names = [now.classes_[label] for label in lattice.labels.tolist()]
            bounds = lattice.positions.tolist()
            tokens = [
                none | dict(zip(names[a:b], probabilities[a:b], strict=True)) for a, b in pairwise(bounds)
            ]
            sentences += [tokens[a:b] for a, b in batch.spans()]
        return sentences

    def predict_with_probability(
        self, X: Any, constraints: Constraints | None = None, *, exact: bool = False
    ) -> list[list[tuple[str, float]]]:
        """The best label sequence of every sentence, each label with its marginal probability; `exact` as in
        `predict`."""
        now = self._now(exact)
        sentences: list[list[tuple[str, float]]] = []
        for batch, lattice in now._batches(X, constraints):
            chosen = decode.viterbi(lattice, now._n_threads()).candidates
            probabilities = decode.marginals(lattice, now._n_threads()).probabilities[chosen].tolist()
            labels = [now.classes_[label] for label in lattice.labels[chosen].tolist()]
            tokens = list(zip(labels, probabilities, strict=True))
            sentences += [tokens[a:b] for a, b in batch.spans()]
        return sentences

    def predict_nbest(
        self, X: Any, n: int = 5, constraints: Constraints | None = None, *, exact: bool = False
    ) -> list[list[tuple[list[str], float]]]:
        """The n best label sequences of every sentence with their probabilities, best first; `exact` as in
        `predict`."""
        n = decode.check_n(n)
        now = self._now(exact)
        sentences: list[list[tuple[list[str], float]]] = []
        for batch, lattice in now._batches(X, constraints, n):
            paths = decode.nbest(lattice, n, now._n_threads())
            log_z = decode.marginals(lattice, now._n_threads()).log_z
            ranked = [batch.split(lattice.labels[row], now.classes_) for row in paths.candidates]
            probability = np.exp(np.minimum(paths.scores - log_z, 0.0)).tolist()
            sentences += [
                [(ranked[k][s], probability[k][s]) for k in range(n) if paths.scores[k, s] > -np.inf]
                for s in range(batch.n_sentences)
            ]
        return sentences

    def log_prob(self, X: Any, y: Any = None, *, exact: bool = False) -> list[float]:
        """log P(labels | sentence) of given label sequences; −inf for one that the model rules out, such as a
        label that it does not know.

        Labels that a Tagger would leave out are looked at besides those that it would not; with `exact` it
        looks at all, as in `predict`.
        """
        corpus = self._corpus(X, y)
        if corpus.labels is None:
            raise InputError("log_prob needs labels: give y, or a labelled Corpus")
        if UNLABELLED in corpus.labels.values:
            raise InputError(f"log_prob needs a label for every token, and one is {UNLABELLED!r}")
        now = self._now(exact)
        log_probs: list[float] = []
        for batch, lattice in now._batches(corpus, with_labels=True):
            assert batch.labels is not None
            gold = batch.labels.encode(now.classes_)
            scores = decode.sequence_scores(lattice, gold, now._n_threads())
            log_z = decode.marginals(lattice, now._n_threads()).log_z
            log_probs += np.minimum(scores - log_z, 0.0).tolist()  # sums of many terms are rounded
        return log_probs

    def score(self, X: Any, y: Any = None) -> float:
        """Share of tokens labelled right, of those whose right label is given."""
        corpus = self._corpus(X, y)
        if corpus.labels is None:
            raise InputError("score needs the right labels: give y, or a labelled Corpus")
        gold = corpus.labels.strings()
        labelled = len(gold) - gold.count(UNLABELLED)
        if not labelled:
            raise InputError("score needs at least one labelled token")
        predicted = chain.from_iterable(self.predict(corpus))
        return float(sum(map(eq, predicted, gold)) / labelled)
