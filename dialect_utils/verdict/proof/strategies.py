"""Strategies of a proof: how the terms of both modules are rewritten."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dialect_utils.ir.control_flow import MOST_ITERATIONS

# CPU seconds for each further strategy. Most take a few milliseconds.
SECONDS_OF_STRATEGY = 2.0
# CPU seconds for the elements of all results: a longer comparison rarely finds a proof, and leaves no time for others.
SECONDS_OF_ELEMENTS = 5.0
# The most iterations of loops that a further strategy unrolls.
_MANY_ITERATIONS = 128


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy of a proof: how the terms of both modules are rewritten.

    With `keeps_bits` no rule about floats is applied. Loops of up to `iterations` are unrolled. With `regroups` two
    combinations of the same elements are one term. With `expands` a small dot becomes a sum if the modules differ in
    the number of dots. With `keeps_orders` sums that both modules have equally often are not reordered. With `chooses`
    steps may round constants and use choices of the engine beyond NaN bits and sum order. With `cuts` a slice of a dot,
    a reduction or a broadcast is one of the slices of its operands. With `rounds_operands` operands of products may be
    in bf16. Conditions on data may exclude the values `excluded`.
    """

    keeps_bits: bool = False
    iterations: int = MOST_ITERATIONS
    regroups: bool = False
    expands: bool = True
    keeps_orders: bool = True
    chooses: bool = False
    excluded: frozenset[str] = frozenset()
    cuts: bool = False
    rounds_operands: bool = False

    def choosing(self, *, could_choose: bool, has_reductions: bool) -> Iterator[Strategy]:
        """Yields the strategies that use choices of the engine, the one with the fewest first."""
        if could_choose:
            yield replace(self, chooses=True)
        if has_reductions and not self.keeps_bits:
            yield replace(self, keeps_orders=False, regroups=True, chooses=True)

    def others(
        self, has_reductions: bool, has_orders: bool, has_unrolled: bool, has_loops: bool, has_expanded: bool
    ) -> Iterator[Strategy]:
        """Yields further strategies, depending on reductions, kept orders, unrolled and other loops, and dots."""
        if has_reductions and not self.keeps_bits:
            yield replace(self, regroups=True)
        if has_orders and not self.keeps_bits:
            yield (reordered := replace(self, keeps_orders=False))
            if has_reductions:
                yield replace(reordered, regroups=True)
        if has_unrolled:
            yield replace(self, iterations=0)
        if has_loops:
            yield replace(self, iterations=_MANY_ITERATIONS)
        if has_expanded:
            yield replace(self, expands=False)
        if not self.keeps_bits:
            yield replace(self, cuts=True)
