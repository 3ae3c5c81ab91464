"""The contexts that models take when none are named."""

from __future__ import annotations

from corate.contexts.template import (
    Context,
    parse_all,
)
from corate.text.corpus import Corpus

# The spelling features of the papers, for words that training never saw.
SPELLING = ("initial", "hyphen", "ending")


# What Lafferty et al. (2001) look at: the word and its spelling; the classical models take it by default.
LAFFERTY = ("word", *SPELLING)


# The contexts of the Tagger, for words alone; chosen on held-out data (Brown, CoNLL-2002 Dutch testa).
WORDS = (
    *("shape", "tail1", "tail2", "tail3", "tail4", "tail5", "word", "lower", "suffix6", "suffix8", "prefix3"),
    *("tail3-1", "word-1", "word+1", "word-2", "word+2"),
    *("word-2,word-1", "word-1,word", "word,word+1", "word-1,word+1"),
    *("shape-1,shape,shape+1", "shape-2,shape-1,shape"),
    *("tail2-1,shape,tail2", "tail2,shape,tail2+1", "word-1,shape"),
    "pair:tail3-1",
)


# What is added for every further column, such as parts of speech for chunks and names.
COLUMN = (
    *(
        "{c}",
        "{c}-1",
        "{c}+1",
        "{c}-1,{c}",
        "{c},{c}+1",
        "{c}-1,{c},{c}+1",
        "{c}-2,{c}-1,{c}",
        "{c},{c}+1,{c}+2",
    ),
    *("{c},word", "{c}-1,{c},word", "{c},word,{c}+1", "word-1,{c}", "{c},word+1"),
)


def default_contexts(corpus: Corpus) -> list[Context]:
    """Those of words, those of further columns where there are any; each key where tokens are features."""
    if corpus.keys:
        return [Context.of_feature(key) for key in corpus.keys]
    columns = (f"col{k}" for k in range(2, len(corpus.columns) + 1))
    return parse_all([*WORDS, *(name.format(c=column) for column in columns for name in COLUMN)])
