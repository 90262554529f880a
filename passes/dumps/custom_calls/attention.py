"""Fused attention of cuDNN, `__cudnn$fmha...`, forward and backward, as products and exponentials in f32.

The operands are Q, K, V, the bias and, with padding, the lengths of Q and K; backward they are Q, K, V, the logarithms
of the softmax's sums, the gradient of the output, the bias, the output, and the lengths. A config names the dimensions
of batches and heads; results always are [batch, head, position, feature]. Sources: the lowerings of
jax/_src/cudnn/fused_attention_stablehlo.py, and cuDNN's documentation of scaled dot-product attention.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import Ops
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from passes.dumps.custom_calls.arithmetic import outputs
from passes.dumps.custom_calls.call_config import CallConfig, check_operands, refused
from passes.dumps.custom_calls.linear_algebra import Exprs, spliced
from passes.dumps.emitter import arrays
from passes.dumps.emitter.expressions import Expr

_F32 = ELEMENT_TYPES["f32"]
_MASKS = ("NO_MASK", "PADDING", "CAUSAL", "PADDING_CAUSAL", "ALIBI")
_FORWARD, _BACKWARD = ("bmm1_dot_dimension_numbers",), ("bmm2_grad_gemm2_dot_dimension_numbers",)
_ROWS, _COLUMNS = 2, 3
_HEADS_FIRST = (0, 1)


@dataclass(frozen=True, slots=True)
class _Attention:
    """The config of a call: the scale, the mask, the number of keys that a query sees, and the order of dimensions."""

    scale: float
    mask: str
    window: int
    has_heads_first: bool
    has_bias: bool

    @classmethod
    def of(cls, call: Instruction, *, is_backward: bool) -> _Attention:
        config = CallConfig.of(call, "cudnn_fmha_backend_config")
        mask = config.word("mask_type", _MASKS, _MASKS[0])
        if mask == "ALIBI" or config.flag("is_paged_attention"):
            raise refused(call, "it has biases or pages that no operand holds")
        if float(config.fields.get("dropout_rate", 0)) or int(config.fields.get("max_seg_per_batch", 1)) > 1:
            raise refused(call, "it has dropout, whose random bits are cuDNN's own, or packed sequences")
        batch = config.ints(*(_BACKWARD if is_backward else _FORWARD), "lhs_batch_dimensions")
        window = int(config.fields.get("sliding_window_length", 0))
        has_bias = "Bias" in (call.callee or "")
        return cls(config.number("fmha_scale"), mask, window, batch == _HEADS_FIRST, has_bias)

    def heads_first(self, a: Expr) -> Expr:
        """Returns an operand in f32, with its heads before its positions."""
        wide = a.convert(_F32)
        return wide if self.has_heads_first else Expr(a.code, arrays.transpose(a.code, wide.value, (0, 2, 1, 3)))

    def scores(self, q: Expr, k: Expr, bias: Expr | None, lengths: Exprs) -> tuple[Expr, Expr]:
        """Returns the scores of queries and keys, and where they count."""
        scores = _product(q, k, 3, 3) * self.scale
        dims = scores.dims
        if bias is not None:
            scores = scores + Expr(q.code, arrays.stretched(q.code, bias.convert(_F32).value, dims))
        row, column = scores.iota(_ROWS), scores.iota(_COLUMNS)
        counts = row.compare("GE", 0)
        # cuDNN has windows before a query only.
        if "CAUSAL" in self.mask or self.window:
            counts = row.compare("GE", column)
        if self.window:
            counts = counts & (row - column).compare("LT", self.window)
        for position, length in zip((row, column), lengths, strict=False):
            counts = counts & position.compare("LT", length.broadcast(dims, 0))
        return scores, counts


def _forward(attention: _Attention, is_training: bool, *operands: Expr) -> Exprs:
    q, k, v = (attention.heads_first(each) for each in operands[:3])
    rest = list(operands[3:])
    bias = rest.pop(0) if attention.has_bias else None
    k, v = _repeated(k, q), _repeated(v, q)
    scores, counts = attention.scores(q, k, bias, rest)
    lowest = scores.number(float("-inf"))
    dims, kept = scores.dims, (0, 1, 2)
    largest = Expr(q.code, arrays.reduce(q.code, "maximum", counts.where(scores, lowest).value, float("-inf"), [3]))
    largest = largest.compare("GT", float("-inf")).where(largest, 0)
    weights = counts.where((scores - largest.broadcast(dims, *kept)).unary("exponential"), 0)
    total = weights.sum(3)
    found = _product(weights, v, 3, 2) / total.compare("EQ", 0).where(1, total).broadcast((*dims[:3], v.dims[3]), *kept)
    return [found, largest + total.unary("log")] if is_training else [found]


def _backward(attention: _Attention, *operands: Expr) -> Exprs:
    q, k, v = (attention.heads_first(each) for each in operands[:3])
    sums, gradient, *rest = operands[3:]
    bias = rest.pop(0) if attention.has_bias else None
    output, gradient = attention.heads_first(rest.pop(0)), attention.heads_first(gradient)
    keys, values = _repeated(k, q), _repeated(v, q)
    scores, counts = attention.scores(q, keys, bias, rest)
    dims = scores.dims
    weights = counts.where((scores - sums.broadcast(dims, 0, 1, 2)).unary("exponential"), 0)
    along = (output * gradient).sum(3).broadcast(dims, 0, 1, 2)
    slopes = weights * (_product(gradient, values, 3, 3) - along)
    found = [
        _product(slopes, keys, 3, 2) * attention.scale,
        _joined(_product(slopes, q, 2, 2), k) * attention.scale,
        _joined(_product(weights, gradient, 2, 2), v),
    ]
    return found if bias is None else [*found, _gathered(slopes, bias)]


def _product(a: Expr, b: Expr, over: int, with_: int) -> Expr:
    """Returns the products of the matrices of each batch and head, over a dimension of each."""
    return Expr(a.code, arrays.dot(a.code, a.value, b.value, ((over,), (with_,)), (_HEADS_FIRST, _HEADS_FIRST)))


def _repeated(a: Expr, q: Expr) -> Expr:
    """Returns the heads of keys or values for each head of the queries, of which several may share one."""
    batch, heads, *rest = a.dims
    groups = q.dims[1] // heads
    return a.broadcast((batch, heads, groups, *rest), 0, 1, 3, 4).reshape(batch, heads * groups, *rest)


def _joined(a: Expr, k: Expr) -> Expr:
    """Returns the sums over the heads that share a head of the keys."""
    batch, heads, *rest = a.dims
    return a.reshape(batch, k.dims[1], heads // k.dims[1], *rest).sum(2)


def _gathered(slopes: Expr, bias: Expr) -> Expr:
    """Returns the sums over the batches and heads that share a bias."""
    for i, size in enumerate(bias.dims):
        if size != slopes.dims[i]:
            slopes = slopes.sum(i).reshape(*slopes.dims[:i], 1, *slopes.dims[i + 1 :])
    return slopes


def _expand(ops: Ops, call: Instruction, *, is_backward: bool) -> Instruction:
    shapes = [shape for shape in call.shape.parts if isinstance(shape, ArrayShape)]
    attention = _Attention.of(call, is_backward=is_backward)
    lengths = 2 * ("PADDING" in attention.mask)
    check_operands(call, (6 if is_backward else 3) + attention.has_bias + lengths)
    is_training = len(shapes) > len(("output", "workspace"))
    program = partial(_backward, attention) if is_backward else partial(_forward, attention, is_training)

    def rounded(*operands: Expr) -> Exprs:
        return [each.convert(shape.element_type) for each, shape in zip(program(*operands), shapes, strict=False)]

    result = spliced(ops, call, call.operands, rounded)
    count = len([*result.shape.arrays()])
    return outputs(ops, call, [ops.element(result, i) for i in range(count)])


_KINDS = ("Softmax", "ScaleBiasSoftmax", "SoftmaxDropout", "ScaleBiasSoftmaxDropout")
ATTENTION_EXPANSIONS = {
    f"__cudnn$fmha{kind}{'Backward' * is_backward}": partial(_expand, is_backward=is_backward)
    for kind in _KINDS
    for is_backward in (False, True)
}
