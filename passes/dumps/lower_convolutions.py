"""Rewrites convolutions in the TPU compiler's form as dots or plain convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.layout import ArrayShape
from dialect_utils.ops.window import (
    DimensionLabels,
    Role,
    WindowDimension,
    classify,
    format_window,
    parse_labels,
    parse_window,
)
from dialect_utils.text import DiagnosticError
from passes.framework.base import Report, module_pass


@module_pass
def lower_convolutions(module: HloModule, report: Report) -> None:
    """Rewrites convolutions in the TPU compiler's form as dots or plain convolutions.

    1. A spatial dimension whose window only pairs indices (see `dialect_utils.ops.window.classify`) becomes a batch,
       contracting or free dimension. So do groups of features and of batches.
    2. A convolution without other spatial dimensions becomes a `dot`.
    3. Otherwise it becomes a convolution over the other spatial dimensions: batch dimensions become feature groups,
       contracting ones features, free ones batches or output features.
    4. A convolution that has only proper windows, and no batch groups, stays as it is.

    Before:
        HloModule m
        ENTRY e {
          a = f32[3,5] parameter(0)
          b = f32[5,7] parameter(1)
          ROOT c = f32[3,7] convolution(a, b), dim_labels=bf_io->bf
        }

    After:
        HloModule m
        ENTRY e {
          a = f32[3,5] parameter(0)
          b = f32[5,7] parameter(1)
          ROOT c = f32[3,7] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
        }
    """
    for instruction in instructions(module, "convolution"):
        found = _read(instruction)
        if not found.is_plain:
            ops = Ops(instruction)
            lhs_axes, rhs_axes, out_axes = _axes(instruction, found)
            lhs = ops.reshape(instruction.operands[0], lhs_axes.dimensions)
            # The kernel is reversed before the reshape, so that the dimension numbers are those of the labels.
            backwards = [found.labels.rhs_spatial[i] for i, is_reversed in enumerate(found.reversed) if is_reversed]
            rhs = ops.reshape(ops.reverse(instruction.operands[1], backwards), rhs_axes.dimensions)
            make = _convolve if found.spatial("window") else _dot
            result = make(ops, found, (lhs, lhs_axes), (rhs, rhs_axes), out_axes)
            ops.finish(ops.reshape(result, _arrays(instruction)[2].dimensions))


@dataclass(frozen=True, slots=True)
class _Convolution:
    """The attributes of a convolution, and the role of each spatial dimension."""

    labels: DimensionLabels
    window: tuple[WindowDimension, ...]
    roles: tuple[Role, ...]
    reversed: tuple[bool, ...]
    feature_groups: int
    batch_groups: int

    @property
    def is_plain(self) -> bool:
        return self.batch_groups == 1 and set(self.roles) == {"window"}

    def spatial(self, *roles: Role) -> list[int]:
        return [index for index, role in enumerate(self.roles) if role in roles]


def _read(instruction: Instruction) -> _Convolution:
    lhs, _, out = _arrays(instruction)
    try:
        labels = parse_labels(instruction.attribute("dim_labels") or "")
    except ValueError as error:
        raise DiagnosticError(str(error), instruction.location) from None
    window = parse_window(instruction.attribute("window"), len(labels.lhs_spatial))
    decided = [
        classify(dim, lhs.dimensions[i], out.dimensions[o])
        for dim, i, o in zip(window, labels.lhs_spatial, labels.out_spatial, strict=True)
    ]
    return _Convolution(
        labels,
        window,
        tuple(role for role, _ in decided),
        tuple(is_reversed for _, is_reversed in decided),
        int(instruction.attribute("feature_group_count") or 1),
        int(instruction.attribute("batch_group_count") or 1),
    )


def _arrays(instruction: Instruction) -> tuple[ArrayShape, ArrayShape, ArrayShape]:
    lhs, rhs, out = [value.shape for value in (*instruction.operands, instruction)]
    if not (isinstance(lhs, ArrayShape) and isinstance(rhs, ArrayShape) and isinstance(out, ArrayShape)):
        raise DiagnosticError(f"convolution {instruction.name} is not of arrays", instruction.location)
    return lhs, rhs, out


# Names of the axes that a dimension is split into; the name of a spatial dimension is its number.
_BATCH, _FEATURE, _OUTPUT, _GROUP = "b", "f", "o", "g"


@dataclass(frozen=True, slots=True)
class _Axes:
    """The axes of an array: their sizes by name, in the order of its dimensions."""

    sizes: dict[str, int]

    @property
    def dimensions(self) -> tuple[int, ...]:
        return tuple(self.sizes.values())

    def positions(self, names: Sequence[str]) -> tuple[int, ...]:
        order = list(self.sizes)
        return tuple(order.index(name) for name in names)

    def size(self, names: Sequence[str]) -> int:
        return prod(self.sizes[name] for name in names)


def _axes(instruction: Instruction, found: _Convolution) -> tuple[_Axes, _Axes, _Axes]:
    """Returns the axes of both operands and of the result, without unit dimensions that pair nothing (rule 1)."""
    lhs, rhs, out = _arrays(instruction)
    labels, groups = found.labels, found.feature_groups * found.batch_groups
    of_batch, of_feature = (found.batch_groups > 1), (found.feature_groups > 1)
    lhs_names = {labels.lhs_batch: [_GROUP, _BATCH] if of_batch else [_BATCH]}
    lhs_names[labels.lhs_feature] = [_GROUP, _FEATURE] if of_feature else [_FEATURE]
    rhs_names = {labels.rhs_input: [_FEATURE], labels.rhs_output: [_GROUP, _OUTPUT] if groups > 1 else [_OUTPUT]}
    out_names = {labels.out_batch: [_BATCH], labels.out_feature: rhs_names[labels.rhs_output]}
    for index, role in enumerate(found.roles):
        lhs_names[labels.lhs_spatial[index]] = [] if role == "rhs" else [str(index)]
        rhs_names[labels.rhs_spatial[index]] = [] if role == "lhs" else [str(index)]
        out_names[labels.out_spatial[index]] = [] if role == "contracting" else [str(index)]
    return _split(lhs, lhs_names, groups), _split(rhs, rhs_names, groups), _split(out, out_names, groups)


def _split(shape: ArrayShape, names: dict[int, list[str]], groups: int) -> _Axes:
    sizes: dict[str, int] = {}
    for index, size in enumerate(shape.dimensions):
        for name in names[index]:
            is_divided = len(names[index]) > 1
            sizes[name] = groups if name == _GROUP else size // groups if is_divided else size
    return _Axes(sizes)


def _common(lhs: _Axes, rhs: _Axes, out: _Axes, windows: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the batch and the contracting axes."""
    both = [name for name in lhs.sizes if name in rhs.sizes and name not in windows]
    return [name for name in both if name in out.sizes], [name for name in both if name not in out.sizes]


