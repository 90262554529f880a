"""Inputs for executions: seeded, and chosen by the operations that read them."""

from dialect_utils.verdict.sampling.kinds import DataSet
from dialect_utils.verdict.sampling.needs import Need, array_needs
from dialect_utils.verdict.sampling.plan import data_sets, unreached
from dialect_utils.verdict.sampling.values import LARGEST_INTEGER, Style, random_inputs, small_integer_positions

__all__ = [
    "LARGEST_INTEGER",
    "DataSet",
    "Need",
    "Style",
    "array_needs",
    "data_sets",
    "random_inputs",
    "small_integer_positions",
    "unreached",
]
