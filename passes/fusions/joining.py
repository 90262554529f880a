"""Fusions of an operation with operations that read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.instruction import as_instruction
from dialect_utils.hlo.ops import Ops, add_computation, erase_unused, rebuild
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.layout.targets.known import allocation_bytes
from dialect_utils.ops import FOLDS, Trait, named, with_trait
from passes.dumps.inline_fusions import body_of, inline_body
from passes.framework.base import Pass
from passes.framework.options import OptionError, named_value, value_names

_OUTPUT, _LOOP = "kOutput", "kLoop"
# The operations that XLA's fusions compute, beside elementwise ones.
_FUSIBLE = with_trait(Trait.ELEMENTWISE) | with_trait(Trait.FUSIBLE) - {"constant"} | FOLDS | {"fusion"}
# They read no memory: a fusion includes them and the operations that read their results.
_NAMES = named("bitcast get-tuple-element")
_MOST_CANDIDATES = 10
Chain = tuple[Instruction, ...]


def is_output(item: Instruction) -> bool:
    """Is true for a fusion of a product or convolution with operations on its operands and its result."""
    return item.opcode == "fusion" and item.attribute("kind") == _OUTPUT


def is_fusible(item: Instruction) -> bool:
    """Is true for an operation that a fusion may compute, and that has no control dependencies."""
    kinds = (_OUTPUT, _LOOP) if item.opcode == "fusion" else (None,)
    has_control = item.attribute(CONTROL) is not None or item.computation.controlled_by(item)
    return item.opcode in _FUSIBLE and item.attribute("kind") in kinds and not has_control


def readers(value: Instruction) -> Iterator[Chain]:
    """Yields chains from a value to the operations that read it: other names of its bytes, and the reader."""
    for user in value.users:
        if user.opcode in _NAMES:
            yield from ((user, *chain) for chain in readers(user))
        else:
            yield (user,)


def fusible_readers(producer: Instruction) -> list[Chain]:
    """Returns the chains to readers that one fusion may compute together with the producer.

    XLA fuses reductions as results only: nothing says that its code computes a sum before a user in the same fusion.
    """
    if not is_fusible(producer):
        return []
    chains = [*readers(producer)]
    waiting = {chain[-1] for chain in chains if _maker(chain[-2] if len(chain) > 1 else producer).opcode in FOLDS}
    chains = [chain for chain in chains if chain[-1] not in waiting and is_fusible(chain[-1])]
    return [chain for chain in chains if not (is_output(producer) and is_output(chain[-1]))]


def _maker(value: Instruction) -> Instruction:
    """Returns the operation that computes a value, inside of fusions."""
    while value.opcode in _NAMES or value.opcode == "fusion":
        if value.opcode == "fusion":
            value = body_of(value).root
            continue
        source = value.operands[0]
        made = body_of(source).root if source.opcode == "fusion" else source
        is_element = value.opcode == "get-tuple-element" and made.opcode == "tuple"
        value = made.operands[int(value.attribute("index") or 0)] if is_element else made
    return value


def fuse(producer: Instruction, chain: Sequence[Instruction], *, keeps: bool) -> Instruction:
    """Replaces the last operation of a chain of `readers` by a fusion that computes the producer, too.

    With `keeps` the fusion also yields the producer for other users; without it they read the producer itself, which
    goes away where none is left. Raises ValueError where another user of the producer is between the two.
    """
    *names, user = chain
    if is_output(user) and not is_output(producer) and (names or producer.opcode != "fusion"):
        first = [producer, *names]
        others = [each for each in first[-1].users if each is not user]
        producer, names, keeps = _replace(first, first[-1:], first[-1], others), [], False
    whole = producer.users if keeps and isinstance(producer.shape, TupleShape) else [producer]
    ends = user.users if isinstance(user.shape, TupleShape) else [user]
    parts = sorted({producer, *whole, *names, user, *ends}, key=user.computation.order.items.index)
    kept = [each for each in whole if keeps and any(reader not in parts for reader in each.users)]
    return _replace(parts, [*kept, *ends], user)


def _replace(
    parts: Sequence[Instruction], results: Sequence[Instruction], user: Instruction, others: Sequence[Instruction] = ()
) -> Instruction:
    """Replaces the results of operations, the last of which is `user`, by a fusion; unused operations go away.

    The users `others` read the old results.
    """
    operands = [*dict.fromkeys(each for part in parts for each in part.operands if each not in parts)]
    scalars = [each for each in operands if each.opcode == "constant" and each.shape.element_count == 1]
    operands = [each for each in operands if each not in scalars]
    _move_after(user, parts, results)
    parts = [*scalars, *parts]
    body, computation = _body(parts, results, operands, user), user.computation
    shape = results[0].shape if len(results) == 1 else TupleShape(tuple(each.shape for each in results))
    attributes = {"kind": _OUTPUT if any(map(is_output, parts)) else _LOOP, "calls": f"%{body.name}"}
    if user.metadata is not None:
        attributes["metadata"] = user.metadata
    made = computation.insert(user, f"{user.name}.fused", shape, "fusion", operands, attributes=attributes, like=user)
    found, names = [made], [each.name for each in results]
    if len(results) > 1:
        ops = Ops(computation.order.after(made) or made)
        found = [ops.element(made, number) for number in range(len(results))]
    for old, new in zip(results, found, strict=True):
        old.replace_uses(new, keep=[*parts, *others])
    bodies = [callee for part in parts for callee in part.called]
    for part in reversed(parts):
        if not part.users and not part.is_root:
            part.erase()
    erase_unused(computation.module, bodies)
    for new, name in zip(found, names, strict=True):
        if computation.find(name) is None:
            new.rename(name)
    return made


def _move_after(user: Instruction, parts: Sequence[Instruction], results: Sequence[Instruction]) -> None:
    """Moves operations that depend on a result, and come before the last operation of a fusion, after it."""
    items = user.computation.order.items
    dependent, moved, anchor = {*results}, list[Instruction](), user
    for item in items[items.index(parts[0]) : items.index(user)]:
        if item not in parts and any(each in dependent for each in item.operands):
            dependent.add(item)
            moved.append(item)
    if any(operand in moved for part in parts for operand in part.operands):
        raise ValueError(f"another user of {parts[0].name} is computed before {user.name}")
    for item in moved:
        anchor = rebuild(item, after=anchor)


def _body(
    parts: Sequence[Instruction], results: Sequence[Instruction], operands: Sequence[Instruction], user: Instruction
) -> Computation:
    """Makes the computation of a fusion: it computes parts from its operands, and yields results.

    XLA emits a product from its operands, or from fusions of loops that make them: those stay, and the producer joins
    them.
    """
    module = user.computation.module
    lines = [f"%p.{number} = {each.shape} parameter({number})" for number, each in enumerate(operands)]
    body = module.find(add_computation(module, f"{user.name}.body", *lines, "ROOT %result = () tuple()"))
    assert body is not None  # just made
    unset, nested = body.root, list[Instruction]()
    ops, values = Ops(unset), dict(zip(operands, body.parameters, strict=True))
    for part in parts:
        given = [values[each] for each in part.operands]
        if part.opcode != "fusion":
            ops.copies([part], values)
        elif is_output(user) and part is not user and not is_output(part):
            inner = _body([part], [part], [*dict.fromkeys(part.operands)], part)
            given = [*dict.fromkeys(given)]
            values[part] = ops.emit("fusion", part.shape, given, {"kind": _LOOP, "calls": f"%{inner.name}"})
            nested.append(values[part])
        else:
            values[part] = inline_body(ops, body_of(part), given)
    found = [values[each] for each in results]
    body.set_root(found[0] if len(found) == 1 else ops.tuple(found))
    unset.erase()
    ops.drop_unused()
    for each in nested:
        while chains := [chain for chain in readers(each) if chain[-1].opcode == "fusion"]:
            fuse(each, chains[0], keeps=False)
    # It comes after the computations that it calls.
    text = body.text().strip()
    module.remove_function(body)
    return module.add_computation(text)


def instruction_at(module: HloModule, name: str) -> Instruction:
    """Returns the array or fusion that the option `value` names; raises OptionError without one."""
    if not name:
        raise OptionError("value", "the pass needs a value")
    return as_instruction(named_value(module, name, "value"))


def texts(module: HloModule, step: Pass, fits: Callable[[Instruction], bool], target: str) -> Iterator[str]:
    """Yields a pass at each value that fits and that no fusion computes, those with the most bytes first."""
    names = value_names(module)
    found = [each for each in map(as_instruction, names) if is_stored(each.computation) and fits(each)]

    def size(item: Instruction) -> int:
        return sum(allocation_bytes(array, target) for array in item.shape.arrays() if isinstance(array, ArrayShape))

    for item in sorted(found, key=lambda item: -size(item))[:_MOST_CANDIDATES]:
        yield str(step.with_options(value=f"%{names[item]}"))


def is_stored(computation: Computation) -> bool:
    """Is true for a computation whose values are in memory: no fusion and no operation on elements calls it."""
    return not computation.is_embedded and all(each.opcode != "fusion" for each in computation.callers)
