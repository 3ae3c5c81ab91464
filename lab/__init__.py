"""What experiments and benchmarks share.

    corpora   the corpora and their splits         children   commands as child processes, and what they cost
    peers     taggers of other projects            store      results that are kept, as JSON
    rows      column files, read plainly           terminal   arguments, progress, errors as one line
    machine   what the figures were measured on    tables     for a terminal and for a page
    pictures  matplotlib, as SVG                   templates  of pages

Everything runs as a module from the root of the repository: `python -m experiments.pos --data DIR`.
"""
