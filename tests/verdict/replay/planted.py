"""Bugs of a prover: each changes one expression of its code, and two programs that differ become equal for it."""

from __future__ import annotations

from tests.verdict.proof import expressions as ex
from tests.verdict.proof.expressions import (
    E,
    binary,
    broadcast,
    clamp,
    compare,
    concatenate,
    constant,
    convert,
    convolution,
    dot,
    dynamic_slice,
    dynamic_update_slice,
    full,
    gather_elements,
    gather_rows,
    iota,
    reduce,
    reverse,
    select,
    slice_,
    transpose,
    unary,
)
from tests.verdict.replay.planting import (
    BRANCHES,
    GROWING,
    IN_ANOTHER_ORDER,
    KEPT,
    NEVER,
    SHRINKING,
    THRICE,
    Bug,
    bug,
)

_LEAVES: dict[tuple[int, str, tuple[int, ...]], E] = {}


def leaf(number: int, kind: str, *dims: int) -> E:
    return _LEAVES.setdefault((number, kind, dims), ex.parameter(len(_LEAVES), kind, dims))


A, B = leaf(0, "f32", 3, 4), leaf(1, "f32", 3, 4)
S, T, U = leaf(0, "s32", 3, 4), leaf(1, "s32", 3, 4), leaf(0, "u32", 3, 4)
P, Q, R = (leaf(i, "pred", 3, 4) for i in range(3))
H, SHORT, LOW, BITS = leaf(0, "bf16", 3, 4), *(leaf(i, "s16", 3, 4) for i in range(3))
V, W, AT = leaf(0, "f32", 3), leaf(0, "f32", 3, 3), leaf(0, "s32")
PAIRS, LATER = leaf(0, "s32", 5, 2), leaf(1, "s32")
CUBE, ROWS = leaf(0, "f32", 3, 4, 2), leaf(0, "s32", 5)
M, N, X0 = leaf(0, "f32", 4, 4), leaf(1, "f32", 4, 4), leaf(0, "f32")
IMAGE, KERNEL = leaf(0, "f32", 1, 2, 5), leaf(0, "f32", 3, 2, 2)
NONE, ZERO, HIGH = constant("s32", 0), constant("f32", 0), 2147483647


def floats(value: object) -> E:
    return full("f32", value, (3, 4))


def ints(value: object, kind: str = "s32") -> E:
    return full(kind, value, (3, 4))


def truth(value: str) -> E:
    return full("pred", value, (3, 4))