def _dot(
    ops: Ops, found: _Convolution, left: tuple[Instruction, _Axes], right: tuple[Instruction, _Axes], out: _Axes
) -> Instruction:
    """Builds the dot and transposes it to the result's order of dimensions (rule 2)."""
    (lhs, lhs_axes), (rhs, rhs_axes) = left, right
    batch, contracting = _common(lhs_axes, rhs_axes, out, ())
    free = [*lhs_axes.sizes, *rhs_axes.sizes]
    order = batch + [name for name in free if name not in batch and name not in contracting]
    made = _Axes({name: out.sizes[name] for name in order})
    attributes = {}
    if batch:
        attributes["lhs_batch_dims"] = lhs_axes.positions(batch)
    attributes["lhs_contracting_dims"] = lhs_axes.positions(contracting)
    if batch:
        attributes["rhs_batch_dims"] = rhs_axes.positions(batch)
    attributes["rhs_contracting_dims"] = rhs_axes.positions(contracting)
    result = ops.array("dot", made.dimensions, [lhs, rhs], attributes)
    return ops.transpose(result, made.positions(list(out.sizes)))


def _convolve(
    ops: Ops, found: _Convolution, left: tuple[Instruction, _Axes], right: tuple[Instruction, _Axes], out: _Axes
) -> Instruction:
    """Builds the convolution over the other spatial dimensions, with dim_labels b01f_01io->b01f (rule 3)."""
    (lhs, lhs_axes), (rhs, rhs_axes) = left, right
    windows = [str(index) for index in found.spatial("window")]
    batch, contracting = _common(lhs_axes, rhs_axes, out, windows)
    known = {*windows, *batch, *contracting}
    lhs_free = [name for name in lhs_axes.sizes if name not in known]
    rhs_free = [name for name in rhs_axes.sizes if name not in known]
    lhs = ops.transpose(lhs, lhs_axes.positions([*lhs_free, *windows, *batch, *contracting]))
    rhs = ops.transpose(rhs, rhs_axes.positions([*windows, *contracting, *batch, *rhs_free]))
    sizes = [lhs_axes.sizes[name] for name in windows]
    lhs = ops.reshape(lhs, (lhs_axes.size(lhs_free), *sizes, lhs_axes.size([*batch, *contracting])))
    sizes = [rhs_axes.sizes[name] for name in windows]
    rhs = ops.reshape(rhs, (*sizes, rhs_axes.size(contracting), rhs_axes.size([*batch, *rhs_free])))
    order = [*lhs_free, *windows, *batch, *rhs_free]
    made = _Axes({name: out.sizes[name] for name in order})
    sizes = [out.sizes[name] for name in windows]
    result = ops.array(
        "convolution",
        (made.size(lhs_free), *sizes, made.size([*batch, *rhs_free])),
        [lhs, rhs],
        _window_attributes(found, lhs_axes.size(batch)),
    )
    return ops.transpose(ops.reshape(result, made.dimensions), made.positions(list(out.sizes)))


def _window_attributes(found: _Convolution, groups: int) -> dict[str, str | tuple[int, ...]]:
    kept = tuple(found.window[index] for index in found.spatial("window"))
    numbers = "".join(str(index) for index in range(len(kept)))
    attributes: dict[str, str | tuple[int, ...]] = {
        "window": format_window(kept),
        "dim_labels": f"b{numbers}f_{numbers}io->b{numbers}f",
    }
    if groups > 1:
        attributes["feature_group_count"] = str(groups)
    return attributes
