"""HLO text: the only reader and writer of it. Knows no jaxlib and no numpy."""

from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.computation import Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.hlo.parse import parse_module
from dialect_utils.hlo.text.literals import decode_float, format_scalar, parse_scalar

__all__ = [
    "Computation",
    "HloBuilder",
    "HloModule",
    "Instruction",
    "decode_float",
    "format_scalar",
    "parse_module",
    "parse_scalar",
]
