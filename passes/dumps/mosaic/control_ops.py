"""Branches and loops: conditional and while, which pass on the memory that they write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from dialect_utils.mosaic.kernel import Block, KernelOp
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import PRED, Code, Update, Val, constant, while_loop
from passes.dumps.mosaic.frame import Frame, Lowering, Meaning
from passes.dumps.mosaic.memory import Buffer

# The most steps, and the most ops in all steps, of a loop that is unrolled.
SHORT_LOOP = 4
SHORT_OPS = 160
# A conditional returns the replaced parts of a buffer if they are at most 1/4 of the buffer, else the whole buffer.
_PATCH_SHARE = 4
# The fewest elements of a buffer for which avoiding a copy pays.
_LARGE = 1 << 14
_LOOPS = ("scf.for", "scf.while")
_IGNORED = "tpu.trace_start tpu.trace_stop tpu.delay tpu.log tpu.log_buffer tpu.annotate"


def _if(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    condition = frame.val(op.operands[0], op)
    if condition.known is not None:
        chosen = op.regions[0 if condition.known else 1]
        return frame.run(chosen) if chosen.ops else []
    written = list(dict.fromkeys(buffer for region in op.regions for buffer in frame.written(region)))
    has_loop = any(inner.name in _LOOPS for region in op.regions for inner in region.nested())
    if has_loop and not op.results and any(prod(buffer.dims) >= _LARGE for buffer in written):
        _run_once(frame, condition, op.regions)
        return []
    branches = [frame.on(frame.code.inner("branch"), is_branch=True) for _ in op.regions]
    yielded = [
        _values(inner, op, inner.run(region)) if region.ops else []
        for inner, region in zip(branches, op.regions, strict=True)
    ]
    changes = {buffer: _patches(frame, branches, buffer) for buffer in written}
    whole = [buffer for buffer in written if changes[buffer] is None]
    patches = [patch for buffer in written for patch in changes[buffer] or ()]
    for side, (inner, values) in enumerate(zip(branches, yielded, strict=True)):
        passed = [value for patch in patches for value in patch.passed(side)]
        inner.code.finish([*values, *(inner.memory[buffer] for buffer in whole), *passed])
    results = [Val(frame.kind(result, op), result.type.dimensions) for result in op.results]
    results += [Val(buffer.kind, buffer.dims) for buffer in whole]
    results += [value for patch in patches for value in patch.passed(patch.side)]
    if not results:
        return []
    made = iter(_conditional(frame, condition, branches, results))
    values = [next(made) for _ in op.results]
    frame.memory.update((buffer, next(made)) for buffer in whole)
    for patch in patches:
        patch.apply(frame, condition, made)
    return values


def _run_once(frame: Frame, condition: Val, regions: Sequence[Block]) -> None:
    """Makes each branch a loop of at most one step, which updates large buffers in place; a conditional copies them."""
    otherwise = arrays.unary(frame.code, "not", condition)
    for region, wanted in zip(regions, (condition, otherwise), strict=False):
        if not region.ops:
            continue

        def step(inner: Frame, state: list[Val], region: Block = region) -> list[Val]:
            inner.is_branch = True
            inner.run(region)
            return [constant(PRED, False)]

        loop(frame, [wanted], frame.written(region), step, lambda inner, state: state[0])


def _conditional(frame: Frame, condition: Val, branches: Sequence[Frame], results: Sequence[Val]) -> list[Val]:
    names = [frame.code.name_of(condition)]
    names += [frame.code.tuple(list(branch.code.captured)) for branch in branches]
    attributes = "".join(
        f", {key}=%{branch.code.name}"
        for key, branch in zip(("true_computation", "false_computation"), branches, strict=True)
    )
    return frame.code.emit_tuple("conditional", results, names, attributes)


@dataclass(frozen=True, slots=True)
class _Patch:
    """One replacement of a part of a large buffer in one branch (`side`), made after the conditional.

    A conditional that returned the whole buffer would copy it at each step.
    """

    buffer: Buffer
    side: int
    code: Code
    update: Update

    def passed(self, side: int) -> list[Val]:
        """Returns the values that a branch returns: the part and its starts, or zeros from the other branch."""
        mine = [value for value in (self.update.part, *self.update.starts) if value.owner is self.code]
        return mine if side == self.side else [constant(value.kind, 0, value.dims) for value in mine]

    def apply(self, frame: Frame, condition: Val, made: Iterator[Val]) -> None:
        """Replaces the part if its branch was taken."""
        values = [
            next(made) if value.owner is self.code else value for value in (self.update.part, *self.update.starts)
        ]
        code, (part, *starts) = frame.code, values
        old = arrays.slice_dynamic(code, frame.memory[self.buffer], starts, part.dims)
        ordered = (part, old) if self.side == 0 else (old, part)
        chosen = arrays.select(code, condition, *ordered)
        frame.memory[self.buffer] = arrays.update(code, frame.memory[self.buffer], chosen, starts)


def _patches(frame: Frame, branches: Sequence[Frame], buffer: Buffer) -> list[_Patch] | None:
    """Returns the parts of a buffer that branches replace, in order, or None if they should return the whole buffer."""
    found: list[_Patch] = []
    for side, branch in enumerate(branches):
        chain: list[_Patch] = []
        value = branch.memory[buffer]
        while value is not frame.memory[buffer]:
            update = branch.code.updates.get(value)
            if update is None:
                return None
            chain.append(_Patch(buffer, side, branch.code, update))
            value = update.base
        found += reversed(chain)
    parts = sum(prod(patch.update.part.dims) for patch in found)
    return found if _PATCH_SHARE * parts <= prod(buffer.dims) else None


def _values(frame: Frame, op: KernelOp, found: Sequence[Meaning]) -> list[Val]:
    values = [value for value in found if isinstance(value, Val)]
    if len(values) != len(found):
        raise frame.refused(op, "yields a reference, which is not known here")
    return values


def _for(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    start, end, step = frame.vals(op.operands[:3], op)
    (body,) = op.regions
    carried = frame.vals(op.operands[3:], op)
    if start.known is not None and end.known is not None and step.known:
        steps = range(int(start.known), int(end.known), int(step.known))
        if is_short(len(steps), sum(1 for _ in body.nested())):
            for number in steps:
                carried = _values(frame, op, frame.run(body, [constant(start.kind, number), *carried]))
            return carried

    def one_step(inner: Frame, state: list[Val]) -> list[Val]:
        number, *rest = state
        following = arrays.binary(inner.code, "add", number, step)
        return [following, *_values(inner, op, inner.run(body, [number, *rest]))]

    def goes_on(inner: Frame, state: list[Val]) -> Val:
        return arrays.compare(inner.code, "LT", state[0], end)

    return loop(frame, [start, *carried], frame.written(body), one_step, goes_on)[1:]


def is_short(steps: int, ops: int) -> bool:
    """Is true for a loop that is unrolled."""
    return steps <= 1 or (steps <= SHORT_LOOP and steps * ops <= SHORT_OPS)


def loop(
    frame: Frame,
    state: Sequence[Val],
    written: Sequence[Buffer],
    step: Callable[[Frame, list[Val]], list[Val]],
    goes_on: Callable[[Frame, list[Val]], Val],
) -> list[Val]:
    """Builds a while loop over values and buffers; returns the final values.

    `step` makes the body and returns the next values, `goes_on` makes the condition.
    """
    count = len(state)

    def entered(code: Code, values: list[Val]) -> Frame:
        inner = frame.on(code)
        inner.memory.update(zip(written, values[count:], strict=True))
        return inner

    def body(code: Code, values: list[Val]) -> list[Val]:
        inner = entered(code, values)
        return [*step(inner, values[:count]), *(inner.memory[buffer] for buffer in written)]

    def condition(code: Code, values: list[Val]) -> Val:
        return goes_on(entered(code, values), values[:count])

    made = while_loop(frame.code, [*state, *(frame.memory[buffer] for buffer in written)], body, condition)
    frame.memory.update(zip(written, made[count:], strict=True))
    return made[:count]


def _while(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Makes a while whose test runs once before the loop and again at the end of each step."""
    before, after = op.regions
    answer, forwarded = _test(frame, op, before, frame.vals(op.operands, op))
    written = list(dict.fromkeys([*frame.written(before), *frame.written(after)]))

    def one_step(inner: Frame, state: list[Val]) -> list[Val]:
        yielded = _values(inner, op, inner.run(after, state[1:]))
        following, passed = _test(inner, op, before, yielded)
        return [following, *passed]

    return loop(frame, [answer, *forwarded], written, one_step, lambda inner, state: state[0])[1:]


def _test(frame: Frame, op: KernelOp, before: Block, arguments: Sequence[Val]) -> tuple[Val, list[Val]]:
    answer, *passed = _values(frame, op, frame.run(before, arguments))
    if answer.kind != PRED:
        raise frame.refused(op, f"goes on while {answer}, which is not a truth value")
    return answer, passed


ROWS: tuple[Lowering, ...] = (
    Lowering("scf.if", "condition", "conditional; the branch itself where the condition is known", _if),
    Lowering("scf.for", "start, end, step, values", "while; written out where it is short", _for),
    Lowering("scf.while", "values", "while", _while),
    Lowering("tpu.region tpu.trace", "", "its ops", lambda frame, op: frame.run(op.regions[0])),
    Lowering(_IGNORED, "", "nothing", lambda frame, op: []),
)
