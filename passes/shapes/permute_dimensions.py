"""Makes a value, and what computes with it, with its dimensions in another order."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.ir import Module, array_shape
from dialect_utils.ir.chains import is_plain
from dialect_utils.ir.factors import identity
from passes.framework.base import Report, module_pass
from passes.framework.options import OptionError, named_value, value_names
from passes.shapes.orders.candidates import ranked
from passes.shapes.orders.region import Joins, Region
from passes.shapes.orders.remaking import Remaking


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
    found = named_value(module, value, "value")
    if not is_plain(found):
        raise OptionError("value", f"{value} is {found.shape}, not an array of fixed dimensions without a layout")
    rank = array_shape(found).rank
    if sorted(order) != [*range(rank)]:
        message = f"order is no permutation of the {rank} dimensions of {value}, {found.shape}"
        raise OptionError("order", message)
    if order == identity(rank):
        raise OptionError("order", f"order is the one that {value} has")
    region = Region(Joins(module))
    region.spread(found, order)
    if not region.changes:
        raise OptionError("value", f"no operation around {value} computes in another order")
    Remaking(module, region).run()


def candidates(module: Module, target: str) -> Iterator[str]:
    """Yields at most ten passes in a pipeline's syntax, those that save the most padded bytes on a target first."""
    joins = Joins(module)
    found = ranked(module, joins, target)
    names = value_names(module) if found else {}
    for value, order in found:
        named = next((each for each in joins.targets(value) if each in names), None)
        if named is not None:
            yield str(permute_dimensions.with_options(value=f"%{names[named]}", order=order))
