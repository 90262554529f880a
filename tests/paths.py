"""Paths of the repository, of its own corpora, and of data that may be beside it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OWN_CORPUS = ROOT / "tests" / "corpus"
# Data that is not part of the repository; what reads it is skipped, saying so, where it is absent.
SHARED_DATA = ROOT.parent / "shared"
