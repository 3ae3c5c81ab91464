"""NLTK's way to train and to judge a tagger, with NLTK's HMM and with corate in its place.

pip install corate nltk
python examples/nltk_tagging.py
"""

from __future__ import annotations

from nltk.tag import hmm
from nltk.tag.api import TaggerI

import corate
from corate.adapters.nltk import CorateTagger

TRAIN = 300  # sentences; the rest is for testing


def main() -> None:
    sentences, labels = corate.load_sample()
    tagged = [[*zip(words, tags, strict=True)] for words, tags in zip(sentences, labels, strict=True)]
    train, test = tagged[:TRAIN], tagged[TRAIN:]
    theirs: TaggerI = hmm.HiddenMarkovModelTagger.train(train)
    ours: dict[str, TaggerI] = {
        "corate, HMM": CorateTagger.train(train, corate.HMM()),
        "corate, Tagger": CorateTagger.train(train),
    }
    print(f"{'NLTK, HMM':<16}{theirs.accuracy(test):.4f}")
    words = ["The", "dog", "saw", "her", "."]
    for name, tagger in ours.items():
        print(f"{name:<16}{tagger.accuracy(test):.4f}   {tagger.tag(words)}")
        assert isinstance(tagger, TaggerI)
        assert [word for word, _ in tagger.tag(words)] == [word for word, _ in theirs.tag(words)]
        assert tagger.tag_sents([words, words[:2]]) == [tagger.tag(words), tagger.tag(words[:2])]
        assert tagger.accuracy(test) > theirs.accuracy(test)
    matrix = ours["corate, Tagger"].confusion(test)
    print(f"as NLTK's confusion matrix: {matrix['NOUN', 'NOUN']} nouns are right")
    assert matrix["NOUN", "NOUN"] > 50


if __name__ == "__main__":
    main()
