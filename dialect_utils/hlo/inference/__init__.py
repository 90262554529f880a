"""Shape inference: which shape operands and attributes give.

XLA's parser fills in a shape that is not written where it can (HloParserImpl::CreateInstruction); the
verifier compares the dimensions of those that are. Besides what XLA infers there are rules for ops
whose attributes say all of it, such as `slice`. Source: xla/service/shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dialect_utils.hlo.inference import elementwise, movement, whole, windowed
from dialect_utils.hlo.inference.model import Rule, ShapeError, Written
from dialect_utils.hlo.text.attributes import parse_ints
from dialect_utils.layout import ArrayShape, Layout, Shape
from dialect_utils.ops import ALL_OPERANDS, Trait, by_opcode, opcode_of, with_trait

__all__ = ["Attributes", "ShapeError", "Written", "infer_shape"]


@dataclass(frozen=True, slots=True)
class Attributes:
    """An instruction that is being read: its opcode and its attributes' texts by name."""

    opcode: str
    texts: Mapping[str, str]

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None where it is absent."""
        return self.texts.get(name)

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute as integers, or None where it is absent or something else."""
        text = self.texts.get(name)
        return None if text is None else parse_ints(text)


# Elementwise ops whose operands and result have one type.
_SAME: Mapping[str, Rule] = {
    name: elementwise.same for name in with_trait(Trait.ELEMENTWISE) if opcode_of(name).typed == ALL_OPERANDS
}
# What XLA infers, one rule for each opcode; what is missing here has to be written in the text.
_RULES: Mapping[str, Rule] = by_opcode(
    {
        **_SAME,
        **dict.fromkeys(("compare", "is-finite"), elementwise.predicate),
        **dict.fromkeys(("real", "imag"), elementwise.part),
        **dict.fromkeys(("transpose", "slice", "pad"), movement.one_step),
        **dict.fromkeys(("copy", "opt-barrier", "add-dependency", "while", "domain"), movement.first_operand),
        **dict.fromkeys(
            (
                "batch-norm-inference",
                "cholesky",
                "collective-broadcast",
                "collective-permute",
                "dynamic-update-slice",
                "reduce-precision",
                "reverse",
                "select-and-scatter",
            ),
            movement.first_array,
        ),
        **dict.fromkeys(("all-reduce", "sort"), whole.one_or_tuple),
        **dict.fromkeys(("call", "conditional", "fusion"), whole.called_result),
        **dict.fromkeys(("batch-norm-grad", "batch-norm-training"), whole.normalization),
        **dict.fromkeys(("partition-id", "replica-id"), whole.scalar("u32")),
        "abs": elementwise.magnitude,
        "after-all": whole.token,
        "broadcast": movement.broadcast,
        "clamp": elementwise.clamp,
        "complex": elementwise.pair,
        "concatenate": movement.concatenate,
        "convolution": windowed.convolution,
        "copy-done": whole.copy_done,
        "copy-start": whole.copy_start,
        "dot": windowed.dot,
        "dynamic-slice": movement.dynamic_slice,
        "fft": windowed.fft,
        "gather": movement.gather,
        "get-dimension-size": whole.scalar("s32"),
        "get-tuple-element": whole.get_tuple_element,
        "map": whole.map_elements,
        "reduce": windowed.reduce,
        "reduce-window": windowed.reduce_window,
        "scatter": windowed.scatter,
        "select": elementwise.select,
        "set-dimension-size": whole.set_dimension_size,
        "topk": whole.top_k,
        "triangular-solve": movement.second_operand,
        "tuple": whole.make_tuple,
    }
)


def infer_shape(what: Written, operands: Sequence[Shape], called: Sequence[Shape] = ()) -> Shape | None:
    """Returns the shape of an instruction, or None where its opcode needs one that is written.

    `called` holds what the computations return that it calls. A result whose rule says nothing of
    the layout has the descending one where an operand has a layout, else none. Raises ShapeError
    where operands or attributes give no shape.
    """
    rule = _RULES.get(what.opcode)
    if rule is None:
        return None
    fewest, most = opcode_of(what.opcode).operands
    if len(operands) < fewest or (most is not None and len(operands) > most):
        raise ShapeError(f"{what.opcode} does not take {len(operands)} operands")
    found = rule(what, operands, called)
    has_layouts = any(each.layout is not None for operand in operands for each in operand.arrays() if each.rank)
    return found.map_arrays(_with_layout) if has_layouts else found


def _with_layout(shape: ArrayShape) -> ArrayShape:
    is_given = shape.layout is not None or not shape.rank
    return shape if is_given else shape.with_layout(Layout.descending(shape.rank))
