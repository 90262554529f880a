"""Proofs about random modules of data movement and arithmetic, held against numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from dialect_utils.hlo import HloModule
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.proof import ProofResult, try_prove
from passes.framework.pipeline import Pipeline, verify
from tests.passes.evaluate import evaluate
from tests.passes.random_modules import modules
from tests.verdict.proof.dialects import as_stablehlo, edits, hlo, parse

SPECS = [
    "expand-tiling",
    "expand-tiling{interface=physical}",
    "expand-tiling,propagate-physical,cancel-relayouts",
    "expand-tiling{interface=physical},propagate-physical,cancel-relayouts",
]


def prove(*stages: Module) -> ProofResult:
    return try_prove(stages)


def results(module: HloModule, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = [parameter.shape for parameter in module.entry.parameters]
    dimensions = [shape.dimensions for shape in shapes if isinstance(shape, ArrayShape)]
    return evaluate(module, [rng.integers(-(1 << 20), 1 << 20, size) for size in dimensions])


@given(modules(is_tiled=True), st.sampled_from(SPECS), st.booleans())
@settings(max_examples=60, deadline=None)
def test_pipelines_are_proved(text: str, spec: str, is_stablehlo: bool) -> None:
    module = parse(as_stablehlo(hlo(text))) if is_stablehlo else hlo(text)
    runs = Pipeline.parse(spec).run(module).runs
    found = prove(module, *(run.result.module for run in runs))
    assert found.answer == "equal", found.reason


@given(modules())
@settings(max_examples=25, deadline=None)
def test_the_same_module_in_both_forms_is_proved(text: str) -> None:
    found = prove(hlo(text), parse(as_stablehlo(hlo(text))))
    assert found.answer == "equal", found.reason


@given(modules(), st.data())
@settings(max_examples=150, deadline=None)
def test_proofs_about_changed_modules_are_right(text: str, data: st.DataObject) -> None:
    changed = data.draw(edits(text))
    try:
        first, second = hlo(text), hlo(changed)
        verify(second)
        other_form = parse(as_stablehlo(second))
    except (DiagnosticError, ValueError):
        return
    found = prove(first, second)
    assert prove(first, other_form).answer == found.answer
    are_equal = all(
        np.array_equal(a, b)
        for seed in (1, 2)
        for a, b in zip(results(first, seed), results(second, seed), strict=True)
    )
    if found.answer == "equal":
        assert are_equal
    if found.answer == "different":
        assert not are_equal
        assert found.moved is not None
        pair = [results(module, 1)[found.moved.output][found.moved.index] for module in (first, second)]
        assert pair[0] != pair[1]
