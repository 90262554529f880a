"""Rules as data: equations with guards that name properties of formats, which the replay and `make rules` check."""

from dialect_utils.verdict.rules import arrays, comparisons, conditional, conversions, extremes, floats, integers
from dialect_utils.verdict.rules.pattern import Pattern
from dialect_utils.verdict.rules.rule import Definition, Equation, Level, Rule, all_definitions, all_rules, try_rule

# Conditional rules come last: the prover rewrites by the first equation that matches.
FILES = (arrays, comparisons, conversions, extremes, floats, integers, conditional)

__all__ = ["Definition", "Equation", "Level", "Pattern", "Rule", "all_definitions", "all_rules", "try_rule"]
