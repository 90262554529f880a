"""HLO text: the only reader and writer of it. Knows no jaxlib and no numpy."""

from dialect_utils.hlo.builder import HloBuilder as HloBuilder
from dialect_utils.hlo.computation import Computation as Computation
from dialect_utils.hlo.instruction import Instruction as Instruction
from dialect_utils.hlo.module import HloModule as HloModule
from dialect_utils.hlo.parse import parse_module as parse_module
from dialect_utils.hlo.text.literals import (
    decode_float as decode_float,
    format_scalar as format_scalar,
    parse_scalar as parse_scalar,
)
