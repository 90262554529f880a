"""Programs for several devices, each with the program for one device that it has to compute."""

from tests.corpus.sharded import automatic, manual, texts
from tests.corpus.sharded.registry import SHARDED, Form, Sharded

__all__ = ["SHARDED", "Form", "Sharded", "automatic", "manual", "texts"]
