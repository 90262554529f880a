"""Passes inside XLA's own compilation: JAX passes the HLO to a pipeline before scheduling, and compiles the result.

XLA does not verify the result, so it is verified here. This works on the CPU, where XLA has fused and laid out the
module by then, and does not support tiles. A pipeline must therefore expand all tiles (`expand-tiling`), keep the
entry's parameters and results, and leave an op as the root.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from jax.errors import JaxRuntimeError
from jax.extend import xla

from dialect_utils.execution import hlo_proto_to_text, hlo_text_to_proto
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.memory.sharing import elements
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.bitcasts.expand_bitcasts import expand_bitcasts
from passes.dumps.inline_fusions import inline_fusions
from passes.framework.pipeline import Pipeline, verify
from relayout.api import PipelineLike, as_pipeline

_NUMBERS = count()
# Emitters of fusions accept only ops that XLA itself fuses, and the meaning of a bitcast depends on layouts that passes
# change: both are rewritten first.
_UNDO = Pipeline((inline_fusions, expand_bitcasts))
# Operations that overwrite their first operand.
_IN_PLACE = ("dynamic-update-slice", "scatter", "while")


@dataclass(slots=True)
class Applied:
    """The modules that were compiled while passes were applied, each before and after the passes, and notes.

    `errors` are the exceptions of the passes, which JAX reports as text only.
    """

    modules: list[tuple[Module, Module]] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)


@contextmanager
def apply_passes(passes: PipelineLike) -> Iterator[Applied]:
    """Runs a pipeline inside XLA's compilation for the CPU of all functions jitted within.

    Functions compiled before are not compiled again, and functions compiled within stay compiled afterwards
    (`jax.clear_caches()` drops them). Other threads that compile meanwhile are affected, too. Raises DiagnosticError
    where a pass rejects a module, or XLA cannot compile the result. Inside, the compiling call raises JaxRuntimeError.

    >>> import jax, jax.numpy as jnp
    >>> with relayout.jax.apply_passes("annotate-layouts{target=tpu-v5e},expand-tiling") as applied:
    ...     doubled = jax.jit(lambda x: x * 2)(jnp.ones((3, 5)))
    >>> len(applied.modules) > 0, doubled.sum().item()
    (True, 30.0)
    """
    pipeline, applied = as_pipeline(passes), Applied()
    name = f"relayout-{next(_NUMBERS)}"

    def transform(data: bytes) -> bytes | None:
        try:
            before = parse_module(hlo_proto_to_text(data, "<compilation>"), "<compilation>")
            result = pipeline.run(_UNDO.run(before).module)
            _check_taken(before, result.module)
            applied.modules.append((before, result.module))
            applied.notes += result.notes
            return hlo_text_to_proto(result.module.text()) if result.modified else None
        except Exception as error:
            applied.errors.append(error)
            raise

    xla.register_hlo_module_transformation(transform, name=name, platforms="cpu")
    try:
        yield applied
    except JaxRuntimeError as reported:
        # JAX adds the status and a traceback of this file to the text of the exception that it reports.
        own = next((each for each in reversed(applied.errors) if str(each) in str(reported)), None)
        if own is None:
            raise
        raise own from None
    finally:
        xla.clear_hlo_module_transformation(name, platforms="cpu")


def _check_taken(before: Module, after: Module) -> None:
    """Raises DiagnosticError for modules that XLA accepts without an error, but then crashes on or miscomputes."""
    verify(after)
    if _interface(after) != _interface(before):
        hint = "a pipeline may change no parameter or result, nor their layouts: interface=logical"
        raise DiagnosticError(Diagnostic("the entry has other parameters or results than JAX calls", hint=hint))
    tiled = next((value for value in after.values() if any(each.is_tiled for each in value.shape.arrays())), None)
    if tiled is not None:
        message = f"{tiled.name} is {tiled.shape}: XLA:CPU takes tiles and computes without them"
        raise DiagnosticError(Diagnostic(message, tiled.location, hint="let expand-tiling run last"))
    new = _hazards(after) - _hazards(before)
    if new:
        raise DiagnosticError(
            Diagnostic(f"XLA:CPU cannot take {min(new)}: it places buffers as if copies kept them apart")
        )


def _interface(module: Module) -> list[list[Shape]]:
    """Returns the shapes of the entry's parameters and results; a scalar's layout counts as written."""
    return [[shape.map_arrays(_with_scalar_layout) for shape in shapes] for shapes in module.entry_layout]


def _with_scalar_layout(array: ArrayShape) -> ArrayShape:
    return array if array.dimensions else array.with_effective_layout


def _hazards(module: Module) -> set[str]:
    """Returns the constructs on which XLA:CPU hangs, aborts or overwrites an argument, for lack of a copy."""
    found = set()
    returned = list(elements(module.entry.results))
    for value in returned:
        if value.operation is None or value.operation.opcode in ("constant", "parameter"):
            found.add("a parameter or constant as a result")
        if returned.count(value) > 1:
            found.add("one value as two results")
    for operation in module.operations():
        if operation.opcode in _IN_PLACE and operation.operands[0].operation is None:
            found.add(f"a {operation.opcode} of a parameter")
    return found
