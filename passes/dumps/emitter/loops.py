"""While loops: the computations of the body and the condition, which have the same state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from passes.dumps.emitter.code import Code, Val


def while_loop(
    code: Code,
    initial: Sequence[Val],
    step: Callable[[Code, list[Val]], Sequence[Val]],
    goes_on: Callable[[Code, list[Val]], Val],
) -> list[Val]:
    """Makes a loop over a state; returns the final state.

    `step` makes the body and returns the next state, `goes_on` makes the condition. Both may use values of `code`,
    which become further elements of the state.
    """
    body = code.inner("body")
    following = step(body, [body.element(value) for value in initial])
    condition = code.inner("condition")
    tested = [condition.element(value) for value in initial]
    # Both computations have the same state: the condition gets the elements that the body captured, and vice versa.
    for value in body.captured:
        condition.local(value)
    answer = goes_on(condition, tested)
    for value in list(condition.captured):
        body.local(value)
    body.finish([*following, *(body.local(value) for value in body.captured)])
    condition.finish([answer], as_tuple=False)
    whole = [*initial, *body.captured]
    name = code.tuple(whole)
    made = code.emit_tuple("while", whole, [name], f", condition=%{condition.name}, body=%{body.name}")
    return made[: len(initial)]
