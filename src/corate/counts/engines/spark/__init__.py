"""Count on a cluster. Every task counts its partition in memory; one GROUP BY SUM puts the tables together.

session    a session of Spark, where the caller has none; what goes wrong, in one line
pieces     a DataFrame or an RDD as sentences, piece by piece
files      text files, cut between sentences
rows       tables of counts as rows of Arrow, and back
engine     the counting itself
"""
