"""Readers and writers of labelled text, streaming.

    path ──lines──► blocks of lines ──detect──► Format.read ──reader──► Sentence ──► Corpus
                                                Format.write ◄──────────────┘

    for sentence in (reader := read("train.conll")):            # sentence.words, .columns, .labels
        print(reader.format.write(sentence, labels=...), end="")    # comments and all other lines survive

`conll` (CoNLL columns, CRF++), `conllu`, `wordtag` (word/tag), `jsonl` and `text` each have a module that
explains the format; how a file's format is found is written in `detect`. Output always ends in a newline,
also where the last line of the input does not.
"""

from corate.text.formats.base import Format, Sentence
from corate.text.formats.by_name import FORMATS, open_format
from corate.text.formats.detect import detect
from corate.text.formats.lines import open_lines
from corate.text.formats.reader import Reader, read, read_chunks, read_corpus

__all__ = [
    "FORMATS",
    "Format",
    "Reader",
    "Sentence",
    "detect",
    "open_format",
    "open_lines",
    "read",
    "read_chunks",
    "read_corpus",
]
