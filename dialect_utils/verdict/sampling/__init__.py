"""Inputs for executions: seeded, and chosen by the operations that read them."""

from dialect_utils.verdict.sampling.data_set import DataSet as DataSet
from dialect_utils.verdict.sampling.demands import Demand as Demand, array_demands as array_demands
from dialect_utils.verdict.sampling.plan import data_sets as data_sets, unreached as unreached
from dialect_utils.verdict.sampling.values import (
    LARGEST_INTEGER as LARGEST_INTEGER,
    random_inputs as random_inputs,
    small_integer_positions as small_integer_positions,
)
