"""corate in the shapes of other tools, a file a tool; each imports its tool where it is used.

crfsuite    `CRF` and the metrics of sklearn-crfsuite
"""
