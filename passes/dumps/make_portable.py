"""Turns an optimized TPU or GPU dump into HLO that any XLA backend runs."""

from __future__ import annotations

from pathlib import Path

from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import Ops, format_ints, instructions, rebuild
from dialect_utils.hlo.text.attributes import reversed_dimensions
from dialect_utils.hlo.verification.entry import unknown_header_attributes
from dialect_utils.hlo.verify import unknown_attributes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape, TokenShape, TupleShape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.bitcasts.expand_bitcasts import ExpandedBitcast, expand_bitcasts
from passes.dumps.collectives import (
    combine_scalars,
    exchange_one_by_one,
    gather_extremes,
    reduce_elements_of_words,
    replicate_partitions,
)
from passes.dumps.convert_async_to_sync import convert_async_to_sync
from passes.dumps.elided import is_elided, take_constants
from passes.dumps.expand_custom_calls import expand_custom_calls, read_hlo
from passes.dumps.host_callbacks import replace_host_callbacks
from passes.dumps.inline_fusions import inline_fusions
from passes.dumps.legalize_types import legalize_types
from passes.dumps.lower_convolutions import lower_convolutions
from passes.dumps.mosaic.memory import Unwritten
from passes.dumps.portable_ops import (
    expand_elementary_functions,
    keep_roundings,
    reduce_whole_windows,
    separate_scatter_operands,
)
from passes.framework.base import Report, module_pass
from passes.layouts.strip_layouts import strip_layouts

# Attributes of the TPU compiler and its schedule. `is_scheduled` forbids the order of ops that the passes produce.
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
    # A composite call without its attributes is a call.
    "is_composite",
    "operand_precision",
    "sharding",
    "statistics",
)
_FEEDS = ("infeed", "outfeed")
_REVERSED = "output_reverse_dimensions"


