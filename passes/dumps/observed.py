"""The arrays that a module computes, and the search for the first of them that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, return_also
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.trips import trip_count
from dialect_utils.ops import Trait, has
from passes.dumps.inline_fusions import body_of, inline_body, use_elements

# The calls and loops of larger entries are not expanded.
_MOST_INSTRUCTIONS = 20_000
# A mistake in the state of a loop may show in the second iteration only.
_ITERATIONS = 2


@dataclass(frozen=True, slots=True)
class Suspect:
    """A wrong value whose operands are right, or only move elements of right values.

    `moved` are those operands that only move elements: one of them may be the mistake. `outputs` are the numbers of the
    wrong outputs that depend on the value through wrong values only.
    """

    value: Instruction
    moved: tuple[Instruction, ...]
    outputs: tuple[int, ...]


@dataclass(slots=True)
class Observed:
    """A module whose entry has the bodies of its calls, and the first iterations of each loop before the loop.

    `iterations` holds the results of the last of these iterations, `loops` the loop of each value in an iteration.
    """

    module: HloModule
    iterations: dict[Instruction, Instruction] = field(default_factory=dict)
    loops: dict[Instruction, Instruction] = field(default_factory=dict)

    @property
    def arrays(self) -> list[Instruction]:
        """Returns the arrays that the entry computes from its parameters, in order."""
        computed: dict[Instruction, None] = {}
        for item in self.module.entry.instructions:
            depends = any(each.opcode == "parameter" or each in computed for each in item.operands)
            if depends:
                computed[item] = None
        return [item for item in computed if isinstance(item.shape, ArrayShape) and item.shape.is_static]

    @property
    def results(self) -> list[Instruction]:
        """Returns the arrays that the module returns, tuples flattened."""
        return _arrays(self.module.entry.root)

    def inputs_of(self, value: Instruction) -> list[Instruction]:
        """Returns the arrays that a value is computed from; for a loop, the results of its first iterations."""
        made, path = value, list[int]()
        while made.opcode == "get-tuple-element":
            path.append(_index(made))
            made = made.operands[0]
        if made not in self.iterations:
            return [array for operand in made.operands for array in _arrays(operand)]
        result = self.iterations[made]
        while path and result.opcode == "tuple":
            result = result.operands[path.pop()]
        return _arrays(result)

    def returning(self, values: Sequence[Instruction]) -> HloModule:
        """Returns a copy of the module that returns these values, too, after its own results."""
        module = self.module.clone()
        found = (module.entry.find(value.name) for value in values)
        return_also(module.entry, [value for value in found if value is not None])
        return module

    def suspects(
        self, wrong: Iterable[Instruction], uniform: Container[Instruction], outputs: Sequence[int]
    ) -> list[Suspect]:
        """Returns the first wrong values on the paths to wrong outputs, those that explain most outputs first.

        `wrong` are the wrong values, `outputs` the numbers of the wrong outputs. The elements of a `uniform` value are
        equal, so that a match in the source is weak evidence: the value counts as wrong if it is computed from a wrong
        one.
        """
        wrong = set(wrong)
        for value in self.arrays:
            if value in uniform and not wrong.isdisjoint(self.inputs_of(value)):
                wrong.add(value)
        positions = {item: position for position, item in enumerate(self.module.entry.instructions)}
        found: dict[Instruction, tuple[tuple[Instruction, ...], list[int]]] = {}
        for output in outputs:
            result = self.results[output]
            is_wrong = {*wrong, result}.__contains__
            ordered = sorted(self._leading_to(result, is_wrong), key=positions.__getitem__)
            for value, moved in self._first(ordered, result):
                found.setdefault(value, (moved, []))[1].append(output)
        made = [Suspect(value, moved, tuple(numbers)) for value, (moved, numbers) in found.items()]
        # The compiler's own instructions have no metadata.
        return sorted(made, key=lambda each: (-len(each.outputs), not each.value.metadata, positions[each.value]))

    def _leading_to(self, result: Instruction, is_wrong: Callable[[Instruction], bool]) -> set[Instruction]:
        """Returns the wrong values from which a result is computed through wrong values only, the result included."""
        seen, waiting = {result}, [result]
        while waiting:
            for each in self.inputs_of(waiting.pop()):
                if is_wrong(each) and each not in seen:
                    seen.add(each)
                    waiting.append(each)
        return seen

    def _first(
        self, wrong: Sequence[Instruction], result: Instruction
    ) -> Iterable[tuple[Instruction, tuple[Instruction, ...]]]:
        """Yields each value whose wrong inputs, if any, are moved elements of right values, and those inputs."""
        among = set(wrong)
        moving: dict[Instruction, dict[Instruction, None]] = {}
        for value in wrong:
            inputs = [each for each in self.inputs_of(value) if each in among]
            if any(each not in moving for each in inputs):
                continue
            moved = {before: None for each in inputs for before in (*moving[each], each)}
            if has(value.opcode, Trait.MOVES_DATA) and value is not result:
                moving[value] = moved
            else:
                yield value, tuple(moved)


def _index(item: Instruction) -> int:
    return int(item.attribute("index") or 0)


def _arrays(value: Instruction) -> list[Instruction]:
    """Returns the arrays in a value; in place of a tuple whose elements are unknown, those that it is computed from."""
    if value.opcode == "get-tuple-element" and value.operands[0].opcode == "tuple":
        return _arrays(value.operands[0].operands[_index(value)])
    if value.opcode == "parameter" or isinstance(value.shape, ArrayShape):
        return [value]
    return [array for operand in value.operands for array in _arrays(operand)]


def observe(module: HloModule) -> Observed:
    """Returns the values of a module, those of its calls and of the first iterations of its loops included."""
    found = Observed(module.clone())
    waiting = list(found.module.entry.instructions)
    while waiting and len(found.module.entry.instructions) < _MOST_INSTRUCTIONS:
        item = waiting.pop()
        if item.opcode not in ("call", "while"):
            continue
        ops, loop = Ops(item), found.loops.get(item)
        if item.opcode == "while":
            loop, state = item, item.operands
            for _ in range(min(_ITERATIONS, trip_count(item) or 1)):
                state = (inline_body(ops, item.called_as("body"), state),)
            (found.iterations[item],) = state
        else:
            use_elements(ops.finish(inline_body(ops, body_of(item), item.operands)))
        waiting += ops.made
        if loop is not None:
            found.loops.update((made, loop) for made in ops.made)
    return found
