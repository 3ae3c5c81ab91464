"""Co-occurrence rates on graphs: the algebra, and networks of tables.

>>> from corate.graph import factorise
>>> print(factorise([("rain", "wet"), ("wet", "slippery")]).product)
P(rain) · P(slippery) · P(wet) · CR(rain; wet) · CR(slippery; wet)
"""

from corate.models.graph.algebra import Joint, Probability, Product, Rate
from corate.models.graph.answers import Anomaly
from corate.models.graph.derivation import Derivation, Step, factorise
from corate.models.graph.network import RateNetwork

__all__ = [
    "Anomaly", "Derivation", "Joint", "Probability", "Product", "Rate", "RateNetwork", "Step", "factorise",
]  # fmt: skip
