"""The formats that are read and written, a line for each: its name, which is also its module's in `formats/`,
and its class. They are written here and not there, so that `corate --help` need not import NumPy.
"""

FORMAT_CLASSES = {
    "conll": "Conll",
    "conllu": "Conllu",
    "wordtag": "WordTag",
    "jsonl": "Jsonl",
    "text": "Text",
    "crfpp": "Crfpp",
    "crfsuite": "Crfsuite",
}
