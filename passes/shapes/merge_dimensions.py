"""Makes adjacent dimensions that are always used together one dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dialect_utils.ir import Builder, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import is_relayout
from dialect_utils.ir.factors import Groups, joined_sizes, merged_groups, value_at
from dialect_utils.layout import ArrayShape, Reshape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.targets.known import OtherTarget, TpuName
from dialect_utils.ops.factors import Dimensions, Kind, Position
from passes.framework.base import Report, module_pass
from passes.shapes.changes import DimensionChange, Parts, bypass, remade_in_groups, resized
from passes.shapes.choices import change_dimensions, texts


class Merged(DimensionChange):
    """Arrays with dimension d and the next one as one dimension."""

    def match(self, operation: Operation, position: Position, dimension: int) -> Dimensions | None:
        """Returns the first of the two dimensions at every position, where both are side by side."""
        major, minor = (self.factor_at(operation, position, each) for each in (dimension, dimension + 1))
        if major is None or minor is None or minor.kind is Kind.CUT:
            return None
        expected = {other: first + 1 for other, first in major.dimensions.items()}
        return major.dimensions if minor.dimensions == expected else None

    def candidates(self, shape: ArrayShape, target: str) -> Sequence[int]:
        """Returns the dimensions that may be merged with the next one."""
        sizes = shape.dimensions
        return [] if 0 in sizes else [i for i in range(len(sizes) - 1) if sizes[i] > 1 and sizes[i + 1] > 1]

    def shapes(self, shape: ArrayShape, form: int) -> Sequence[ArrayShape]:
        return (resized(shape, joined_sizes(shape.dimensions, merged_groups(shape.rank, form))),)

    def plan(self, shape: ArrayShape, form: int) -> Plan:
        (part,) = self.shapes(shape, form)
        return Plan(shape.element_type, shape.dimensions, (Reshape(part.dimensions),))

    def convert(self, builder: Builder, value: Value, parts: Parts, own: int | None, form: int) -> Parts:
        """Builds a reshape, of the array before it if the value is a reshape."""
        (shape,) = self.shapes(array_shape(value), form)
        source, made = value, value.operation
        if made is not None and made.opcode == "reshape" and is_relayout(made):
            source = made.operands[0]
        if array_shape(source).dimensions == shape.dimensions:
            return (source,)
        return (builder.apply(Reshape(shape.dimensions), source, name=f"{value.name}.merged", like=value),)

    def join(self, builder: Builder, parts: Parts, value: Value, form: int) -> Value:
        """Builds a reshape into the shape of a value; reshapes of the value read the merged array instead."""
        (part,) = parts
        bypass(value, part, Reshape(array_shape(part).dimensions))
        return builder.apply(Reshape(array_shape(value).dimensions), part, name=f"{value.name}.split", like=value)

    def remake(
        self, builder: Builder, operation: Operation, forms: Mapping[Position, int], operands: Sequence[Parts]
    ) -> Sequence[Parts]:
        groups: dict[Position, Groups] = {
            position: merged_groups(array_shape(value_at(operation, position)).rank, dimension)
            for position, dimension in forms.items()
        }
        shapes, step = self.result_shapes(operation, forms), None
        if operation.step is not None:
            sizes = array_shape(operation.operands[0]).dimensions
            step = operation.step.try_merged(sizes, forms[0], shapes[0].dimensions)
        name = f"{operation.results[0].name}.merged"
        return remade_in_groups(builder, operation, operands, shapes, groups, name=name, step=step)


@module_pass
def merge_dimensions(
    module: Module,
    report: Report,
    *,
    value: str | None = None,
    dimension: int | None = None,
    target: TpuName | OtherTarget = "tpu-v5e",
) -> None:
    """Makes adjacent dimensions that are always used together one dimension.

    A TPU pads the last two dimensions to tiles: of f32[100000,3,3] it stores 4 x 128 elements for 9 where the rows
    stay together, of f32[100000,9] 128.

    1. The dimension `dimension` of the array `value` and the next one become one. So do those of all arrays around it,
       as far as operations use both together: elementwise operations, broadcasts, reductions, transposes, slices, pads,
       concatenates, reversals, dots, gathers, scatters, dynamic slices and their updates, and reshapes that keep both.
    2. Both dimensions have to be side by side in every operand and result, the second one as a whole. A slice, pad or
       concatenate may cut or join the first one. A reduction or dot combines both, in the same order as before.
    3. Calls, loops and branches pass the new arrays.
    4. Elsewhere a reshape converts: parameters and results of the entry keep their shape. Operations with shardings,
       control dependencies or layouts other than the descending one stay.
    5. Without `value`, every region of arrays is changed that becomes smaller so by a model of the memory of `target`:
       bytes with padding, less those that reshapes move.

    Raises DiagnosticError for a value that the module does not have, or whose dimensions cannot be merged.

    Before:
        HloModule m
        ENTRY e {
          p = f32[8,3,3] parameter(0)
          i = s32[4,1] parameter(1)
          g = f32[4,3,3] gather(p, i), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3,3}
          ROOT r = f32[4,3,3] multiply(g, g)
        }

    After merge-dimensions{value=%g dimension=1}:
        HloModule m
        ENTRY e {
          p = f32[8,3,3] parameter(0)
          i = s32[4,1] parameter(1)
          p.merged = f32[8,9] reshape(p)
          g.merged = f32[4,9] gather(p.merged, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,9}
          r.merged = f32[4,9] multiply(g.merged, g.merged)
          ROOT r = f32[4,3,3] reshape(r.merged)
        }
    """  # noqa: E501  # instructions
    change_dimensions(module, Merged(), value, dimension, str(target))


def candidates(module: Module, target: str) -> Iterator[str]:
    """Yields the pass for each region that it makes smaller, the one that saves the most bytes first."""
    return texts(module, merge_dimensions, Merged(), target)
