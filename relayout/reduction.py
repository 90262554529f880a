"""Reduction of modules while they still show a difference or a crash.

All modules get the same edits at corresponding operations: fewer outputs, an inner value as the only output, operations
replaced by an operand or a constant, unused inputs removed, smaller dimensions. Where one output is to stay, an inner
value replaces it only if the value carries the difference: with the value made constant in all modules, the output no
longer shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial

from dialect_utils.hlo import HloModule
from dialect_utils.hlo.text.literals import bits_of_one
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import remove_uncalled
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops import Trait, has
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import verify

Shows = Callable[[Sequence[Module]], bool]

DEFAULT_TRIALS = 500
# Sizes between brackets, angle brackets with x between them, and braces of slices.
_SIZE = r"(?<![\w.%@#-]){}(?=[\],x:}}])|(?<=[\[,<x:]){}(?=[\],x:}}>])"


@dataclass(slots=True)
class Reduction:
    """A reduction in progress: the smallest modules so far for which `shows` is true.

    `output` is the number of the output that stays; None: any output or inner value may become the only result.
    """

    modules: tuple[Module, ...]
    shows: Shows
    trials: int = DEFAULT_TRIALS
    output: int | None = None
    tried: int = field(default=0, init=False)

    def run(self) -> tuple[Module, ...]:
        """Returns modules that no edit reduces further, or the smallest so far once the trials are used up."""
        self._keep([module.clone() for module in self.modules])
        before = -1
        while before != _size(self.modules) and self.tried < self.trials:
            before = _size(self.modules)
            self._cut()
            self._leave_out()
            self._drop_inputs()
            self._shrink()
        return self.modules

    def _keep(self, candidate: Sequence[Module] | None) -> bool:
        """Keeps a candidate that verifies, is smaller, and for which `shows` is true; returns whether it did."""
        if candidate is None or not _is_valid(candidate) or _size(candidate) >= _size(self.modules):
            return False
        if not self._shows(candidate):
            return False
        self.modules = tuple(candidate)
        return True

    def _shows(self, candidate: Sequence[Module]) -> bool:
        """Is true where `shows` is; false once the trials are used up."""
        if self.tried >= self.trials:
            return False
        self.tried += 1
        return self.shows(candidate)

    def _cut(self) -> None:
        """Makes one output, or the earliest inner value that `shows` accepts, the only result."""
        for position in self._positions():
            if self._keep(self._with_output(position)):
                break
        for numbers in list(self._corresponding()):
            before = self.modules
            if self._keep(self._cut_at(numbers)):
                if self._carries(before, numbers):
                    return
                self.modules = before

    def _positions(self) -> Sequence[int]:
        """Returns the numbers of the outputs that may become the only one."""
        if self.output is not None:
            return (self.output,)
        return range(max(len(output_values(module)) for module in self.modules))

    def _carries(self, before: Sequence[Module], numbers: Sequence[int]) -> bool:
        """Is true where a value carries the difference: none is left once the value is constant in all modules."""
        if self.output is None:
            return True
        constant = _replaced(before, numbers, _by_constant)
        return constant is not None and _is_valid(constant) and self.tried < self.trials and not self._shows(constant)

    def _cut_at(self, numbers: Sequence[int]) -> list[Module] | None:
        copies = [module.clone() for module in self.modules]
        for copy, number in zip(copies, numbers, strict=True):
            operation = list(copy.operations())[number]
            results = operation.results
            if not operation.function.is_entry or len(results) != 1 or not isinstance(results[0].shape, ArrayShape):
                return None
            _yield(copy.entry, results[0])
        return copies

    def _with_output(self, position: int) -> list[Module] | None:
        copies = [module.clone() for module in self.modules]
        try:
            for copy in copies:
                value = output_values(copy)[position]
                if value is None:
                    return None
                _yield(copy.entry, value)
        except (IndexError, ValueError):
            return None
        return copies

    def _leave_out(self) -> None:
        """Replaces each operation by an operand, or else by a constant, the last operation first."""
        pairs = list(self._corresponding())
        left = len(pairs)
        while left:
            left -= 1
            numbers = pairs[left]
            if self._keep(self._by_operand(pairs, numbers)) or self._keep(
                _replaced(self.modules, numbers, _by_constant)
            ):
                # Operations that only this one used are gone, and others have new numbers.
                pairs = list(self._corresponding())
                left = min(left, len(pairs))

    def _by_operand(self, pairs: Sequence[tuple[int, ...]], numbers: tuple[int, ...]) -> list[Module] | None:
        """Returns copies in which the first operand of the same type replaces an operation of each.

        Operands that the modules have exchanged replace no operation: they would cause a difference of their own.
        """
        operations = [list(module.operations()) for module in self.modules]
        found = [own[number] for own, number in zip(operations, numbers, strict=True)]
        for position in range(min(len(each.operands) for each in found)):
            values = [each.operands[position] for each in found]
            if _are_exchanged(values, operations, pairs):
                continue
            replaced = _replaced(self.modules, numbers, partial(_by_operand, position=position))
            if replaced is not None:
                return replaced
        return None

    def _drop_inputs(self) -> None:
        """Removes inputs that no module uses, the last one first; all modules keep the same interface."""
        for number in reversed(range(max(len(module.entry.parameters) for module in self.modules))):
            self._keep(self._without_input(number))

    def _without_input(self, number: int) -> list[Module] | None:
        try:
            return [without_input(module, number) for module in self.modules]
        except (IndexError, ValueError, DiagnosticError):
            return None

    def _shrink(self) -> None:
        """Replaces a dimension size by a smaller one, 64 by 1 for example, wherever the modules have it."""
        for size in sorted(_sizes(self.modules), reverse=True):
            for smaller in dict.fromkeys((1, 2, size // 2, size - 1)):
                if 0 < smaller < size and self._keep(self._resized(size, smaller)):
                    break

    def _resized(self, size: int, smaller: int) -> list[Module] | None:
        pattern = re.compile(_SIZE.format(size, size))
        try:
            return [
                parse_bytes(pattern.sub(str(smaller), module.text()).encode(), module.name) for module in self.modules
            ]
        except DiagnosticError:
            return None

    def _corresponding(self) -> Iterator[tuple[int, ...]]:
        """Yields the numbers of operations that correspond in all modules: equal opcodes and shapes."""
        first = [_key(operation) for operation in self.modules[0].operations()]
        if len(self.modules) == 1:
            yield from ((number,) for number in range(len(first)))
            return
        second = [_key(operation) for operation in self.modules[1].operations()]
        for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
            yield from ((block.a + i, block.b + i) for i in range(block.size))


def reduce_modules(
    modules: Sequence[Module], shows: Shows, trials: int = DEFAULT_TRIALS, output: int | None = None
) -> tuple[Module, ...]:
    """Returns smaller modules for which `shows` is still true, of one module (the input of a pass) or of a pair.

    `trials` limits the calls of `shows`. `output` is the number of the output that stays; None: any output or inner
    value may become the only result. The given modules do not change.
    """
    return Reduction(tuple(module.clone() for module in modules), shows, trials, output).run()


def remove_dead(module: Module) -> None:
    """Erases operations without side effects whose results have no users, and functions that nothing calls."""
    for function in module.functions:
        used = set(function.results)
        for operation in reversed(function.operations):
            is_needed = any(value.users or value in used for value in operation.results) or not operation.results
            if not is_needed and _is_pure(operation):
                operation.erase()
    remove_uncalled(module)


def _is_pure(operation: Operation) -> bool:
    """Is true where neither an operation nor the functions that it calls have side effects."""
    if has(operation.opcode, Trait.PURE):
        return True
    calls = has(operation.opcode, Trait.CALLS) and operation.opcode != "custom-call" and bool(operation.called)
    return calls and all(_is_pure(inner) for function in operation.called for inner in function.operations)


def _is_valid(modules: Sequence[Module]) -> bool:
    """Is true for modules that verify without their dead operations, which it removes."""
    try:
        for module in modules:
            remove_dead(module)
            verify(module)
    except (DiagnosticError, ValueError):
        return False
    return True


def _replaced(
    modules: Sequence[Module], numbers: Sequence[int], replace: Callable[[Module, Operation], bool]
) -> list[Module] | None:
    """Returns copies with one operation of each replaced; None where one cannot be replaced."""
    copies = [module.clone() for module in modules]
    try:
        found = [list(copy.operations())[number] for copy, number in zip(copies, numbers, strict=True)]
        done = [replace(copy, operation) for copy, operation in zip(copies, found, strict=True)]
    except (IndexError, ValueError, DiagnosticError):
        return None
    return copies if all(done) else None


def _key(operation: Operation) -> tuple[str, ...]:
    return operation.opcode, *(str(value.shape) for value in operation.results)


def output_values(module: Module) -> list[Value | None]:
    """Returns the value of each output array of the entry, None for an array in a tuple that no `tuple` makes."""
    return [leaf for value in module.entry.results for leaf in _leaves(value)]


def _leaves(value: Value) -> list[Value | None]:
    operation, shape = value.operation, value.shape
    if isinstance(shape, ArrayShape):
        return [value]
    if operation is None or operation.opcode != "tuple":
        return [None for _ in shape.arrays()]
    return [leaf for operand in operation.operands for leaf in _leaves(operand)]


def _yield(function: Function, value: Value) -> None:
    """Makes a function yield one value for each of its results; the number of StableHLO's results is fixed."""
    function.set_results([value] * len(function.results))


