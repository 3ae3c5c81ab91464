"""corate and its peers on the same files in one run, and what it costs to change a model."""
