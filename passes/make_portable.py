"""Turns an optimized TPU or GPU dump into HLO that any XLA backend runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from dialect_utils.hlo import HloModule
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.base import Pass, Report
from passes.cpu_hazards import reduce_whole_windows, separate_scatter_operands
from passes.elementary_functions import expand_elementary_functions
from passes.elided_constants import elided_constants, take_constants
from passes.expand_bitcasts import ExpandedBitcast, expand_bitcasts
from passes.expand_custom_calls import expand_custom_calls, read_computations, read_hlo
from passes.hlo_ops import as_hlo, instructions
from passes.inline_fusions import inline_fusions
from passes.legalize_types import legalize_types
from passes.lower_convolutions import lower_convolutions
from passes.replicate_partitions import replicate_partitions
from passes.strip_layouts import strip_layouts
from passes.sync_async import sync_async

# What only the TPU compiler and its schedule mean. `is_scheduled` would forbid the order that passes leave.
_MODULE_ATTRIBUTES = (
    "is_scheduled",
    "input_output_alias",
    "buffer_donor",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
    "frontend_attributes",
)
_ATTRIBUTES = (
    "backend_config",
    "control-predecessors",
    "cross_program_prefetch_index",
    "frontend_attributes",
    "operand_precision",
    "sharding",
    "statistics",
)
_REFUSED = ("infeed", "outfeed")


@dataclass(frozen=True)
class MakePortable(Pass):
    """Turns an optimized TPU or GPU dump into HLO that any XLA backend runs.

    1. What only the target's compiler and its schedule mean is dropped.
    2. sync-async; partitions become replicas; inline-fusions; expand-custom-calls; legalize-types;
       expand-bitcasts; strip-layouts; lower-convolutions.
    3. Functions that StableHLO lacks (sinh, ...) become formulas, what XLA:CPU computes wrongly or
       slowly is written in another way, and copies, which have nothing left to do, go.

    Elided constants (`constant({...})`) are refused, unless `constants-like=FILE` names another
    dump of the module that holds them. `custom-call=NAME=module.hlo` is expand-custom-calls' option.

    Before:
        HloModule m, is_scheduled=true
        ENTRY e {
          p = f32[4,6]{1,0:T(4,128)} parameter(0)
          s = (f32[4,6]{1,0:T(4,128)S(1)}, f32[4,6]{1,0:T(4,128)}, u32[]{:S(2)}) copy-start(p)
          d = f32[4,6]{1,0:T(4,128)S(1)} copy-done(s)
          ROOT b = f32[6,4]{0,1:T(4,128)} bitcast(d)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[4,6] parameter(0)
          ROOT b = f32[6,4] transpose(p), dimensions={1,0}
        }
    """

    name: ClassVar[str] = "make-portable"
    forms = ("hlo",)

    custom_call: tuple[str, ...] = ()
    constants_like: Path | None = None

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        if self.constants_like is not None:
            take_constants(as_hlo(module), read_hlo(self.constants_like))
        make_portable(as_hlo(module), report=report, computations=read_computations(self.custom_call))

    def bitcasts(self, module: Module) -> tuple[ExpandedBitcast, ...]:
        """Returns what each bitcast of a module becomes, and how that is proved; the module stays as it is.

        Values do not matter for that: constants may be elided.
        """
        if module.form != "hlo":
            return ()
        clone = as_hlo(module.clone())
        return _until_bitcasts(clone, None, read_computations(self.custom_call))


def make_portable(
    module: HloModule, *, report: Report | None = None, computations: Mapping[str, HloModule] | None = None
) -> tuple[ExpandedBitcast, ...]:
    """Turns an optimized TPU or GPU dump into portable HLO, in place; returns what each bitcast became.

    `computations` holds, by custom call target, modules whose entry computes what the call does.
    Raises DiagnosticError for elided constants, ops that talk to another program, unknown custom
    calls and bitcasts whose result holds padding that something reads.
    """
    check_runnable(module)
    bitcasts = _until_bitcasts(module, report, computations)
    strip_layouts(module)
    lower_convolutions(module)
    expand_elementary_functions(module)
    reduce_whole_windows(module)
    separate_scatter_operands(module)
    _drop_copies(module)
    return bitcasts


def _until_bitcasts(
    module: HloModule, report: Report | None, computations: Mapping[str, HloModule] | None
) -> tuple[ExpandedBitcast, ...]:
    """Does what comes before layouts mean nothing any more."""
    _drop_target_attributes(module)
    sync_async(module)
    replicate_partitions(module)
    inline_fusions(module)
    expand_custom_calls(module, computations)
    legalize_types(module)
    return expand_bitcasts(module, report)


def check_runnable(module: HloModule) -> None:
    """Raises DiagnosticError that names every instruction no other program can stand in for."""
    errors = [
        Diagnostic(
            f"constant {item.name} is elided: its values are not in this text",
            item.location,
            hint="print the dump with large constants, or take them from another one: --constants like=FILE",
        )
        for item in elided_constants(module)
    ]
    errors += [
        Diagnostic(f"{item.opcode} {item.name} talks to a host, which is not here", item.location)
        for item in instructions(module, *_REFUSED)
    ]
    errors += [
        Diagnostic(f"convolution {item.name} is a gradient in cuDNN's form, which is not known here", item.location)
        for item in instructions(module, "convolution")
        if "dgrad" in (item.attribute("conv_kind") or "").lower()
    ]
    if errors:
        raise DiagnosticError(errors)


def _drop_target_attributes(module: HloModule) -> None:
    for name in _MODULE_ATTRIBUTES:
        module.set_attribute(name, None)
    for item in instructions(module):
        for name in _ATTRIBUTES:
            # The config of a custom call says what it computes.
            is_meaning = name == "backend_config" and item.callee is not None
            if item.attribute(name) is not None and not is_meaning:
                item.set_attribute(name, None)


def _drop_copies(module: HloModule) -> None:
    """Lets the users of a copy use its operand: without layouts a copy does nothing."""
    for item in instructions(module, "copy"):
        if isinstance(item.shape, ArrayShape) and not (item.is_root and item.operands[0].opcode == "parameter"):
            item.replace_uses(item.operands[0])
            item.erase()