def _size(modules: Sequence[Module]) -> int:
    """Returns the measure to reduce: operations first, then elements, then outputs."""
    total = 0
    for module in modules:
        shapes = _shapes(module)
        elements = sum(shape.element_count for shape in shapes if isinstance(shape, ArrayShape) and shape.is_static)
        total += 1_000_000_000 * len(shapes) + 1_000 * elements + len(output_values(module)) + len(module.functions)
    return total


def _shapes(module: Module) -> list[Shape]:
    results = [value for operation in module.operations() for value in operation.results]
    return [value.shape for value in (*results, *module.entry.parameters)]


def _sizes(modules: Sequence[Module]) -> set[int]:
    shapes = [shape for module in modules for shape in _shapes(module)]
    return {size for shape in shapes if isinstance(shape, ArrayShape) for size in shape.dimensions if size > 1}


def _are_exchanged(
    values: Sequence[Value], operations: Sequence[Sequence[Operation]], pairs: Sequence[tuple[int, ...]]
) -> bool:
    """Is true where values do not correspond: parameters of different numbers, or results of different pairs."""
    known: set[tuple[str, int]] = set()
    for side, (value, own) in enumerate(zip(values, operations, strict=True)):
        if value.operation is None:
            known.add(("parameter", list(value.function.parameters).index(value)))
            continue
        number = own.index(value.operation)
        partners = (at for at, pair in enumerate(pairs) if pair[side] == number)
        # A result without a partner corresponds to anything.
        known.update(("pair", at) for at in partners)
    return len(known) > 1


