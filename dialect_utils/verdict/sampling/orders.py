"""Compares programs in the orders that they leave to the engine (stablehlo/rewrites/ordering.py).

The original runs in a few orders of each kind. In every order that the rewrite leaves open, its result must equal one
of the original's results. Where the original gives the same result in all orders, it leaves no order open, and a
different result of the rewrite is wrong; otherwise that result may belong to an order that was not tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from dialect_utils.execution import Array, ExecutionError
from dialect_utils.verdict.comparator import Finding
from dialect_utils.verdict.judge import Judge, also, joined
from dialect_utils.verdict.runs import HigherPrecision, Results, Runs
from dialect_utils.verdict.sampling import DataSet

_LEFT_OPEN = "the results differ only in the order of NaN or of equal keys, which the original leaves to the engine"
_NOT_TRIED = "the original leaves the order of NaN or of equal keys to the engine, and no order that was tried gives it"
# The rank of a later position among equal keys, and the rank of 0 relative to -0 and of NaNs among each other.
_OF_ORIGINAL = tuple(product((1, -1), (0, 1, -1)))
_OF_REWRITE = ((1, 0), (-1, 0))
# The rewrite's outputs on one set of data, with zeros and with poison as padding of the inputs.
_Rewritten = tuple[list[Array], list[Array]]


def compared_in_open_orders(
    runs: Runs, judge: Judge, *, where_more_is_open: bool = False
) -> tuple[Runs, Finding] | None:
    """Compares both programs in the orders that they allow; also returns the runs that decided.

    Returns None where the original leaves no order open; with `where_more_is_open`, where the rewrite has no more
    unstable sorts than the original.
    """
    try:
        (runs_nan_last, of_first, of_last), (runs_nan_first, _, _) = (
            runs.ordered(nan_first=nan_first) for nan_first in (False, True)
        )
        # Counts of operations that leave any order open, and of sorts that leave the order of equal keys open.
        if not (of_last[1] > of_first[1] if where_more_is_open else of_first[0]):
            return None
        both = (runs_nan_last, runs_nan_first)
        orders = [order for given in both for order in _orders(given)]
        made = [
            (i % len(given.data), each) for given in both for i, each in enumerate(given.ranked(*_OF_REWRITE).rewrite())
        ]
    except ExecutionError:
        return None
    found = replace(_Allowed(runs, judge, orders).joined(made), expected=orders[0].outputs)
    return runs_nan_last.ranked(_OF_ORIGINAL[0]), found


@dataclass(frozen=True, slots=True)
class _Order:
    """The original's outputs on each set of data in one order, and its runs in higher precision in that order."""

    data: Sequence[DataSet]
    outputs: Sequence[list[Array]]
    widened: HigherPrecision


def _orders(runs: Runs) -> Iterator[_Order]:
    widened, sets = runs.widened(), len(runs.data)
    every = runs.ranked(*_OF_ORIGINAL)
    outputs = every.original()
    for start in range(0, len(outputs), sets):
        yield _Order(every.data[start : start + sets], outputs[start : start + sets], widened)


@dataclass(frozen=True, slots=True)
class _Allowed:
    """The outputs that the original allows; differences are shown against the first order."""

    runs: Runs
    judge: Judge
    orders: Sequence[_Order]

    def joined(self, made: Sequence[tuple[int, _Rewritten]]) -> Finding:
        """Returns the joined finding on the rewrite's outputs in all orders, each with the number of its data."""
        nearest = [self._nearest(*each) for each in made]
        findings: list[Finding] = []
        for widened in (self.orders[0].widened, self.orders[-1].widened):
            near = [each for each in nearest if each.order.widened is widened]
            decided = self.judge.decided([each.results for each in near], [each.found for each in near], widened)
            # Fewer findings where the higher-precision program does not run.
            findings += [self._weighed(each, found) for each, found in zip(near, decided, strict=False)]
        whole = joined(findings)
        return whole if whole.answer != "agrees" else also(whole, _LEFT_OPEN)

    def _nearest(self, number: int, rewritten: _Rewritten) -> _Near:
        """Returns the order of the original whose results the rewrite has; the first order where no results match."""
        tried = []
        for order in self.orders:
            results = self.runs.put_together(order.data[number], order.outputs[number], rewritten)
            tried.append(_Near(number, order, results, self.judge.finding(results)))
            if tried[-1].found.answer != "different":
                return tried[-1]
        return tried[0]

    def _weighed(self, near: _Near, found: Finding) -> Finding:
        """Returns a finding in which a difference is wrong only where the original leaves no order open."""
        expected = self.orders[0].outputs[near.number]
        differences = self.judge.comparator.differences
        if found.answer != "different" or not any(
            differences(expected, each.outputs[near.number]) for each in self.orders
        ):
            return found
        return Finding("unknown", f"{found.reason}: {_NOT_TRIED}", differing=found.differing)


@dataclass(frozen=True, slots=True)
class _Near:
    """A set of data, an order of the original, and the finding for both results."""

    number: int
    order: _Order
    results: Results
    found: Finding
