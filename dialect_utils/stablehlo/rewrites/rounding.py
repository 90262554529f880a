"""Modules whose dots and convolutions read operands that are rounded to bf16, as a TPU's do at DEFAULT precision."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.origins import walk
from dialect_utils.stablehlo.rewrites.editing import make

_SIDES = 2
_DEFAULT = "DEFAULT"
_BITS_OF_BF16 = {"exponent_bits": 8, "mantissa_bits": 7}
_CONVOLUTION = "stablehlo.convolution"


def round_operands(program: str | bytes, *, operands: int) -> tuple[str, *tuple[int, ...]]:
    """Returns a StableHLO module in which some operands of products are rounded to bf16; raises MLIR's errors.

    The products are the dots and convolutions of f32 at DEFAULT precision: bit 2n of `operands` stands for the left
    operand of product n, bit 2n + 1 for its right operand. Also returns two numbers for each product: the number of the
    first product with the same operands and attributes, and 1 for a convolution, 0 for a dot.
    """
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        products = list(_products(module))
        numbers: dict[Any, int] = {}
        facts = [
            (numbers.setdefault((each.name, *each.operands, str(each.attributes)), number), each.name == _CONVOLUTION)
            for number, each in enumerate(products)
        ]
        for number, operation in enumerate(products):
            for side in range(_SIDES):
                if operands >> (_SIDES * number + side) & 1:
                    _round(operation, side)
        module.operation.verify()
        return str(module), *(int(fact) for facts_of_one in facts for fact in facts_of_one)


def _products(module: Any) -> Iterator[Any]:
    """Yields the dots and convolutions whose operands a TPU may round."""
    for operation in walk(module.operation):
        if not has(hlo_opcode(operation.name), Trait.CONTRACTS) or len(operation.operands) != _SIDES:
            continue
        attributes = operation.attributes
        is_default = "algorithm" not in attributes and (
            "precision_config" not in attributes
            or all(_DEFAULT in str(each) for each in ir.ArrayAttr(attributes["precision_config"]))
        )
        if is_default and all(isinstance(each.type.element_type, ir.F32Type) for each in operation.operands):
            yield operation


def _round(operation: Any, side: int) -> None:
    value = operation.operands[side]
    number = ir.IntegerType.get_signless(32)
    bits = {name: ir.IntegerAttr.get(number, count) for name, count in _BITS_OF_BF16.items()}
    with ir.InsertionPoint(operation):
        # A conversion would not do: its widened form rounds at random.
        operation.operands[side] = make("stablehlo.reduce_precision", [value], value.type, bits)
