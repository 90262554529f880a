"""Bugs of a prover: each changes one expression of its code, and two programs that differ become equal for it."""

from __future__ import annotations

from tests.mutants.edits import Edit
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
    "-x is x": bug([Edit("ring:build", "_scaled(found[0], -1)", "found[0]")], -S, S),
    "x - y is x + y": bug(
        [Edit("ring:build", 'found[1] if opcode == "add" else _scaled(found[1], -1)', "found[1]")], S - T, S + T
    ),
    "one bit too few": bug(
        [Edit("from_polynomial", "array.element_type.bits", "array.element_type.bits - 1")],
        S * ints(-2147483648),
        ints(0),
    ),
    "a polynomial is extended to more bits": bug(
        [
            Edit(
                "ring:narrowed",
                "operand not in terms.polynomials or not kind.is_integral or kind.bits > wide.bits",
                "operand not in terms.polynomials or not kind.is_integral",
            )
        ],
        convert(S + T, "s64"),
        convert(S, "s64") + convert(T, "s64"),
    ),
    "a guard does not count": bug(
        [Edit("_instance", "types is None or not equation.holds(types, match.constants)", "types is None")],
        binary("remainder", U, ints(6, "u32")),
        binary("and", U, ints(5, "u32")),
    ),
    "every operation commutes": bug(
        [Edit("Match._orders", "law is not None", "True")],
        binary("shift-right-logical", binary("shift-right-logical", ints(2), S), ints(3)),
        binary("shift-right-logical", S, ints(5)),
    ),
    "one of three operands is lost": bug(
        [
            Edit(
                "Match._groups",
                "rest = [each for each in term.operands if each not in first]",
                "rest = [term.operands[-2]]",
            )
        ],
        unary("not", binary("and", binary("and", P, Q), R)),
        unary("not", binary("and", P, Q)),
    ),
    "every sum is the sum of known operands": bug(
        [Edit("Match._is_polynomial", "is_known and self.made(pattern, self.terms.each) is term", "is_known")],
        select(compare("LT", S, ints(0)), S + T, S),
        select(compare("LT", S, ints(0)), ints(HIGH) - S, S),
    ),
    "a constant is one of a narrower type": bug(
        [Edit("matching:_constant", "back != bits and not (is_nan(wide, bits) and is_nan(wide, back))", "False")],
        compare("LT", convert(H, "f32"), floats(1.0001)),
        compare("LT", convert(H, "f32"), floats(1)),
    ),
    "every conversion loses nothing": bug(
        [Edit("_of_conversion", "not is_lossless(source, element_type)", "False")],
        compare("EQ", convert(SHORT, "s64"), convert(S, "s64")),
        compare("EQ", SHORT, convert(S, "s16")),
    ),
    "an operation is that of its operand": bug(
        [Edit("matching:_of_operation", "equation.left.operands[0]", "equation.left.operands[0].operands[0]")],
        compare("EQ", convert(SHORT, "s64"), binary("and", convert(LOW, "s64"), convert(BITS, "s64"))),
        compare("EQ", SHORT, LOW),
    ),
    "both sides of a select stay for the opposite": bug(
        [Edit("_by_older_predicate", "(opposite, second, first)", "(opposite, first, second)")],
        select(unary("not", P), A, B),
        select(P, A, B),
    ),
    "a difference has the wrong sign": bug(
        [Edit("_without_common_terms", "-constant if signs[0] == 1 else constant", "constant")],
        compare("EQ", S + ints(3), ints(5)),
        compare("EQ", S, ints(-2)),
    ),
    "ones are neutral": bug(
        [Edit("_by_equations", "found is first and second is constant", "second is constant")],
        binary("or", binary("or", S, ints(-2)), ints(1)),
        S,
    ),
    "infinity absorbs NaN": bug(
        [
            Edit("matching:rewritten", "operand.array.element_type.name", "'s32'"),
            Edit("matching:rewritten", "term.array.element_type.name", "'s32'"),
            Edit("_instance", "types is None or not equation.holds(types, match.constants)", "types is None"),
        ],
        binary("maximum", A, floats("inf")),
        floats("inf"),
    ),
    "and of constants is or": bug(
        [
            Edit(
                "lattice:_flattened",
                "terms.each(join.opcode, kind, (total, part))",
                'terms.each("or", kind, (total, part))',
            )
        ],
        binary("and", binary("and", S, ints(3)), ints(5)),
        binary("and", S, ints(7)),
    ),
    "a NaN is dropped": bug(
        [Edit("_drop_middle", "{*part.operands} <= {*join.parts}", "{*part.operands} & {*join.parts}")],
        binary("maximum", A, binary("minimum", A, B)),
        A,
    ),
    "the larger bound is nearer": bug(
        [Edit("_instance", "types is None or not equation.holds(types, match.constants)", "types is None")],
        binary("and", compare("LT", A, floats(2)), compare("LT", A, floats(1))),
        compare("LT", A, floats(2)),
    ),
    "bounds in any order": bug(
        [Edit("_instance", "types is None or not equation.holds(types, match.constants)", "types is None")],
        binary("maximum", binary("minimum", S, ints(1)), ints(5)),
        binary("minimum", binary("maximum", S, ints(5)), ints(1)),
    ),
    "exclusive or is idempotent": bug(
        [Edit("algebra:_exclusive", "odd.pop(part) if part in odd else odd.setdefault(part)", "odd.setdefault(part)")],
        binary("xor", P, P),
        P,
    ),
    "a quotient is the other one": bug(
        [
            Edit(
                "normal_form:_folded",
                "tuple((kind, each) for each in known)",
                "tuple((kind, each) for each in known[::-1])",
            )
        ],
        S + ints(7) / ints(2),
        S,
    ),
    "sums of floats are exact": bug(
        [
            Edit(
                "Symbols._is_last",
                "neutral(opcode, element_type) is not None and is_exact(opcode, element_type)",
                "neutral(opcode, element_type) is not None",
            )
        ],
        reduce("add", broadcast(X0, (3, 4)), X0, [1]),
        reduce("add", broadcast(X0, (3, 4)), constant("f32", "-0.0"), [1]) + broadcast(X0, (3,)),
    ),
    "a broadcast keeps the first dimensions": bug(
        [Edit("_apart", "[*targets, *others]", "[*range(len(sizes))]")],
        broadcast(V, (3, 3), (0,)),
        broadcast(V, (3, 3), (1,)),
    ),
    "reversals are idempotent": bug(
        [Edit("Movement.reverse", "^", "|")],
        reverse(reverse(A, [0]), [0]),
        reverse(A, [0]),
    ),
    "inner parts are joined backwards": bug(
        [
            Edit(
                "proof:_inner",
                "zip(base.operands, found[1], strict=True)",
                "zip(base.operands[::-1], found[1], strict=True)",
            )
        ],
        concatenate([concatenate([A, B], 0), A], 0),
        concatenate([B, A, A], 0),
    ),
    "a slice starts one too early": bug(
        [Edit("Slices._starts", "full - size", "full - size - 1")],
        dynamic_slice(A, [constant("s32", 1), NONE], (2, 4)),
        slice_(A, [(0, 2), (0, 4)]),
    ),
    "four numbers are zeros": bug(
        [
            Edit(
                "Movement.iota", "self.written.iota(element_type, size)", "self.terms.literal(element_type, 0, (size,))"
            )
        ],
        S + iota("s32", (3, 4), 1),
        S,
    ),
    "an update of some rows is one of all": bug(
        [
            Edit("Slices.update_at", "part == sizes", "part != sizes"),
            Edit("Slices.update_at", "return new", "return whole"),
        ],
        dynamic_update_slice(A, leaf(2, "f32", 1, 4), [AT, NONE]),
        A,
    ),
    "indexed dimensions keep their order": bug(
        [Edit("Slices._gathered", "(*order, count)", "(*range(count + 1),)")],
        gather_elements(W, PAIRS, (0, 1)),
        gather_elements(W, PAIRS, (1, 0)),
    ),
    "windows of a gather keep the order of the array": bug(
        [Edit("Slices._gathered_in_order", "out_of_last_order(plain.array.dimensions, order)", "()")],
        gather_rows(transpose(CUBE, (0, 2, 1)), ROWS),
        ex.reshape(gather_rows(CUBE, ROWS), (5, 2, 4)),
    ),
    "all parts of a concatenation are the first": bug(
        [
            Edit(
                "proof:concatenated",
                "[_arranged(terms, each, order, units) for each in parts]",
                "[_arranged(terms, each, order, units) for each in parts[:1] * len(parts)]",
            )
        ],
        concatenate([transpose(A, (1, 0)), transpose(B, (1, 0))], 0),
        concatenate([transpose(A, (1, 0))] * 2, 0),
    ),
    "a reversal of a transposed array has the numbers of before": bug(
        [Edit("Movement._reversed", "map(order.index, dimensions)", "dimensions")],
        reverse(transpose(W, (1, 0)), [0]),
        transpose(reverse(W, [0]), (1, 0)),
    ),
    "any conversion keeps an index": bug(
        [
            Edit(
                "proof:_unconverted",
                "not kind.is_integral or not is_lossless(kind, index.array.element_type)",
                "not kind.is_integral",
            )
        ],
        gather_elements(W, PAIRS, (0, 1)),
        gather_elements(W, convert(convert(PAIRS, "s8"), "s32"), (0, 1)),
    ),
    "slices keep the order of dimensions": bug(
        [
            Edit(
                "_Arrangement.arranged", "array if self._is_plain else transposed(movement, array, self.order)", "array"
            )
        ],
        dynamic_slice(W, [AT, LATER], (1, 1)),
        dynamic_slice(W, [LATER, AT], (1, 1)),
    ),
    "every part of a concatenation is the first": bug(
        [Edit("try_read_one_part", "(number, form)", "(0, form)")],
        slice_(concatenate([A, B], 0), [(3, 5), (0, 4)]),
        slice_(A, [(0, 2), (0, 4)]),
    ),
    "a dot swaps its operands without a transpose": bug(
        [Edit("Products._swapped", "transposed(self, self._ordered(inner), (0, 2, 1))", "self._ordered(inner)")],
        dot(M + N, M, ([1], [1])),
        dot(M, M + N, ([1], [1])),
    ),
    "a dot gives its columns an order that its result lacks": bug(
        [Edit("dot_order", "_inverse(orders[each])", "orders[each]")],
        dot(A, ex.reshape(transpose(leaf(1, "f32", 2, 3, 4), (2, 1, 0)), (4, 6)), ([1], [0])),
        ex.reshape(
            transpose(
                ex.reshape(dot(A, ex.reshape(leaf(1, "f32", 2, 3, 4), (6, 4)), ([1], [1])), (3, 3, 2)), (0, 2, 1)
            ),
            (3, 6),
        ),
    ),
    "a sum of one element is the next one": bug(
        [
            Edit(
                "Symbols._combined",
                "bare = reshaped(self, array, (rows,))",
                "bare = reshaped(self, self.reverse(array, (0,)), (rows,))",
            )
        ],
        reduce("add", leaf(0, "f32", 3, 1), ZERO, [1]),
        ex.reshape(reverse(leaf(0, "f32", 3, 1), [0]), (3,)),
    ),
    "convolutions read no window": bug(
        [
            Edit(
                "Products.convolve",
                "replace(windows, has_padding=is_multiplied)",
                "replace(windows, window=tuple(type(each)(each.size) for each in windows.window))",
            )
        ],
        convolution(IMAGE, KERNEL, (1, 3, 4), "size=2", "bf0_oi0->bf0"),
        convolution(IMAGE, KERNEL, (1, 3, 4), "size=2 pad=1_-1", "bf0_oi0->bf0"),
    ),
    "every reduction is a sum": bug(
        [Edit("Symbols._reduced", "self.combine(opcode, *arrays)", 'self.combine("add", *arrays)')],
        reduce("multiply", S, NONE, [0]),
        reduce("add", S, NONE, [0]),
    ),
    "movement in normal form is none": bug(
        [
            Edit(
                "Terms._normal",
                "normalized(plan)",
                'normalized(plan) if plan.result != plan.start else (plan.part(0, 0), "x")',
            )
        ],
        transpose(M, (1, 0)),
        M,
    ),
    "operations after a movement are another": bug(
        [
            Edit(
                "Terms.mapped",
                "self.each(part.label, part.array.element_type, operands)",
                'self.each("cosine" if part.label == "sine" else part.label, part.array.element_type, operands)',
            )
        ],
        broadcast(unary("sine", V), (3, 3), (0,)),
        broadcast(unary("cosine", V), (3, 3), (0,)),
    ),
    "one equal element is enough": bug(
        [Edit("ElementProof.same", "all", "any")],
        concatenate([slice_(V, [(0, 1)]), slice_(V, [(2, 3)])], 0),
        slice_(V, [(0, 2)]),
    ),
    "positions end one too early": bug(
        [Edit("ElementProof.slice_at", "a - b", "0")],
        dynamic_slice(reverse(A, [0]), [AT, NONE], (2, 4)),
        slice_(reverse(A, [0]), [(0, 2), (0, 4)]),
    ),
    "all cases are equal": bug(
        [Edit("Cases._same", "depth < _DEEPEST and self._is_same(first, second)", "True")],
        unary("sine", A),
        unary("cosine", A),
    ),
    "labels do not count": bug(
        [
            Edit(
                "_Comparison._same_parts",
                "(a.kind, a.label, len(a.operands)) == (b.kind, b.label, len(b.operands))",
                "(a.kind, len(a.operands)) == (b.kind, len(b.operands))",
            )
        ],
        unary("exponential", A),
        unary("tanh", A),
    ),
    "all values are equal": bug([Edit("_Comparison._same", "a is b and a.is_specified", "True")], A, B),
    "all movement reads the same": bug(
        [Edit("_Comparison._same_reads", "if proof is None or not proof.holds:\n    return False", "")],
        transpose(M, (1, 0)),
        M,
    ),
    "an unrolled loop ends at once": Bug(
        [Edit("Movement.contents", "self.terms.constant_bits(term) if data is None else data", "0")], THRICE, NEVER
    ),
    "branches do not count": Bug(
        [
            Edit(
                "_Comparison._same_parts",
                "is_alike and a.operands and all(map(self._same, a.operands, b.operands))",
                "is_alike and a.operands",
            )
        ],
        *BRANCHES,
    ),
    "the bodies of loops do not count": Bug(
        [
            Edit(
                "_Comparison._same_parts",
                "is_alike and a.operands and all(map(self._same, a.operands, b.operands))",
                "is_alike and a.operands",
            )
        ],
        GROWING,
        SHRINKING,
    ),
    "a rounded constant is another one": bug(
        [
            Edit(
                "normal_form:_folded",
                "terms.literal(element_type, bits, before.array.dimensions)",
                "terms.literal(element_type, bits ^ 1, before.array.dimensions)",
            )
        ],
        S * (ints(2) / ints(2)),
        ints(0),
    ),
    "an index picks the first element": bug(
        [Edit("DynamicIndices._pick", "all(item is taken[0] for item in taken)", "taken")],
        dynamic_slice(A, [AT, NONE], (2, 4)),
        slice_(A, [(0, 2), (0, 4)]),
    ),
    "signed bounds are read as unsigned": bug(
        [Edit("_last_value", "kind.is_unsigned", "True")],
        dynamic_slice(A, [_BELOW * _BELOW, NONE], (1, 4)),
        dynamic_slice(A, [_BELOW * _BELOW * _BELOW, NONE], (1, 4)),
    ),
    "one case is enough": bug(
        [Edit("Cases._same", "(1, 0)", "(1,)")],
        unary("sine", select(P, A, B)),
        unary("sine", A),
    ),
    "a state that changes is fixed": Bug(
        [Edit("Reader.final", "plain.ends[i] is not variable", "plain.ends[i] is not variable and i != 2")],
        GROWING,
        KEPT,
    ),
    "a state that is read is dropped": Bug(
        [
            Edit("Reader._order", "return order", "return [i for i in order if i != 2]"),
            Edit(
                "Reader._reordered",
                "not any(mask >> len(order) for mask in (*masks, tested))",
                "True or any(mask >> len(order) for mask in (*masks, tested))",
            ),
        ],
        GROWING,
        SHRINKING,
    ),
    "results of a loop are in the order of its state": Bug(
        [
            Edit(
                "Reader.final",
                "return loop.final(logical, reading, plain, short)",
                "final = loop.final(logical, reading, plain, short)\n"
                "outs = dict(zip(sorted(order), (final[i] for i in order)))\n"
                "return [outs.get(i, each) for i, each in enumerate(final)]",
            )
        ],
        *IN_ANOTHER_ORDER,
    ),
}
