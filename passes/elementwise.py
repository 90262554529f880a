"""Elementwise ops, for passes."""

from dialect_utils.elementwise import ELEMENTWISE, is_elementwise, scalar_operands

__all__ = ["ELEMENTWISE", "is_elementwise", "scalar_operands"]
