"""Conversion of optimized dumps into modules that the engines execute: without tiles, fusions and TPU custom calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import Module, Operation, array_shape
from dialect_utils.ops import Trait, named, split_asynchronous, with_trait
from dialect_utils.ops.device_counts import with_devices
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.custom_calls.boundaries import with_parts
from passes.dumps.sorts import expand_stable_topk, with_stability
from passes.framework.base import Pass, load_pass

if TYPE_CHECKING:
    from passes.dumps.host_callbacks import HostCallback


_PORTABLE = "make-portable"
_COMPILED = with_trait(Trait.COMPILED)
_BETWEEN_PARTITIONS = with_trait(Trait.AMONG_DEVICES) - {"replica-id"}
_SHARDY = "xla.sdy."
# StableHLO lacks these; jaxlib converts them to operations that it does not read.
_LACKING = named("acos acosh asin asinh atanh cosh mulhi sinh")
# Aliasing does not change results, and XLA aborts on aliased tuple elements.
_BUFFERS = ("input_output_alias", "buffer_donor")


def is_optimized_dump(module: Module) -> bool:
    """Is true for HLO as a compiler leaves it: scheduled, partitioned, or with fusions, bitcasts, kernels or libraries.

    JAX itself has the libraries of GPUs compute factorizations, so such a module may be one before optimization.
    """
    if module.dialect != "hlo":
        return False
    if module.attributes.get("is_scheduled") == "true":
        return True
    operations = list(module.operations())
    opcodes = {operation.opcode for operation in operations}
    # Partitions that communicate; XLA runs a module without communication on one device.
    if module.attributes.get("num_partitions", "1") != "1" and opcodes & _BETWEEN_PARTITIONS:
        return True
    if opcodes & _COMPILED or any(split_asynchronous(opcode)[1] for opcode in opcodes):
        return True
    return "custom-call" in opcodes and any(map(_is_kernel, operations))


def as_program(module: Module) -> Module:
    """Returns the StableHLO of a program, which compilers take; raises DiagnosticError for a compiled one."""
    # A local import, because most modules are not compiled again.
    from dialect_utils.tools.conversion import check_known, in_dialect_of

    check_known(module)
    try:
        if module.dialect != "hlo" or module.attributes.get("is_scheduled") != "true":
            return in_dialect_of("stablehlo", module)
    except DiagnosticError:
        if not is_optimized_dump(module):
            raise
    message = f"{module.name} is compiled already, and a target is what a program is compiled for"
    hint = "relayout report FILE reads what a compiler wrote; jax.jit(f).lower(...).as_text() is the program before it"
    raise DiagnosticError(message, hint=hint)


def _is_kernel(operation: Operation) -> bool:
    """Is true for a call that a compiler of TPUs or GPUs writes between passes, too: no engine has it."""
    # Local imports, because most modules have no kernel.
    from dialect_utils.execution.custom_calls import runs_anywhere
    from dialect_utils.mosaic.decode import TARGET
    from passes.dumps.expand_custom_calls import EXPANSIONS

    target = operation.callee or ""
    if target == "TopK" and operation.opcode == "custom-call":
        # XLA:CPU has it for f32 only.
        return any(array.element_type.name != "f32" for array in operation.operands[0].shape.arrays())
    return target == TARGET or (target in EXPANSIONS and not runs_anywhere(target))


def _without_libraries(module: Module) -> Module:
    """Returns StableHLO that calls a library of GPUs as HLO, in which the pass expands the call; others unchanged."""
    if module.dialect == "hlo" or not any(
        each.opcode == "custom-call" and _is_kernel(each) for each in module.operations()
    ):
        return module
    # A local import, because most modules stay in their dialect.
    from dialect_utils.tools.conversion import in_dialect_of

    return in_dialect_of("hlo", module)


def with_given_data(module: Module, told: Callable[[Sequence[Diagnostic]], None]) -> Module:
    """Returns the module, or one that has parameters and results in place of transfers from and to other programs.

    `told` is called with a note for each. Raises DiagnosticError for a transfer that the pass does not support.
    """
    if not isinstance(module, HloModule):
        return module
    # A local import, because most modules need no pass.
    from passes.dumps.replace_transfers import replace_transfers, transfers

    if not transfers(module):
        return module
    result = replace_transfers.run(module)
    told(result.notes)
    return result.module


def executable_form(
    module: Module,
    step: Pass | None = None,
    told: Callable[[Sequence[Diagnostic]], None] | None = None,
    *,
    always: bool = False,
) -> Module:
    """Returns the module, or for an optimized dump the result of the pass make-portable (`step`: with options).

    `told` is called with the pass's notes, `always` runs the pass on other modules, too. Raises DiagnosticError for a
    dump that the pass does not support. The header then counts the devices that the text names.
    """
    found = with_devices(_without_libraries(with_parts(module)))
    if always or is_optimized_dump(found):
        result = (step or load_pass(_PORTABLE)).run(found)
        found = result.module
        if told is not None:
            told(result.notes)
    return _readable(found) if isinstance(found, HloModule) else found


def _readable(module: HloModule) -> HloModule:
    """Returns a module in the form that every jaxlib reads without a crash; the same object if it is in that form."""
    buffers = [name for name in _BUFFERS if name in module.attributes]
    ordered = [item for item in instructions(module, "compare") if item.attribute("order") is not None]
    lacking = instructions(module, *_LACKING)
    is_new = buffers or ordered or lacking or with_stability(module) or _shardings(module) or module.hides_instructions
    if not is_new and module.has_callees_first:
        return module
    module = module.clone()
    if lacking:
        # A local import, because most modules have no such operation.
        from passes.dumps.portable_ops import expand_elementary_functions

        expand_elementary_functions(module)
    expand_stable_topk(module)
    _drop_shardings(module)
    _write_orders_as_types(module)
    for name in buffers:
        module.set_attribute(name, None)
    # jaxlib before 0.12 cannot read `%t#0`.
    module.give_lines()
    module.sort_callees_first()
    return module


def _shardings(module: HloModule) -> list[Instruction]:
    """Returns the calls by which Shardy tells the compiler how values are sharded."""
    return [item for item in instructions(module, "custom-call") if (item.callee or "").startswith(_SHARDY)]


def _drop_shardings(module: HloModule) -> None:
    """Replaces each call of Shardy by its operand, in place; raises DiagnosticError for one of other shapes."""
    for item in _shardings(module):
        # A local import, because most modules have no such call.
        from passes.dumps.custom_calls.tpu_calls import TPU_EXPANSIONS

        if item.callee in TPU_EXPANSIONS:
            ops = Ops(item)
            ops.finish(TPU_EXPANSIONS[item.callee](ops, item))


def _write_orders_as_types(module: HloModule) -> None:
    """Replaces `order=TOTAL` of floats, which jaxlib writes since 0.12, by `type=TOTALORDER`, as before."""
    for item in instructions(module, "compare"):
        order = item.attribute("order")
        item.set_attribute("order", None)
        if order == "TOTAL" and array_shape(item.operands[0]).element_type.is_floating:
            item.set_attribute("type", "TOTALORDER")


def checked_form(module: Module) -> Module:
    """Returns `executable_form` with poison in memory that kernels do not write, so that no result may depend on it."""
    module = _without_libraries(with_parts(module))
    if not is_optimized_dump(module):
        return executable_form(module)
    # A local import, because only dumps need a pass.
    from passes.dumps.make_portable import make_portable

    return executable_form(module, make_portable.with_options(unwritten="poison"))


def defined_form(module: Module) -> Module:
    """Returns the module with ops in place of each known call of a GPU's libraries; without such a call, itself."""
    if not isinstance(module, HloModule) or not instructions(module, "custom-call"):
        return module
    # A local import, because most modules have no such call.
    from passes.dumps.expand_custom_calls import with_library_calls_defined

    return with_library_calls_defined(module)


