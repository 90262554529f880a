"""Checks the certificate of a proof, with no code of the proof."""

from dialect_utils.verdict.replay.check import Replayed, replay

__all__ = ["Replayed", "replay"]