_CLAMPED = [clamp(NONE, AT, constant("s32", number)) for number in (1, 0)]
_BELOW = binary("minimum", AT, constant("s32", 1))
BUGS = {
    "-x is x": bug("algebra.ring", "_scaled(found[0], -1)", "_scaled(found[0], 1)", -S, S),
    "x - y is x + y": bug(
        "algebra.ring", 'found[1] if opcode == "add" else _scaled(found[1], -1)', "found[1]", S - T, S + T
    ),
    "one bit too few": bug(
        "algebra.ring",
        "1 << array.element_type.bits\n",
        "1 << (array.element_type.bits - 1)\n",
        S * ints(-2147483648),
        ints(0),
    ),
    "a polynomial is extended to more bits": bug(
        "algebra.ring",
        " or kind.bits > wide.bits:",
        ":",
        convert(S + T, "s64"),
        convert(S, "s64") + convert(T, "s64"),
    ),
    "a guard does not count": bug(
        "algebra.matching",
        "if types is None or not equation.holds(types, match.constants):",
        "if types is None:",
        binary("remainder", U, ints(6, "u32")),
        binary("and", U, ints(5, "u32")),
    ),
    "every operation commutes": bug(
        "algebra.matching",
        "if law is not None:",
        "if True:",
        binary("shift-right-logical", binary("shift-right-logical", ints(2), S), ints(3)),
        binary("shift-right-logical", S, ints(5)),
    ),
    "one of three operands is lost": bug(
        "algebra.matching",
        "if each not in first]\n",
        "if each not in first][:1]\n",
        unary("not", binary("and", binary("and", P, Q), R)),
        unary("not", binary("and", P, Q)),
    ),
    "every sum is the sum of known operands": bug(
        "algebra.matching",
        "return is_known and self.made(pattern, self.terms.each) is term",
        "return is_known",
        select(compare("LT", S, ints(0)), S + T, S),
        select(compare("LT", S, ints(0)), ints(HIGH) - S, S),
    ),
    "a constant is one of a narrower type": bug(
        "algebra.matching",
        "    if back != bits and not (is_nan(wide, bits) and is_nan(wide, back)):\n        return None\n",
        "",
        compare("LT", convert(H, "f32"), floats(1.0001)),
        compare("LT", convert(H, "f32"), floats(1)),
    ),
    "every conversion loses nothing": bug(
        "algebra.matching",
        "not is_lossless(source, element_type) or ",
        "",
        compare("EQ", convert(SHORT, "s64"), convert(S, "s64")),
        compare("EQ", SHORT, convert(S, "s16")),
    ),
    "an operation is that of its operand": bug(
        "algebra.matching",
        "return match.made(equation.left.operands[0], terms.each)",
        "return match.made(equation.left.operands[0].operands[0], terms.each)",
        compare("EQ", convert(SHORT, "s64"), binary("and", convert(LOW, "s64"), convert(BITS, "s64"))),
        compare("EQ", SHORT, LOW),
    ),
    "both sides of a select stay for the opposite": bug(
        "algebra.comparisons",
        'return terms.each("select", kind, (opposite, second, first))',
        'return terms.each("select", kind, (opposite, first, second))',
        select(unary("not", P), A, B),
        select(P, A, B),
    ),
    "a difference has the wrong sign": bug(
        "algebra.comparisons",
        "bits = -constant if signs[0] == 1 else constant",
        "bits = constant",
        compare("EQ", S + ints(3), ints(5)),
        compare("EQ", S, ints(-2)),
    ),
    "the lowest number is neutral": bug(
        "algebra.lattice",
        'if opcode == "maximum" else (high, low)',
        "if True else (high, low)",
        binary("minimum", S, ints(-2147483648)),
        S,
    ),
    "infinity absorbs NaN": bug(
        "algebra.lattice",
        "return neutral, None if element_type.is_floating else absorbing",
        "return neutral, absorbing",
        binary("maximum", A, floats("inf")),
        floats("inf"),
    ),
    "and of constants is or": bug(
        "algebra.lattice",
        'return first & second if opcode == "and" else first | second',
        "return first | second",
        binary("and", binary("and", S, ints(3)), ints(5)),
        binary("and", S, ints(7)),
    ),
    "a NaN is dropped": bug(
        "algebra.lattice",
        "if len(present) == len(part.operands):",
        "if present:",
        binary("maximum", A, binary("minimum", A, B)),
        A,
    ),
    "the larger bound is nearer": bug(
        "algebra.lattice",
        '(join.opcode == "and") == key[2]',
        '(join.opcode == "and") != key[2]',
        binary("and", compare("LT", A, floats(1)), compare("LT", A, floats(2))),
        compare("LT", A, floats(2)),
    ),
    "bounds in any order": bug(
        "algebra.lattice",
        "or sort_key(kind, bound) > sort_key(kind, high)",
        "",
        binary("maximum", binary("minimum", S, ints(1)), ints(5)),
        binary("minimum", binary("maximum", S, ints(5)), ints(1)),
    ),
    "exclusive or is idempotent": bug(
        "algebra.lattice",
        "odd.pop(part) if part in odd else odd.setdefault(part)",
        "odd.setdefault(part)",
        binary("xor", P, P),
        P,
    ),
    "quotients have no sign": bug(
        "algebra.numbers", "else -magnitude", "else magnitude", S + ints(-7) / ints(2), S + ints(3)
    ),
    "sums of floats are exact": bug(
        "symbols",
        "return neutral_bits(opcode, element_type) is not None and is_exact(opcode, element_type)",
        "return neutral_bits(opcode, element_type) is not None",
        reduce("add", broadcast(X0, (3, 4)), X0, [1]),
        reduce("add", broadcast(X0, (3, 4)), constant("f32", "-0.0"), [1]) + broadcast(X0, (3,)),
    ),
    "a broadcast keeps the first dimensions": bug(
        "movement",
        "order = [*targets, *others]",
        "order = [*range(len(sizes))]",
        broadcast(V, (3, 3), (0,)),
        broadcast(V, (3, 3), (1,)),
    ),
    "reversals are idempotent": bug(
        "movement",
        "rest = reversed_ ^ inner",
        "rest = reversed_ | inner",
        reverse(reverse(A, [0]), [0]),
        reverse(A, [0]),
    ),
    "inner parts are joined backwards": bug(
        "sources",
        "in zip(base.operands, found[1]",
        "in zip(base.operands[::-1], found[1]",
        concatenate([concatenate([A, B], 0), A], 0),
        concatenate([B, A, A], 0),
    ),
    "a slice starts one too early": bug(
        "slices",
        "min(value, full - size)))",
        "min(value, full - size - 1)))",
        dynamic_slice(A, [constant("s32", 1), NONE], (2, 4)),
        slice_(A, [(0, 2), (0, 4)]),
    ),
    "four numbers are zeros": bug("movement", "if size <= 1 and", "if size <= 4 and", S + iota("s32", (3, 4), 1), S),
    "an update of some rows is one of all": bug(
        "slices",
        "if part == sizes: ... return new",
        "if part != sizes: ... return whole",
        dynamic_update_slice(A, leaf(2, "f32", 1, 4), [AT, NONE]),
        A,
    ),
    "indexed dimensions keep their order": bug(
        "slices",
        "turned = transposed(self, array, (*order, count))",
        "turned = transposed(self, array, (*range(count + 1),))",
        gather_elements(W, PAIRS, (0, 1)),
        gather_elements(W, PAIRS, (1, 0)),
    ),
    "windows of a gather keep the order of the array": bug(
        "slices",
        "undone = out_of_last_order(plain.array.dimensions, order)",
        "undone = ()",
        gather_rows(transpose(CUBE, (0, 2, 1)), ROWS),
        ex.reshape(gather_rows(CUBE, ROWS), (5, 2, 4)),
    ),
    "all parts of a concatenation are the first": bug(
        "sources",
        "_arranged(terms, each, order, units) for each in parts]",
        "_arranged(terms, each, order, units) for each in parts[:1] * len(parts)]",
        concatenate([transpose(A, (1, 0)), transpose(B, (1, 0))], 0),
        concatenate([transpose(A, (1, 0))] * 2, 0),
    ),
    "a reversal of a transposed array has the numbers of before": bug(
        "movement",
        "frozenset(map(order.index, dimensions))",
        "frozenset(dimensions)",
        reverse(transpose(W, (1, 0)), [0]),
        transpose(reverse(W, [0]), (1, 0)),
    ),
    "any conversion keeps an index": bug(
        "slices",
        "if not kind.is_integral or not is_lossless(kind, index.array.element_type):",
        "if not kind.is_integral:",
        gather_elements(W, PAIRS, (0, 1)),
        gather_elements(W, convert(convert(PAIRS, "s8"), "s32"), (0, 1)),
    ),
    "slices keep the order of dimensions": bug(
        "slices",
        "        turned = array if self._is_plain else transposed(movement, array, self.order)",
        "        turned = array",
        dynamic_slice(W, [AT, LATER], (1, 1)),
        dynamic_slice(W, [LATER, AT], (1, 1)),
    ),
    "every part of a concatenation is the first": bug(
        "normal_forms",
        "return None if _OTHER_PARTS in form.paddings else (number, form)",
        "return None if _OTHER_PARTS in form.paddings else (0, form)",
        slice_(concatenate([A, B], 0), [(3, 5), (0, 4)]),
        slice_(A, [(0, 2), (0, 4)]),
    ),
    "a dot swaps its operands without a transpose": bug(
        "products",
        "return transposed(self, self._ordered(inner), (0, 2, 1))",
        "return self._ordered(inner)",
        dot(M + N, M, ([1], [1])),
        dot(M, M + N, ([1], [1])),
    ),
    "a dot gives its columns an order that its result lacks": bug(
        "contractions",
        '[_inverse(orders[each]) for each in ("batch", "rows", "columns")]',
        '[orders[each] for each in ("batch", "rows", "columns")]',
        dot(A, ex.reshape(transpose(leaf(1, "f32", 2, 3, 4), (2, 1, 0)), (4, 6)), ([1], [0])),
        ex.reshape(
            transpose(
                ex.reshape(dot(A, ex.reshape(leaf(1, "f32", 2, 3, 4), (6, 4)), ([1], [1])), (3, 3, 2)), (0, 2, 1)
            ),
            (3, 6),
        ),
    ),
    "a sum of one element is the next one": bug(
        "symbols",
        "bare = reshaped(self, array, (rows,))",
        "bare = reshaped(self, self.reverse(array, (0,)), (rows,))",
        reduce("add", leaf(0, "f32", 3, 1), ZERO, [1]),
        ex.reshape(reverse(leaf(0, "f32", 3, 1), [0]), (3,)),
    ),
    "convolutions read no window": bug(
        "products",
        "*operands, window, groups, sizes, not is_skipped)",
        "*operands, tuple(type(each)(each.size) for each in window), groups, sizes, not is_skipped)",
        convolution(IMAGE, KERNEL, (1, 3, 4), "size=2", "bf0_oi0->bf0"),
        convolution(IMAGE, KERNEL, (1, 3, 4), "size=2 pad=1_-1", "bf0_oi0->bf0"),
    ),
    "every reduction is a sum": bug(
        "symbols",
        "        return [self.combine(opcode, *operands)]",
        '        return [self.combine("add", *operands)]',
        reduce("multiply", S, NONE, [0]),
        reduce("add", S, NONE, [0]),
    ),
    "movement in normal form is none": bug(
        "terms",
        "        form, method = normalized(plan)\n",
        '        form, method = (normalized(plan) if plan.result != plan.start else (plan.part(0, 0), "x"))\n',
        transpose(M, (1, 0)),
        M,
    ),
    "operations after a movement are another": bug(
        "terms",
        "done = self.each(part.label, part.array.element_type, operands)",
        'done = self.each("cosine" if part.label == "sine" else part.label, part.array.element_type, operands)',
        broadcast(unary("sine", V), (3, 3), (0,)),
        broadcast(unary("cosine", V), (3, 3), (0,)),
    ),
    "one equal element is enough": bug(
        "elements",
        "return all((a is b and",
        "return any((a is b and",
        concatenate([slice_(V, [(0, 1)]), slice_(V, [(2, 3)])], 0),
        slice_(V, [(0, 2)]),
    ),
    "positions end one too early": bug(
        "elements",
        "lasts = [a - b for a, b in zip(array.shape, sizes, strict=True)]",
        "lasts = [0 for a, b in zip(array.shape, sizes, strict=True)]",
        dynamic_slice(reverse(A, [0]), [AT, NONE], (2, 4)),
        slice_(reverse(A, [0]), [(0, 2), (0, 4)]),
    ),
    "all cases are equal": bug(
        "cases",
        "return depth < _DEEPEST and self._is_same(first, second)",
        "return True",
        unary("sine", A),
        unary("cosine", A),
    ),
    "labels do not count": bug(
        "decide",
        "is_alike = (a.kind, a.label, len(a.operands)) == (b.kind, b.label, len(b.operands))",
        "is_alike = (a.kind, len(a.operands)) == (b.kind, len(b.operands))",
        unary("exponential", A),
        unary("tanh", A),
    ),
    "all values are equal": bug("decide", "if a is b and a.is_specified:", "if True:", A, B),
    "all movement reads the same": bug(
        "decide",
        "        if proof is None or not proof.holds:\n            return False\n",
        "",
        transpose(M, (1, 0)),
        M,
    ),
    "an unrolled loop ends at once": Bug("loops", "        if not bits:\n", "        if True:\n", THRICE, NEVER),
    "branches do not count": Bug(
        "decide",
        "if is_alike and a.operands and all(map(self._same, a.operands, b.operands)):",
        "if is_alike and a.operands:",
        *BRANCHES,
    ),
    "the bodies of loops do not count": Bug(
        "decide",
        "if is_alike and a.operands and all(map(self._same, a.operands, b.operands)):",
        "if is_alike and a.operands:",
        GROWING,
        SHRINKING,
    ),
    "a rounded constant is another one": bug(
        "algebra.normal_form",
        "found = terms.literal(element_type, bits,",
        "found = terms.literal(element_type, bits ^ 1,",
        S * (ints(2) / ints(2)),
        ints(0),
    ),
    "an index picks the first element": bug(
        "picks",
        "if all(item is taken[0] for item in taken):",
        "if taken:",
        dynamic_slice(A, [AT, NONE], (2, 4)),
        slice_(A, [(0, 2), (0, 4)]),
    ),
    "signed bounds are read as unsigned": bug(
        "picks",
        "    if kind.is_unsigned:\n",
        "    if True:\n",
        dynamic_slice(A, [_BELOW * _BELOW, NONE], (1, 4)),
        dynamic_slice(A, [_BELOW * _BELOW * _BELOW, NONE], (1, 4)),
    ),
    "one case is enough": bug(
        "cases",
        "for value in (1, 0):",
        "for value in (1,):",
        unary("sine", select(P, A, B)),
        unary("sine", A),
    ),
    "a state that changes is fixed": Bug(
        "loops", "if plain.ends[i] is not variable]", "if plain.ends[i] is not variable and i != 2]", GROWING, KEPT
    ),
    "a state that is read is dropped": Bug(
        "loops",
        "        return order\n\n ... is_closed = not any(",
        "        return [i for i in order if i != 2]\n\n ... is_closed = True or any(",
        GROWING,
        SHRINKING,
    ),
    "results of a loop are in the order of its state": Bug(
        "loops", "for i, out in zip(order, self._outs", "for i, out in zip(sorted(order), self._outs", *IN_ANOTHER_ORDER
    ),
}
