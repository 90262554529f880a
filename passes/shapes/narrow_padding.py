"""Cuts dimensions just above a multiple of the tile into the part that fills tiles and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dialect_utils.ir import Builder, Module, Operation, Value, array_shape
from dialect_utils.layout import ArrayShape, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.targets.known import OtherTarget, TpuName
from dialect_utils.ops.factors import RESULT, Dimensions, Kind, Position
from passes.framework.base import Report, module_pass
from passes.shapes.changes import DimensionChange, Parts, remade, resized, resized_slices, with_size
from passes.shapes.choices import change_dimensions, lanes, texts


class Narrowed(DimensionChange):
    """Arrays with a dimension cut after the last whole tile, which has so many `lanes`."""

    # A loop would have to pass twice as many arrays.
    crossed = frozenset()

    def __init__(self, lanes: int) -> None:
        super().__init__()
        self.lanes = lanes

    def match(self, operation: Operation, position: Position, dimension: int) -> Dimensions | None:
        """Returns the dimension that is cut at every position, if the operation does not combine what it cuts."""
        factor = self.factor_at(operation, position, dimension)
        return factor.dimensions if factor is not None and factor.kind is Kind.KEPT else None

    def candidates(self, shape: ArrayShape, target: str) -> Sequence[int]:
        """Returns the dimensions with more elements than one tile that do not fill the last tile."""
        return [i for i, size in enumerate(shape.dimensions) if size > self.lanes and size % self.lanes]

    def shapes(self, shape: ArrayShape, form: int) -> Sequence[ArrayShape]:
        """Returns the shapes of the part that fills tiles and of the rest."""
        sizes = (limit - start for start, limit in self._bounds(shape, form))
        return [resized(shape, with_size(shape.dimensions, form, size)) for size in sizes]

    def plan(self, shape: ArrayShape, form: int) -> Plan:
        """Raises NotImplementedError: an array has two parts."""
        raise NotImplementedError

    def convert(self, builder: Builder, value: Value, parts: Parts, own: int | None, form: int) -> Parts:
        shape, made = array_shape(value), []
        for number, bounds in enumerate(self._bounds(shape, form)):
            step = Slice(with_size((0,) * shape.rank, form, bounds[0]), with_size(shape.dimensions, form, bounds[1]))
            made.append(builder.apply(step, value, name=f"{value.name}.{number}", like=value))
        return tuple(made)

    def join(self, builder: Builder, parts: Parts, value: Value, form: int) -> Value:
        return builder.concatenate(parts, form, value.shape, name=f"{value.name}.joined", like=value)

    def remake(
        self, builder: Builder, operation: Operation, forms: Mapping[Position, int], operands: Sequence[Parts]
    ) -> Sequence[Parts]:
        """Builds an operation twice, on both parts."""
        made, name = list[Sequence[Value]](), operation.results[0].name
        for number in (0, 1):
            values = [parts[number] if position in forms else parts[0] for position, parts in enumerate(operands)]
            shapes = [
                self.shapes(array_shape(result), forms[~index])[number]
                for index, result in enumerate(operation.results)
            ]
            step, ints = operation.step, [*resized_slices(operation, forms, values)]
            if step is not None:
                sizes, dimension = array_shape(operation.operands[0]).dimensions, forms[RESULT]
                step = step.try_resized(sizes, dimension, shapes[0].dimensions[dimension])
            made.append(remade(builder, operation, values, shapes, ints, name=f"{name}.{number}", step=step))
        return list(zip(*made, strict=True))

    def _bounds(self, shape: ArrayShape, dimension: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Returns the first index of both parts of a dimension, and the index after the last."""
        size = shape.dimensions[dimension]
        cut = size - size % self.lanes
        return (0, cut), (cut, size)


@module_pass
def narrow_padding(
    module: Module,
    report: Report,
    *,
    value: str | None = None,
    dimension: int | None = None,
    target: TpuName | OtherTarget = "tpu-v5e",
) -> None:
    """Cuts dimensions just above a multiple of the tile into the part that fills tiles and the rest.

    A TPU stores f32[1000,129] with rows of 256 elements, so nearly half of the array is padding. Two arrays, of 128
    columns and of one, have little.

    1. The dimension `dimension` of the array `value` is cut after the last whole tile of `target`: 128 elements on a
       TPU. So is that of all arrays around it, as far as operations compute both parts one by one: elementwise
       operations, broadcasts, reductions and dots that keep the dimension, transposes, reshapes that keep it, slices,
       pads, reversals, gathers, scatters and dynamic slices of other dimensions.
    2. Elsewhere two slices make the parts, and a concatenate joins them: where the dimension is summed, at parameters
       and results of the entry, and at calls, loops and branches. Operations with shardings, control dependencies or
       layouts other than the descending one stay.
    3. Without `value`, every region of arrays is cut that becomes smaller so by a model of the memory of `target`:
       bytes with padding, less those that slices and concatenates move.

    Raises DiagnosticError for a value that the module does not have, or a dimension that needs no cut.

    Before:
        HloModule m
        ENTRY e {
          p = f32[64,8] parameter(0)
          q = f32[8,129] parameter(1)
          d = f32[64,129] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          ROOT n = f32[64,129] negate(d)
        }

    After narrow-padding{value=%d dimension=1}:
        HloModule m
        ENTRY e {
          p = f32[64,8] parameter(0)
          q = f32[8,129] parameter(1)
          q.0 = f32[8,128] slice(q), slice={[0:8], [0:128]}
          q.1 = f32[8,1] slice(q), slice={[0:8], [128:129]}
          d.0 = f32[64,128] dot(p, q.0), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          d.1 = f32[64,1] dot(p, q.1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
          n.0 = f32[64,128] negate(d.0)
          n.1 = f32[64,1] negate(d.1)
          ROOT n = f32[64,129] concatenate(n.0, n.1), dimensions={1}
        }
    """
    change_dimensions(module, Narrowed(lanes(str(target))), value, dimension, str(target))


def candidates(module: Module, target: str) -> Iterator[str]:
    """Yields the pass for each region that it makes smaller, the one that saves the most bytes first."""
    return texts(module, narrow_padding, Narrowed(lanes(target)), target)
