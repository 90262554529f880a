"""The data of one check: what two modules are run on."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.execution import from_plain_all
from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.structured import convolution_window, group_counts, labels
from dialect_utils.verdict.data import DataSet, array_needs, data_sets, unreached
from dialect_utils.verdict.movement import carriers, only_moves_data
from dialect_utils.verdict.options import Options


def chosen_data(
    shapes: Sequence[ArrayShape], modules: Sequence[Module], options: Options, *, sums: bool
) -> tuple[list[DataSet], list[str]]:
    """Returns the sets of data for entry arrays of these shapes, and what they do not reach.

    Where both modules only move data, carriers are among them. `sums`: some output is a sum of floats.
    """
    if options.inputs is not None:
        return [DataSet("given", from_plain_all(options.inputs, shapes))], []
    if not shapes:
        return [DataSet("own", [])], []
    needs = array_needs(modules, shapes)
    is_finite = any(_multiplies_padding(operation) for module in modules for operation in module.operations())
    computed = [operation for operation in modules[0].operations() if operation.opcode == "conditional"]
    branches = [f"not known: which branches of conditional {_name(each)} were taken" for each in computed]
    sets = data_sets(needs, options.seeds, finite=is_finite, sums=sums)
    if all(map(only_moves_data, modules)):
        sets += [DataSet("carriers", arrays) for arrays in carriers(shapes)]
    return sets, [*unreached(needs, options.seeds, finite=is_finite), *branches]


def _name(operation: Operation) -> str:
    return operation.results[0].name if operation.results else operation.opcode


def _multiplies_padding(operation: Operation) -> bool:
    """Is true for a convolution of which XLA:CPU multiplies zeros that are no elements: infinity times 0 is NaN."""
    kernel = operation.operands[1].shape if operation.opcode == "convolution" else None
    if not isinstance(kernel, ArrayShape):
        return False
    try:
        sizes = [kernel.dimensions[i] for i in labels(operation).rhs_spatial]
        window = convolution_window(operation, sizes)
    except (UndefinedError, ValueError):
        return True
    padded = any((each.low, each.high, each.lhs_dilation, each.rhs_dilation) != (0, 0, 1, 1) for each in window)
    return padded or group_counts(operation) != (1, 1)
