"""One module that XLA hands over inside of its compilation: passes, verification, proof, and the bytes to give back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dialect_utils.engine_names import suffices
from dialect_utils.execution import hlo_proto_to_text, hlo_text_to_proto
from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.hlo.kept import changes
from dialect_utils.io.proto_edits import LostFieldError, merge_protos
from dialect_utils.io.protos import has_device_assignment
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.memory.sharing import elements
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.bitcasts.expand_bitcasts import expand_bitcasts
from passes.dumps.inline_fusions import inline_fusions
from passes.framework.pipeline import Pipeline, verify

if TYPE_CHECKING:
    from dialect_utils.verdict import Verdict

_NAME = "<compilation>"
_CPU = "cpu"
_ALIASES = "output_to_operand_aliasing"
# The shares of the proof and of the execution in the time of a module.
_SHARE = 0.4
# XLA:CPU's emitters of fusions accept only ops that XLA itself fuses, and the meaning of a bitcast depends on layouts
# that passes change: both are rewritten first.
_UNDO = Pipeline((inline_fusions, expand_bitcasts))
# Facts that no pass may change; some passes change the order of a schedule, or other attributes, on purpose.
_PROMISED = ("scheduled", "aliases", "memory-spaces", "control-dependencies")
# Operations that overwrite their first operand.
_IN_PLACE = ("dynamic-update-slice", "scatter", "while")


@dataclass(frozen=True, slots=True)
class Handed:
    """A module that the compiler of a platform hands over: its bytes, and the module in them.

    `is_part`: XLA:GPU compiles some fusions as modules of their own, which have no devices.
    """

    platform: str
    data: bytes
    module: HloModule
    is_part: bool

    @classmethod
    def read(cls, platform: str, data: bytes) -> Handed:
        """Reads a serialized HloModuleProto; raises DiagnosticError for bytes that cannot be read."""
        module = parse_module(hlo_proto_to_text(data, _NAME), _NAME)
        return cls(platform, data, module, platform == "cuda" and not has_device_assignment(data))


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A module after passes, and the passes' notes; `data` are the bytes to give back, None where nothing changed."""

    module: Module
    notes: tuple[Diagnostic, ...]
    data: bytes | None = None
    verdict: Verdict | None = None


def rewrite(handed: Handed, pipeline: Pipeline, require: str | None, seconds: float) -> Rewritten:
    """Runs passes on a module, verifies the result, and proves it equal.

    `require` is the weakest answer that suffices, as for `check`, None where the caller judges the result; `seconds`
    limit the comparison. The bytes keep
    everything that the text does not say. Raises DiagnosticError where a pass rejects the module, and for a result
    that may not be given back.
    """
    given = _UNDO.run(handed.module).module if handed.platform == _CPU else handed.module
    result = pipeline.run(given)
    if not result.modified:
        return Rewritten(result.module, result.notes)
    _check_taken(handed, result.module)
    _check_kept(given, result.module)
    verdict = None if require is None else _sufficient_verdict(handed.module, result.module, require, seconds)
    aliases = [_unreadable_aliases(each) for each in (handed.module, result.module)]
    try:
        if not aliases[1].items() <= aliases[0].items():
            raise LostFieldError("jaxlib reads no aliases of an all-reduce-start")
        printed, changed = (hlo_text_to_proto(_without_aliases(each)) for each in (handed.module, result.module))
        data = merge_protos(handed.data, printed, changed)
    except LostFieldError as error:
        raise DiagnosticError(f"{handed.module.name} cannot be given back: {error}") from None
    return Rewritten(result.module, result.notes, data, verdict)


def _sufficient_verdict(before: Module, after: Module, require: str, seconds: float) -> Verdict:
    """Returns a verdict that suffices; raises DiagnosticError for another one.

    Execution, which takes more time than a proof, follows only where an answer without proof suffices.
    """
    from dialect_utils.verdict import Options
    from relayout.elided import compare_forms

    proof = Options(("proof",), proof_seconds=seconds * _SHARE, over_reals=False)
    runs = Options(power=0, proof_seconds=seconds * _SHARE, timeout=seconds * _SHARE)
    for options in (proof, runs) if suffices("agrees", (), require) else (proof,):
        found = compare_forms([before, after], options)
        if suffices(found.verdict, found.choices, require):
            return found
    said = "; ".join(found.lines(("before the passes", "after them")))
    raise DiagnosticError(f"the passes' result is not known to be {require}: {said}")


def _unreadable_aliases(module: Module) -> dict[str, str]:
    """Returns the aliases, by the names of operations, that XLA:GPU prints and XLA's parser rejects."""
    starts = [each for each in module.operations() if each.opcode == "all-reduce-start"]
    return {each.results[0].name: text for each in starts if (text := each.attribute(_ALIASES)) is not None}


def _without_aliases(module: Module) -> str:
    """Returns the text without the aliases that XLA's parser rejects; a serialized module keeps them."""
    if not _unreadable_aliases(module):
        return module.text()
    copy = module.clone()
    for each in copy.operations():
        if each.opcode == "all-reduce-start":
            each.set_attribute(_ALIASES, None)
    return copy.text()


def _check_taken(handed: Handed, after: Module) -> None:
    """Raises DiagnosticError for a module that XLA accepts without an error, but then crashes on or miscomputes."""
    verify(after)
    if _interface(after) != _interface(handed.module):
        hint = "a pipeline may change no parameter or result, nor their layouts: interface=logical"
        raise DiagnosticError("the entry has other parameters or results than JAX calls", hint=hint)
    given, now = devices_of(handed.module), devices_of(after)
    if now.count > given.count and now.dependent is not None:
        message = f"{now.named}, but the program is compiled for {given.count}"
        raise DiagnosticError(message, now.dependent.location)
    if handed.platform == _CPU:
        _check_taken_by_cpu(handed.module, after)


def _check_kept(before: Module, after: Module) -> None:
    """Raises DiagnosticError where passes change a fact of which values, and so a proof, say nothing."""
    lost = [each for fact in _PROMISED for each in changes(fact, before, after)]
    if lost:
        hint = "XLA and JAX rely on it, and no proof about values covers it: keep it"
        raise DiagnosticError([replace(lost[0], hint=hint), *lost[1:]])


def _check_taken_by_cpu(before: Module, after: Module) -> None:
    tiled = next((value for value in after.values() if any(each.is_tiled for each in value.shape.arrays())), None)
    if tiled is not None:
        message = f"{tiled.name} is {tiled.shape}: XLA:CPU takes tiles and computes without them"
        raise DiagnosticError(message, tiled.location, hint="let expand-tiling run last")
    new = _hazards(after) - _hazards(before)
    if new:
        raise DiagnosticError(f"XLA:CPU cannot take {min(new)}: it places buffers as if copies kept them apart")


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