@dataclass(frozen=True, slots=True)
class Known:
    """The user's statements about a dump, each as `NAME=...`: functions of the host, custom calls, and constants."""

    callbacks: tuple[str, ...] = ()
    custom_calls: tuple[str, ...] = ()
    constants_like: Path | None = None


@dataclass(frozen=True, slots=True)
class Runnable:
    """A program as the user knows it, its executable form, and its host calls that are errors only if they run."""

    program: Module
    module: Module
    watched: Sequence[HostCallback]

    def own_results(self, results: list[Any]) -> list[Any]:
        """Returns the results without the number of a watched call that ran, which the executable form returns last."""
        return results[:-1] if self.watched else results

    def check_ran(self, outputs: Sequence[Any]) -> None:
        """Raises DiagnosticError where a watched call ran, since the outputs are then undefined."""
        from passes.dumps.host_callbacks import ran

        # The numbers of watched calls begin at 1.
        if self.watched and (number := int(outputs[-1].max())):
            raise DiagnosticError(ran(self.watched[number - 1]))


def runnable(program: Module, known: Known, told: Callable[[Sequence[Diagnostic]], None]) -> Runnable:
    """Returns a program in its executable form; `told` is called with the notes about it.

    Raises DiagnosticError for a dump that is not supported, and for statements about another program than HLO.
    """
    is_stated, program = known != Known(), with_parts(program)
    if is_stated and not isinstance(program, HloModule):
        raise DiagnosticError("callbacks, custom calls and constants are given for HLO, and this module is StableHLO")
    if not (isinstance(program, HloModule) and (is_stated or is_optimized_dump(program))):
        return Runnable(program, executable_form(program), ())
    from passes.dumps.host_callbacks import watched_callbacks
    from passes.dumps.make_portable import make_portable

    step = make_portable.with_options(
        custom_call=known.custom_calls,
        callback=known.callbacks,
        constants_like=known.constants_like,
        watch_callbacks=True,
    )
    watched = watched_callbacks(program, known.callbacks)
    return Runnable(program, executable_form(program, step, told, always=is_stated), watched)
