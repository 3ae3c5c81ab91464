"""corate in the shapes of other tools, a file a tool; each imports its tool where it is used.

crfsuite    `CRF` and the metrics of sklearn-crfsuite
spacy       components of spaCy's pipelines, corate_ner and corate_tagger
docbin      spaCy's binary documents as sentences, and sentences as documents
nltk        a `TaggerI` of NLTK
seqeval     seqeval's report and scores
pandas      data frames with a row for each token
"""
