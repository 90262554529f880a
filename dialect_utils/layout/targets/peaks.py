"""Peak figures of TPU chips, for rooflines: products of bf16 matrices and bytes of main memory per second.

Source: the pages of the versions in Google Cloud's documentation (cloud.google.com/tpu/docs/v2 to v6e and tpu7x, as of
2026). Figures are of one chip; v2 and v3 chips have two devices, which share them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "cloud.google.com/tpu/docs"


@dataclass(frozen=True, slots=True)
class Peak:
    """What one device does at most in a second."""

    flops: float
    bytes: float


PEAKS: Mapping[str, Peak] = {
    "tpu-v2": Peak(46e12 / 2, 700e9 / 2),
    "tpu-v3": Peak(123e12 / 2, 900e9 / 2),
    "tpu-v4": Peak(275e12, 1228e9),
    "tpu-v5e": Peak(197e12, 819e9),
    "tpu-v5p": Peak(459e12, 2765e9),
    "tpu-v6e": Peak(918e12, 1640e9),
    "tpu7x": Peak(2307e12 / 2, 7380e9 / 2),
}