def _by_operand(module: Module, operation: Operation, position: int) -> bool:
    """Replaces an operation by an operand of the same type; returns whether it is of that type."""
    operand = operation.operands[position]
    if len(operation.results) != 1 or str(operand.shape) != str(operation.results[0].shape):
        return False
    operation.results[0].replace_uses(operand)
    return True


def _by_constant(module: Module, operation: Operation) -> bool:
    """Replaces an operation by ones (zeros would hide too much); returns whether that is possible."""
    if len(operation.results) != 1 or operation.opcode in ("constant", "broadcast"):
        return False
    [result] = operation.results
    shape = result.shape
    if not isinstance(shape, ArrayShape) or shape.element_type.is_complex:
        return False
    builder = module.after(result)
    made = builder.constant(shape.element_type, bits_of_one(shape.element_type), name="one", like=result)
    if shape.rank:
        made = builder.broadcast(made, shape.dimensions, name="ones", like=result)
        made.set_shape(shape)
    result.replace_uses(made)
    return True


def without_input(module: Module, number: int) -> Module:
    """Returns a module without one parameter of its entry; raises ValueError if it is used or aliases a result."""
    if module.aliases:
        raise ValueError(f"parameter {number} may alias a result")
    copy = module.clone()
    layout = copy.entry_computation_layout if isinstance(copy, HloModule) else None
    copy.entry.drop_parameter(copy.entry.parameters[number])
    if isinstance(copy, HloModule) and layout is not None:
        parameters, result = layout
        copy.set_entry_layout((*parameters[:number], *parameters[number + 1 :]), [result])
    return copy
