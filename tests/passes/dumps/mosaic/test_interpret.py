"""Kernels of the installed JAX, lowered without a TPU compiler, have the results of interpret mode."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from passes.dumps.make_portable import make_portable
from passes.framework.base import Report
from tests.corpus.kernels import KERNELS, KernelProgram
from tests.corpus.make_mosaic_dumps import interpret
from tests.passes.dump_files import UNOPTIMIZED
from tests.passes.dumps.mosaic.test_dumps import distance

NAMES = ("softmax_of_rows", "carried_through_a_loop", "histogram_of_scalars")


def lowered(program: KernelProgram, inputs: list[Any]) -> str:
    """Returns the HLO of a program for a TPU, before compilation."""
    traced = jax.jit(program.function).trace(*inputs)
    return str(traced.lower(lowering_platforms=("tpu",)).as_text("hlo"))


@pytest.mark.parametrize("name", NAMES)
def test_lowered_kernels_equal_interpret_mode(name: str, worker: Worker) -> None:
    program = KERNELS[name]
    inputs = program.draw_inputs()
    module = parse_module(lowered(program, inputs), name)
    make_portable(module, Report(), unwritten="poison")
    outputs = worker.run(prepare(module, name), [inputs], options=UNOPTIMIZED)[0]
    found = [distance(np.asarray(a), b) for a, b in zip(outputs, interpret(program, inputs), strict=True)]
    assert max(found) <= program.tolerance
