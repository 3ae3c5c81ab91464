"""Who does the counting: `base` says what an engine is, every other module is one. They give equal `Counts`
for the same sentences, and know nothing of one another.
"""
