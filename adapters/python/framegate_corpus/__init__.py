"""Framegate's corpus of hostile MCP frames, for the tests of a server's own project.

Belongs here: the names of the package. Does not belong here: what they do.
"""

from .check import EffectObserved, Failure, Hung, Inconclusive, Target, Unavailable
from .corpus import Case, CorpusError, load

__all__ = [
    "Case",
    "CorpusError",
    "EffectObserved",
    "Failure",
    "Hung",
    "Inconclusive",
    "Target",
    "Unavailable",
    "load",
]
