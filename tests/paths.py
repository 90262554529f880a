"""Paths of the repository, of its own corpora, and of data that may be beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN_CORPUS = ROOT / "tests" / "corpus"
# Data that is not part of the repository. A test that reads a path of it has the mark `shared(path)`: it is skipped,
# saying so, where that path is absent, and `pytest -m shared` selects it.
SHARED_DATA = ROOT.parent / "shared"
