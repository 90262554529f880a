from collections.abc import Hashable, Sequence

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra.numbers import compared
from dialect_utils.verdict.proof.algebra.numbers import folded as _folded


def folded(label: Hashable, element_type: ElementType, operands: Sequence[tuple[ElementType, int]]):
    if isinstance(label, str):
        if len({k for k, _ in operands}) != 1:
            return None
        if label in ("add", "subtract", "multiply") and element_type.is_integral:
            a, b = operands[0][1], operands[1][1]
            return {"add": a + b, "subtract": a - b, "multiply": a * b}[label] % (1 << element_type.bits)
        return _folded(label, element_type, operands[0][0], tuple(b for _, b in operands))
    if isinstance(label, tuple) and label[0] == "compare" and not label[2]:
        d = label[1]
        a, b = operands
        if d in ("GT", "GE"):
            d = {"GT": "LT", "GE": "LE"}[d]
            a, b = b, a
        if d == "NE":
            r = compared("EQ", a[0], a[1], b[1])
            return None if r is None else 1 - r
        return compared(d, a[0], a[1], b[1])
    return None


from dialect_utils.verdict.replay.graph import Level


def check_scalar(rule, before, after):
    return Level.NAN
