"""Makes a value, and what computes with it, with its dimensions in another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from dialect_utils.ir import Builder, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import emit_plan
from dialect_utils.ir.factors import Order, groups_of, identity, orders_of, permuted_shape
from dialect_utils.layout import ArrayShape, Reshape, Transpose
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.targets.known import default_layout
from dialect_utils.ops.factors import RESULT, Position
from passes.framework.base import Report, module_pass
from passes.framework.options import OptionError
from passes.shapes.changes import Change, Parts, bypass, remade_in_groups
from passes.shapes.choices import plain_value, texts
from passes.shapes.regions import grow, passing, rewrite

# The end of the name of a value in another order.
_PERMUTED = ".permuted"


class Permuted(Change[Order]):
    """Arrays with their dimensions in another order."""

    option = "order"
    crossed = Change.crossed | {"fusion"}
    idle = frozenset(("transpose",))
    is_descending = True
    converts_all = False

    def __init__(self) -> None:
        super().__init__()
        self._transposed: dict[tuple[Value, Order], Value] = {}

    def forget(self) -> None:
        super().forget()
        self._transposed.clear()

    def forms(self, operation: Operation, known: Mapping[Position, Order]) -> Mapping[Position, Order]:
        """Returns the orders that move the least data."""
        factors = self.factors(operation)
        found = None if factors is None else orders_of(operation, factors, known)
        return {position: order for position, order in (found or {}).items() if order != identity(len(order))}

    def candidates(self, shape: ArrayShape, target: str) -> Sequence[Order]:
        """Returns the order of the target's own layout, and the one that moves the last dimension to the front."""
        return _orders(shape.without_layout, target) if shape.rank > 1 else ()

    def shapes(self, shape: ArrayShape, form: Order) -> Sequence[ArrayShape]:
        return (permuted_shape(shape, form),)

    def plan(self, shape: ArrayShape, form: Order) -> Plan:
        return Plan(shape.element_type, shape.dimensions, (Transpose(form),))

    def convert(self, builder: Builder, value: Value, parts: Parts, own: Order | None, form: Order) -> Parts:
        (part,) = parts
        permutation = form if own is None else tuple(own.index(dim) for dim in form)
        key = part, permutation
        if key not in self._transposed:
            name = f"{value.name}{_PERMUTED}"
            self._transposed[key] = builder.apply(Transpose(permutation), part, name=name, like=value)
        return (self._transposed[key],)

    def join(self, builder: Builder, parts: Parts, value: Value, form: Order) -> Value:
        (part,) = parts
        bypass(value, part, Transpose(form))
        return builder.apply(Transpose(inverse_permutation(form)), part, name=f"{value.name}.logical", like=value)

    def remake(
        self, builder: Builder, operation: Operation, forms: Mapping[Position, Order], operands: Sequence[Parts]
    ) -> Sequence[Parts]:
        """Builds an operation on permuted arrays; a transpose is dropped: its operand has the new order already."""
        if operation.opcode == "transpose":
            return operands[:1]
        if operation.opcode == "reshape":
            return [(self._reshape(builder, operation, forms, operands[0]),)]
        result, groups = operation.results[0], groups_of(operation, forms)
        name = f"{result.name.partition('#')[0]}{_PERMUTED if any(each < 0 for each in forms) else ''}"
        step = operation.step.permuted(forms[RESULT]) if operation.step is not None and RESULT in forms else None
        shapes = self.result_shapes(operation, forms)
        return remade_in_groups(builder, operation, operands, shapes, groups, name=name, step=step)

    def _reshape(self, builder: Builder, operation: Operation, forms: Mapping[Position, Order], source: Parts) -> Value:
        """Returns the reshape of a value in another order, in the fewest steps."""
        [result], (part,) = operation.results, source
        given, dimensions = array_shape(part), array_shape(result).dimensions
        before = forms.get(0, identity(given.rank))
        after = forms.get(RESULT, identity(len(dimensions)))
        steps = (Transpose(inverse_permutation(before)), Reshape(dimensions), Transpose(after))
        plan = normal_form(Plan(*given.type_and_dimensions, steps))
        made = emit_plan(builder, plan, part, base=result.name, like=result)
        return made[-1] if made else part


@lru_cache(maxsize=1 << 12)
def _orders(shape: ArrayShape, target: str) -> Sequence[Order]:
    rank = shape.rank
    own = default_layout(shape.element_type, shape.dimensions, target).major_to_minor
    front = (rank - 1, *range(rank - 1))
    return [own, front] if own not in (identity(rank), front) else [front]


@module_pass
def permute_dimensions(module: Module, report: Report, *, value: str = "", order: tuple[int, ...] = ()) -> None:
    """Makes a value, and the operations around it, compute with their dimensions in another order.

    With `order=1,0` dimension 1 of the value becomes dimension 0. `normalize-layouts` does the same for the orders that
    layouts give; this pass does it for one that you choose, where the layouts are the compiler's.

    1. The value is named as the text names it. A name that the entry has, too, follows its function: `helper:%0`.
    2. The order spreads to all values that then need no transpose: through elementwise operations, broadcasts, slices,
       pads, concatenates, dynamic (update) slices, iotas, splat constants, reductions, dots, gathers, scatters,
       reshapes and transposes, and in StableHLO through calls, branches and the state of loops. The first order that
       reaches a value decides.
    3. Arguments and results of the entry, and all other operations, keep their dimensions. There, and where two orders
       meet, a transpose is made. Two transposes that meet are one, or none.
    4. A dot stays one dot with other dimension numbers; its result has the batch first, then the dimensions of each
       operand. Reduced and summed dimensions keep their sequence, so floats are added in the same order. The batch of
       a gather or scatter keeps its sequence, too.
    5. Operations with shardings, control dependencies or layouts other than the descending one stay.

    Before:
        HloModule m
        ENTRY e {
          p = f32[5,4] parameter(0)
          q = f32[4] parameter(1)
          b = f32[5,4] broadcast(q), dimensions={1}
          ROOT m = f32[5,4] multiply(p, b)
        }

    After permute-dimensions{value=m order=1,0}:
        HloModule m
        ENTRY e {
          p = f32[5,4] parameter(0)
          q = f32[4] parameter(1)
          p.permuted = f32[4,5] transpose(p), dimensions={1,0}
          b.permuted = f32[4,5] broadcast(q), dimensions={0}
          m.permuted = f32[4,5] multiply(p.permuted, b.permuted)
          ROOT m = f32[5,4] transpose(m.permuted), dimensions={1,0}
        }
    """
    if not value or not order:
        raise OptionError("value" if order else "order", "the pass needs a value and an order")
    found = plain_value(module, value)
    rank = array_shape(found).rank
    if sorted(order) != [*range(rank)]:
        message = f"order is no permutation of the {rank} dimensions of {value}, {found.shape}"
        raise OptionError("order", message)
    if order == identity(rank):
        raise OptionError("order", f"order is the one that {value} has")
    change = Permuted()
    region = grow(found, order, change, passing(module, change))
    if region.is_idle:
        raise OptionError("value", f"no operation around {value} computes in another order")
    rewrite(module, region)


def candidates(module: Module, target: str) -> Iterator[str]:
    """Yields at most ten passes in a pipeline's syntax, those that save the most padded bytes on a target first."""
    return texts(module, permute_dimensions, Permuted(), target)
