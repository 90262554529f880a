"""Dumps that XLA:GPU's compiler wrote are printed byte for byte, verified, run, and compared with JAX on a CPU."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.campaign_gpu import outcome
from tests.conftest import Workers
from tests.paths import OWN_CORPUS

CORPUS = OWN_CORPUS / "gpu_dumps"
NAMES = sorted(path.parent.name for path in CORPUS.glob("*/gpu.hlo"))


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_computes_what_its_program_does(name: str, workers: Workers) -> None:
    assert outcome(CORPUS / name, workers) == "matches"


PLANTED = [
    ("fused_attention", '"mask_type": "CAUSAL"', '"mask_type": "NO_MASK"'),
    ("fused_attention", '"sliding_window_length": 5', '"sliding_window_length": 4'),
    ("fused_attention_gradient", '"fmha_scale": 0.17', '"fmha_scale": 0.18'),
    ("fused_attention_with_lengths", "PADDING_CAUSAL", "PADDING"),
    ("layers_of_eighths", "add(", "min("),
    ("layers_of_eighths", "max(", "min("),
    ("product_of_blocks_with_scales", "dimensions={1,4,0,3,2,5}", "dimensions={1,4,0,2,3,5}"),
    ("gpu_singular_values_by_other_methods", "transposed = true", "transposed = false"),
    ("gpu_vectors_themselves", "compute_uv = true", "compute_uv = false"),
    ("every_collective", "replica_groups={{0,1,2,3}}", "replica_groups={{1,0,2,3}}"),
    ("layers_with_biases", '"epilogue":"BIAS', '"epilogue":"RELU_BIAS'),
]


@pytest.mark.parametrize(("name", "right", "wrong"), PLANTED)
def test_a_planted_mistake_is_found(name: str, right: str, wrong: str, tmp_path: Path, workers: Workers) -> None:
    folder = tmp_path / name
    shutil.copytree(CORPUS / name, folder)
    text = (folder / "gpu.hlo").read_text("utf-8")
    assert right in text
    (folder / "gpu.hlo").write_text(text.replace(right, wrong))
    assert outcome(folder, workers) != "matches"
