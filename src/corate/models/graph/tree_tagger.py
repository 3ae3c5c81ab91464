"""TreeTagger: the Tagger for labels that hang on a tree, such as dependency relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from corate.contexts.template import Context, parse_all
from corate.counts.counts import Counts
from corate.counts.engines.base import Source
from corate.errors import InputError
from corate.models.counted import Arrays, Learned, WordEntry
from corate.models.graph.trees import tree_of, with_tree
from corate.models.tagger.settings import SETTINGS
from corate.models.tagger.tagger import Tagger
from corate.rates.rates import Rates
from corate.text.corpus import Corpus

# Chosen on the development parts of two treebanks (English ParTUT, Hungarian Szeged).
WORDS_ON_TREES = (
    *("shape", "tail1", "tail2", "tail3", "tail4", "tail5", "word", "lower", "suffix6", "suffix8", "prefix3"),
    *("word-1", "word+1", "side", "word^", "tail3^", "word,word^", "word,side"),
)
COLUMN_ON_TREES = (
    *("{c}", "{c}-1", "{c}+1", "{c}-1,{c}", "{c},{c}+1", "{c}-1,{c},{c}+1"),
    *("{c}^", "{c},{c}^", "{c},side,{c}^", "{c},word^", "word,{c}^", "word,side,{c}^", "{c},side,word^"),
    *("{c},tail3^", "lower,{c}^", "{c}*", "{c},{c}*", "{c},{c}^,{c}*", "{c},side,{c}^,{c}*"),
)


class TreeTagger(Tagger):
    """A Tagger whose contexts look at a token's parent and children.

    Tokens are tuples: the word, perhaps further columns, and last the number of the token's parent in the
    sentence, from 1; 0 for a root. Contexts may look at the parent (`word^`, `col2^`, `tail3^`), at the
    children (`col2*`), and at where the parent is (`side`); joined by commas they count as one. Label pairs
    are those of parent and child, triples those of grandparent, parent and child, and decoding is exact on
    the trees. All else is as in the Tagger; on a chain, each token hanging on the one before it, it is one,
    but for the CRF that stands beside a Tagger of few data.

    Parameters
    ----------
    weights, contexts, numbers, ledger, n_jobs :
        As for `Tagger`.

    Examples
    --------
    >>> from corate import TreeTagger
    >>> X = [[("the", "DET", "2"), ("dog", "NOUN", "3"), ("barks", "VERB", "0")]] * 3
    >>> tagger = TreeTagger(weights="fixed").fit(X, [["det", "nsubj", "root"]] * 3)
    >>> tagger.predict([[("a", "DET", "2"), ("cat", "NOUN", "3"), ("sleeps", "VERB", "0")]])
    [['det', 'nsubj', 'root']]
    """

    n_columns_: int  # of tokens, without heads
    _on_trees = True
    _heads_of = staticmethod(tree_of)

    def _rates_of(self, counts: Counts, contexts: Sequence[Context]) -> Rates:
        return Rates(counts, contexts, SETTINGS.smoothing, tree_of)

    def _check_params(self) -> None:
        super()._check_params()
        if self.contexts is not None and any(context.pair for context in parse_all(self.contexts)):
            raise InputError("contexts of label pairs are for chains: leave those out that begin with pair:")

    def _training_corpus(self, X: Any, y: Any) -> Corpus:
        corpus = super()._training_corpus(X, y)
        if corpus.keys:
            raise InputError(
                "tokens on a tree are tuples: the word, further columns, the number of the parent"
            )
        self.n_columns_ = len(corpus.columns) - 1
        return with_tree(corpus)

    def _default_contexts(self, first: Corpus, source: Source) -> list[Context]:
        columns = (f"col{k}" for k in range(2, self.n_columns_ + 1))
        return parse_all(
            [*WORDS_ON_TREES, *(name.format(c=column) for column in columns for name in COLUMN_ON_TREES)]
        )

    def _corpus(self, X: Any, y: Any = None) -> Corpus:
        corpus = super()._corpus(X, y)
        if len(corpus.columns) == 3 * self.n_columns_ + 2:  # it has them already
            return corpus
        if len(corpus.columns) != self.n_columns_ + 1:
            raise InputError(
                f"tokens of {len(corpus.columns)} columns, where the model takes {self.n_columns_ + 1}: "
                "the last one is the number of the parent"
            )
        return with_tree(corpus)

    def _learned(self) -> Learned:
        return {"columns": self.n_columns_}

    def _set_learned(self, counts: Counts, learned: Learned, arrays: Arrays) -> None:
        n = learned.get("columns")
        if type(n) is not int or not 1 <= n <= 99:
            raise ValueError(f"tokens of {n!r:.60} columns")
        if any(atom.n_columns > n + 1 for c in parse_all(self.contexts) for atom in c.atoms):
            raise ValueError(f"a context looks at more than the {n} columns that there are")
        self.n_columns_ = n
        super()._set_learned(counts, learned, arrays)

    @staticmethod
    def _mean(
        models: Sequence[Any], shares: Sequence[float], labels: Sequence[str]
    ) -> tuple[Learned, Arrays]:
        if len({model.n_columns_ for model in models}) > 1:
            raise InputError("models of different numbers of columns do not merge")
        return models[0]._learned(), Tagger._mean(models, shares, labels)[1]

    def word_entries(self, word: str) -> list[WordEntry]:
        raise InputError(f"{word!r:.60} by itself hangs on no tree: corate explain shows what a sentence has")
