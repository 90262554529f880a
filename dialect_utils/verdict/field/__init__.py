"""Equality over the reals, decided in finite fields.

Two rational functions of degree d that differ agree at a random point of a field of p elements with probability
d / p at most (Schwartz and Zippel), so a few rounds leave next to nothing. Exponentials live in a second field, as in
Mirage (OSDI 2025); every other function of reals is a random function of its argument.
"""

from dialect_utils.verdict.field.decide import decide_over_reals

__all__ = ["decide_over_reals"]
