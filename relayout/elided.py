"""Constants that two modules elide, as values that are unknown and equal in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.hlo.text.literals import format_scalar, parse_scalar
from dialect_utils.ir import Module, array_shape
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.elided import elided_constants
from passes.dumps.executable import checked_form, defined_form

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.verdict import Options, Verdict

# The target of a custom call that stands for an unknown value ends in the name of the constant.
_UNKNOWN = "relayout.elided."
# Whole numbers have at most so many bits: they may be indices.
_BITS = 4


def compare_forms(
    stages: Sequence[Module], options: Options, worker: Worker | None = None, *, assume_equal: bool = False
) -> Verdict:
    """Returns `compare_stages` of forms of a module, which may be optimized dumps.

    `assume_equal`: elided constants of one name and shape have equal values. A proof takes such a value for an unknown
    one, and engines get random numbers. Raises DiagnosticError where no constant is elided in the first and in the last
    module.
    """
    from dialect_utils.verdict import compare_stages

    if assume_equal:
        return _compared_with_unknowns(stages, options, worker)
    try:
        return compare_stages(stages, options, worker, executable=checked_form, defined=defined_form)
    except DiagnosticError as error:
        known = _common(stages[0], stages[-1])
        if not known:
            raise
        count = f"{len(known)} constants are" if len(known) > 1 else "a constant is"
        message = f"{count} elided in both texts under one name; --assume-elided-equal assumes equal values"
        raise DiagnosticError([Diagnostic(message), *error.diagnostics]) from None


def is_elided_in_both(first: Module, second: Module) -> bool:
    """Is true where both modules elide a constant of one name and shape."""
    return bool(_common(first, second))


def _compared_with_unknowns(stages: Sequence[Module], options: Options, worker: Worker | None) -> Verdict:
    from dialect_utils.verdict import compare_stages
    from dialect_utils.verdict.outcome import PROOF

    known = _common(stages[0], stages[-1])
    if not known:
        message = "no elided constant of the first module has the name and the shape of one of the second"
        hint = "print both modules with all values: --xla_dump_large_constants"
        raise DiagnosticError(message, hint=hint)
    verdict = compare_stages(
        [_with_unknowns(stage, known) for stage in stages], options, worker, executable=_executable
    )
    # Engines saw one value of each constant.
    is_open = verdict.verdict == "equal" and PROOF not in verdict.methods
    return replace(verdict, verdict="agrees" if is_open else verdict.verdict, elided=len(known))


def _common(first: Module, last: Module) -> set[tuple[str, str]]:
    """Returns the keys of elided constants that both modules have; StableHLO has no names for them."""
    if not isinstance(first, HloModule) or not isinstance(last, HloModule):
        return set()
    ours, theirs = (Counter(map(_key, elided_constants(module))) for module in (first, last))
    # Two constants of one module may have one name, in different computations.
    return {key for key, count in ours.items() if count == theirs[key] == 1}


def _key(item: Instruction) -> tuple[str, str]:
    return item.name.removeprefix("%"), str(array_shape(item).without_layout)


def _with_unknowns(module: Module, known: set[tuple[str, str]]) -> Module:
    """Returns a module with calls in place of constants; a call of one target has one value."""
    assert isinstance(module, HloModule)  # _common finds constants in HLO only
    module = module.clone()
    for item in elided_constants(module):
        if _key(item) in known:
            ops = Ops(item)
            ops.finish(
                ops.emit("custom-call", item.shape, attributes={"custom_call_target": f'"{_UNKNOWN}{_key(item)[0]}"'})
            )
    return module


def _executable(module: Module) -> Module:
    """Returns the executable form of a module, with random numbers for unknown values."""
    assert isinstance(module, HloModule)  # _with_unknowns made it
    module = module.clone()
    for item in instructions(module, "custom-call"):
        target = item.callee or ""
        if target.startswith(_UNKNOWN):
            ops = Ops(item)
            ops.finish(ops.emit("constant", item.shape, inner=_random_literal(target, array_shape(item))))
    return checked_form(module)


def _random_literal(name: str, shape: ArrayShape) -> str:
    """Returns the text of random numbers, the same ones for the same name and dimensions."""
    kind, rng = shape.element_type, Random(name)
    if kind.is_complex:
        raise DiagnosticError(f"no random numbers exist for an elided constant of {shape}")
    largest = (1 << min(_BITS, kind.bits - kind.is_signed)) - 1
    numbers = (rng.gauss(0, 1) if kind.is_floating else rng.randint(0, largest) for _ in range(shape.element_count))
    texts = [format_scalar(kind, parse_scalar(kind, repr(number))) for number in numbers]
    for size in reversed(shape.dimensions):
        texts = ["{" + ", ".join(texts[i : i + size]) + "}" for i in range(0, len(texts), size)]
    return "".join(texts)