@module_pass
def make_portable(
    module: HloModule,
    report: Report,
    *,
    custom_call: tuple[str, ...] = (),
    callback: tuple[str, ...] = (),
    constants_like: Path | None = None,
    unwritten: Unwritten = "zero",
    watch_callbacks: bool = False,
) -> tuple[ExpandedBitcast, ...]:
    """Turns an optimized TPU or GPU dump into HLO that any XLA backend runs.

    1. Attributes of the target's compiler and its schedule are dropped. An op that writes its result in reverse
       (`output_reverse_dimensions` in the `backend_config` of a TPU dump) gets a `reverse` after it.
    2. A call of a Python function on the host is removed, with a note, if nothing reads the results (jax.debug.print).
       `callback=NAME=module:function` gives a function that JAX traces for another one, `callback=NAME=undefined`
       undefined values (NaN, or 0 for integers); NAME is a transfer's name, the kind of call (pure_callback) or `*`.
       With `watch-callbacks`, a call in a branch or loop that has no function gives undefined values, and the module
       returns one more value, s32[]: the number of such a call that ran, or 0.
    3. These passes run: convert-async-to-sync; partitions become replicas, and combiners of arrays combine scalars;
       inline-fusions; expand-custom-calls; legalize-types; expand-bitcasts; strip-layouts; lower-convolutions.
    4. Functions that StableHLO lacks (sinh, ...) become formulas, ops that XLA:CPU computes wrongly or slowly are
       rewritten, and copies, which do nothing without layouts, are removed.

    Elided constants (`constant({...})`) are errors, unless `constants-like=FILE` names another dump of the module that
    holds them. `custom-call=NAME=module.hlo` and `unwritten` are options of expand-custom-calls.

    Returns the expansion of each bitcast. Raises DiagnosticError for elided constants, ops that communicate with
    another program, unknown custom calls and attributes, and bitcasts whose result holds padding that an op reads.

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
    if constants_like is not None:
        take_constants(module, read_hlo(constants_like))
    check_runnable(module)
    replace_host_callbacks(module, report, callback, watch=watch_callbacks)
    bitcasts = _until_bitcasts(module, report, custom_call, unwritten)
    strip_layouts(module)
    lower_convolutions(module)
    expand_elementary_functions(module)
    reduce_whole_windows(module)
    separate_scatter_operands(module)
    keep_roundings(module)
    _drop_copies(module)
    _check_attributes(module)
    return bitcasts


def proved_bitcasts(
    module: Module, custom_call: tuple[str, ...] = (), callback: tuple[str, ...] = ()
) -> tuple[ExpandedBitcast, ...]:
    """Returns the expansion of each bitcast and its proof; the module does not change, and constants may be elided."""
    if not isinstance(module, HloModule):
        return ()
    module, report = module.clone(), Report()
    replace_host_callbacks(module, report, callback, watch=True)
    return _until_bitcasts(module, report, custom_call)


def _until_bitcasts(
    module: HloModule, report: Report, custom_call: tuple[str, ...], unwritten: Unwritten = "zero"
) -> tuple[ExpandedBitcast, ...]:
    """Runs the rewrites that need layouts (rules 1 and 3, up to expand-bitcasts)."""
    drop_entry_tokens(module)
    _drop_dependencies(module)
    _restore_reverses(module)
    _drop_target_attributes(module)
    convert_async_to_sync(module)
    replicate_partitions(module)
    exchange_one_by_one(module)
    gather_extremes(module)
    combine_scalars(module)
    inline_fusions(module)
    expand_custom_calls(module, report, custom_call=custom_call, unwritten=unwritten)
    reduce_elements_of_words(module)
    legalize_types(module)
    return expand_bitcasts(module, report)


def check_runnable(module: HloModule) -> None:
    """Raises DiagnosticError that names every instruction without a portable equivalent."""
    found = instructions(module, "constant", "convolution", *_FEEDS)
    errors = [
        Diagnostic(
            f"constant {item.name} is elided: its values are not in this text",
            item.location,
            hint="print the dump with large constants, or take them from another one: --constants like=FILE",
        )
        for item in found
        if is_elided(item)
    ]
    errors += [
        Diagnostic(
            f"{item.opcode} {item.name} talks to a host, which is not here",
            item.location,
            hint="the pass replace-transfers, which `relayout run` applies, makes inputs and outputs of it",
        )
        for item in found
        if item.opcode in _FEEDS
    ]
    errors += [
        Diagnostic(f"convolution {item.name} is a gradient in cuDNN's form, which is not known here", item.location)
        for item in found
        if item.opcode == "convolution" and "dgrad" in (item.attribute("conv_kind") or "").lower()
    ]
    if errors:
        raise DiagnosticError(errors)


def _check_attributes(module: HloModule) -> None:
    """Raises DiagnosticError for unknown attributes: a newer compiler wrote them, and any of them may affect values."""
    errors = [
        Diagnostic(f"the attribute {name} of {module.name} is unknown", location)
        for name, location in unknown_header_attributes(module).items()
    ]
    errors += [
        Diagnostic(f"the attribute {name} of {item.opcode} {item.name} is unknown", item.locate(name))
        for item in instructions(module)
        for name in unknown_attributes(item, item.opcode)
    ]
    if errors:
        raise DiagnosticError(errors)


def _drop_target_attributes(module: HloModule) -> None:
    for name in _MODULE_ATTRIBUTES:
        module.set_attribute(name, None)
    for item in instructions(module):
        text = item.attribute_text
        for name in _ATTRIBUTES if text else ():
            # A fast test, since most instructions have few of these attributes.
            if name not in text:
                continue
            # The config of a custom call determines its result.
            is_semantic = name == "backend_config" and item.callee is not None
            if item.attribute(name) is not None and not is_semantic:
                item.set_attribute(name, None)


def _restore_reverses(module: HloModule) -> None:
    """Adds a reverse after each operation that writes its result in reverse, as its backend_config says."""
    for item in instructions(module):
        dims = reversed_dimensions(item.attribute("backend_config")) if _REVERSED in item.attribute_text else ()
        if not dims:
            continue
        rank = item.shape.rank if isinstance(item.shape, ArrayShape) else 0
        if not all(0 <= dim < rank for dim in dims) or len({*dims}) < len(dims):
            message = f"{item.opcode} {item.name} writes dimensions {format_ints(dims)} of {item.shape} in reverse"
            raise DiagnosticError(f"{message}, but these are no dimensions of one array", item.location)
        ops = Ops(item)
        config = {name: text for name, text in item.attributes.items() if name != "backend_config"}
        forward = ops.copied(item, item.operands, config)
        ops.finish(ops.emit("reverse", item.shape, (forward,), {"dimensions": dims}))


def _drop_dependencies(module: HloModule) -> None:
    """Replaces each add-dependency by its value, and erases unused after-alls.

    The TPU compiler also makes tokens of arrays, which no other compiler reads.
    """
    found = instructions(module, "add-dependency", "after-all")
    for item in found:
        if item.opcode == "add-dependency":
            item.replace_uses(item.operands[0])
            item.erase()
    for item in found:
        if item.opcode == "after-all" and not item.users and not item.is_root:
            item.erase()


def _drop_copies(module: HloModule) -> None:
    """Replaces each copy by its operand: without layouts a copy does nothing."""
    for item in instructions(module, "copy"):
        if isinstance(item.shape, ArrayShape) and not (item.is_root and item.operands[0].opcode == "parameter"):
            item.replace_uses(item.operands[0])
            item.erase()


def drop_entry_tokens(module: HloModule) -> None:
    """Removes the tokens, e.g. of ordered host calls, from the entry's parameters and tuple of results, in place."""
    entry, layout = module.entry, module.entry_computation_layout
    tokens = [parameter for parameter in entry.parameters if isinstance(parameter.shape, TokenShape)]
    if not tokens or entry.root.opcode != "tuple":
        return
    kept = [operand for operand in entry.root.operands if not isinstance(operand.shape, TokenShape)]
    rebuild(entry.root, operands=kept, shape=TupleShape(tuple(operand.shape for operand in kept)))
    for token in tokens:
        token.replace_uses(Ops(token).emit("after-all", token.shape))
        entry.drop_parameter(token)
    if layout is not None:
        parameters, result = layout
        assert isinstance(result, TupleShape)  # the root is a tuple
        module.set_entry_layout(_without_tokens(parameters), [TupleShape(_without_tokens(result.elements))])


def _without_tokens(shapes: tuple[Shape, ...]) -> tuple[Shape, ...]:
    return tuple(shape for shape in shapes if not isinstance(shape, TokenShape))
