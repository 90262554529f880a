"""Makes HLO instructions of any opcode that replace an instruction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.instruction import as_instruction
from dialect_utils.ir import array_shape
from dialect_utils.ir.chains import emit_plan
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Layout, Shape, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, named, with_trait
from dialect_utils.ops.inference import is_compatible
from dialect_utils.text import DiagnosticError

AttributeValue = str | tuple[int, ...]

# Attributes of the value, not of its computation: the replacement gets them.
_KEPT = ("metadata", "frontend_attributes")
# The layout of a bitcast defines its value, and a tuple has the layouts of its elements.
_FIXED_SHAPE = with_trait(Trait.TUPLES) | named("bitcast parameter")
PRED = ELEMENT_TYPES["pred"]
S32 = ELEMENT_TYPES["s32"]


def instructions(module: HloModule, *opcodes: str) -> list[Instruction]:
    """Returns the module's instructions of the given opcodes (by default all), callees first."""
    return [
        item
        for computation in module.functions
        for item in computation.instructions
        if not opcodes or item.opcode in opcodes
    ]


def tuple_elements(value: Instruction) -> tuple[Shape, ...]:
    """Returns the shapes of the elements of a tuple; raises DiagnosticError for any other value."""
    if not isinstance(value.shape, TupleShape):
        raise DiagnosticError(f"{value.name} is not a tuple but {value.shape}", value.location)
    return value.shape.elements


def format_ints(values: Iterable[int]) -> str:
    """Returns `{1,0}` for (1, 0)."""
    return "{" + ",".join(map(str, values)) + "}"


def zero_of(element_type: ElementType) -> str:
    """Returns the literal of zero."""
    return "false" if element_type == PRED else "(0, 0)" if element_type.is_complex else "0"


class Ops:
    """The instructions that replace an instruction: they are inserted before it and named after it.

    New arrays get the descending layout if the replaced instruction has layouts.
    An op that would change nothing is not made: the method returns its operand.
    """

    def __init__(self, replaced: Instruction) -> None:
        self.replaced = replaced
        self.computation = replaced.computation
        self._builder = HloBuilder(self.computation, before=replaced)
        self._kept = {name: text for name in _KEPT if (text := replaced.attribute(name)) is not None}
        leaves = (leaf for value in (replaced, *replaced.operands) for leaf in value.shape.arrays())
        self._writes_layouts = any(leaf.layout is not None for leaf in leaves)
        self._made: dict[Instruction, None] = {}

    @property
    def made(self) -> Sequence[Instruction]:
        """Returns the new instructions that are still in the computation, in the order in which they were made."""
        return [item for item in self._made if self.computation.find(item.name) is item]

    def emit(
        self,
        opcode: str,
        shape: Shape,
        operands: Sequence[Instruction] = (),
        attributes: Mapping[str, AttributeValue] | None = None,
        *,
        inner: str = "",
        name: str | None = None,
    ) -> Instruction:
        """Makes one instruction; `inner` is the text between the parentheses of a constant."""
        texts = {
            key: value if isinstance(value, str) else format_ints(value) for key, value in (attributes or {}).items()
        }
        made = self._builder.emit(
            name or f"{self.replaced.name}.{opcode}",
            shape,
            opcode,
            operands,
            inner=inner,
            attributes={**texts, **{key: text for key, text in self._kept.items() if key not in texts}},
            like=self.replaced,
        )
        self._made[made] = None
        return made

    def copied(self, item: Instruction, operands: Sequence[Instruction], attributes: Mapping[str, str]) -> Instruction:
        """Makes a copy of `item`, which may be in another computation, on other operands."""
        inner = item.literal or ""
        made = self._builder.emit(
            item.name, item.shape, item.opcode, operands, inner=inner, attributes=attributes, like=item
        )
        self._made[made] = None
        return made

    def copies(self, items: Iterable[Instruction], values: dict[Instruction, Instruction]) -> None:
        """Makes copies of instructions of another computation in one step, without control predecessors.

        `values` maps the operands that other instructions make to their replacements; the copies are added to it. A
        get-tuple-element of a `tuple` becomes the element.
        """
        made: list[Instruction] = []
        used: dict[Instruction, None] = {}
        for item in items:
            operands = tuple([values[operand] for operand in item.operands])
            if item.opcode == "get-tuple-element" and operands[0].opcode == "tuple":
                values[item] = operands[0].operands[int(item.attribute("index") or 0)]
                continue
            attributes = dict(item.attributes)
            attributes.pop(CONTROL, None)
            values[item] = self._builder.copy_of(item, operands, attributes)
            made.append(values[item])
            used.update(dict.fromkeys(operands))
        for item in made:
            used.pop(item, None)
            self._made[item] = None
        self._builder.insert_run(made, tuple(used))
        for item in made:
            self.computation.link(item)

    def shape(self, element_type: ElementType, dimensions: Sequence[int]) -> ArrayShape:
        """Returns the shape of a new array."""
        layout = Layout.descending(len(dimensions)) if self._writes_layouts else None
        return ArrayShape(element_type, tuple(dimensions), layout)

    def array(
        self,
        opcode: str,
        dimensions: Sequence[int],
        operands: Sequence[Instruction],
        attributes: Mapping[str, AttributeValue] | None = None,
        *,
        element_type: ElementType | None = None,
    ) -> Instruction:
        """Makes an array of the replaced instruction's element type, or of another one."""
        wanted = element_type or array_shape(self.replaced).element_type
        return self.emit(opcode, self.shape(wanted, dimensions), operands, attributes)

    def like(self, opcode: str, value: Instruction, *others: Instruction) -> Instruction:
        """Makes an elementwise op on values of one type and shape."""
        return self.emit(opcode, self._plain(array_shape(value)), (value, *others))

    def compare(self, direction: str, value: Instruction, other: Instruction) -> Instruction:
        """Makes an elementwise comparison: EQ, NE, LT, LE, GT or GE."""
        shape = self.shape(PRED, array_shape(value).dimensions)
        return self.emit("compare", shape, (value, other), {"direction": direction})

    def convert(self, value: Instruction, element_type: ElementType) -> Instruction:
        """Makes an element type conversion; the layout stays."""
        shape = array_shape(value)
        if shape.element_type == element_type:
            return value
        return self.emit("convert", self._plain(ArrayShape(element_type, shape.dimensions, shape.layout)), (value,))

    def _plain(self, shape: ArrayShape) -> ArrayShape:
        """Returns the shape without tiles, since tiles of one element type may not fit another."""
        if shape.layout is None:
            return shape
        return shape.with_layout(Layout(shape.layout.minor_to_major))

    def constant(self, element_type: ElementType, literal: str) -> Instruction:
        """Makes a scalar constant from its text."""
        return self.emit("constant", self.shape(element_type, ()), inner=literal)

    def broadcast(self, value: Instruction, dimensions: Sequence[int], along: Sequence[int] = ()) -> Instruction:
        """Makes a broadcast; dimension i of the operand becomes dimension `along[i]`."""
        shape = self.shape(array_shape(value).element_type, dimensions)
        return self.emit("broadcast", shape, (value,), {"dimensions": tuple(along)})

    def filled(self, element_type: ElementType, dimensions: Sequence[int], literal: str = "0") -> Instruction:
        """Makes an array of one value."""
        value = self.constant(element_type, literal)
        return self.broadcast(value, dimensions) if dimensions else value

    def reshape(self, value: Instruction, dimensions: Sequence[int]) -> Instruction:
        """Makes a reshape."""
        shape = array_shape(value)
        if shape.dimensions == tuple(dimensions):
            return value
        return self.emit("reshape", self.shape(shape.element_type, dimensions), (value,))

    def transpose(self, value: Instruction, permutation: Sequence[int]) -> Instruction:
        """Makes a transpose: dimension `permutation[i]` becomes dimension i."""
        shape = array_shape(value)
        if tuple(permutation) == tuple(range(shape.rank)):
            return value
        dimensions = [shape.dimensions[i] for i in permutation]
        moved = self.shape(shape.element_type, dimensions)
        return self.emit("transpose", moved, (value,), {"dimensions": tuple(permutation)})

    def steps(self, plan: Plan, value: Instruction) -> Instruction:
        """Makes the ops of a plan; pads add zeros."""
        name = self.replaced.name
        made = emit_plan(self._builder, plan, value, base=name, like=self.replaced, scalar_name="constant")
        for item in map(as_instruction, made):
            for new in (item, *item.operands[1:]):
                # The ops of the builder get the attributes and the layout that all ops here have.
                for key, text in self._kept.items():
                    new.set_attribute(key, text)
                new.set_shape(self.shape(*array_shape(new).type_and_dimensions))
                self._made[new] = None
        return as_instruction(made[-1]) if made else value

    def reverse(self, value: Instruction, dimensions: Sequence[int]) -> Instruction:
        """Makes a reverse along some dimensions."""
        if not dimensions:
            return value
        return self.emit("reverse", self._plain(array_shape(value)), (value,), {"dimensions": tuple(dimensions)})

    def element(self, value: Instruction, index: int) -> Instruction:
        """Returns an element of a tuple; for a `tuple` op, the operand."""
        if value.opcode == "tuple":
            return value.operands[index]
        return self.emit("get-tuple-element", tuple_elements(value)[index], (value,), {"index": str(index)})

    def tuple(self, values: Sequence[Instruction]) -> Instruction:
        """Makes a tuple."""
        return self.emit("tuple", TupleShape(tuple(value.shape for value in values)), values)

    def fitted(self, value: Instruction, shape: Shape) -> Instruction:
        """Returns a value with the layouts of `shape`: a new value with its shape changed, any other through `copy`.

        Raises DiagnosticError where the two differ in more than layouts.
        """
        if value.shape == shape:
            return value
        if not is_compatible(value.shape, shape):
            message = f"{self.replaced.opcode} {self.replaced.name} gives {value.shape}, where {shape} is expected"
            raise DiagnosticError(message, self.replaced.location)
        if value in self._made and not value.users and value.opcode not in _FIXED_SHAPE:
            value.set_shape(shape)
            return value
        if value.shape.with_effective_layout == shape.with_effective_layout:
            return value
        if not isinstance(shape, TupleShape):
            return self.emit("copy", shape, (value,))
        return self.tuple([self.fitted(self.element(value, i), part) for i, part in enumerate(shape.elements)])

    def finish(self, result: Instruction) -> Instruction:
        """Replaces the instruction by `result` in the same layout; a new instruction takes over the name."""
        replaced, name = self.replaced, self.replaced.name
        result = self.fitted(result, replaced.shape)
        replaced.replace_uses(result)
        replaced.erase()
        if result in self._made:
            result.rename(name)
        return result

    def drop_unused(self) -> None:
        """Removes unused new instructions, such as the results of a call that nothing reads."""
        waiting = list(self.made)
        while dead := [item for item in waiting if not item.users and not item.is_root]:
            for item in dead:
                item.erase()
            waiting = [item for item in waiting if item not in dead]


def rebuild(
    replaced: Instruction,
    *,
    opcode: str | None = None,
    operands: Sequence[Instruction] | None = None,
    shape: Shape | None = None,
    change: Callable[[dict[str, str]], None] | None = None,
    after: Instruction | None = None,
) -> Instruction:
    """Replaces an instruction by a changed copy of the same name, at its place or `after` one, and returns the copy."""
    attributes = dict(replaced.attributes)
    if change is not None:
        change(attributes)
    made = replaced.computation.insert(
        after or replaced,
        replaced.name,
        replaced.shape if shape is None else shape,
        opcode or replaced.opcode,
        replaced.operands if operands is None else operands,
        attributes=attributes,
        like=replaced,
    )
    name = replaced.name
    replaced.replace_uses(made)
    replaced.erase()
    made.rename(name)
    return made


def return_also(computation: Computation, values: Sequence[Instruction], *, is_flat: bool = True) -> None:
    """Makes a computation return values after its own result, or after the elements of that if `is_flat`."""
    root, emit = computation.root, HloBuilder(computation, after=computation.order.last).emit
    parts = [root]
    if is_flat and isinstance(root.shape, TupleShape):
        parts = [
            emit("result", shape, "get-tuple-element", (root,), attributes={"index": str(index)})
            for index, shape in enumerate(root.shape.elements)
        ]
    parts += values
    computation.set_root(emit("results", TupleShape(tuple(part.shape for part in parts)), "tuple", parts))


def add_computation(module: HloModule, name: str, *lines: str) -> str:
    """Adds a computation whose instructions are the lines; returns a new name like `name`."""
    text = "\n".join(f"  {line}" for line in lines)
    return module.add_computation(f"%{module.fresh_name(name)} {{\n{text}\n}}").name


def add_scalar_computation(module: HloModule, name: str, opcode: str, element_type: ElementType) -> str:
    """Adds the computation that applies an operation to two scalars; returns a new name like `name`."""
    x, y = (f"{each} = {element_type}[] parameter({number})" for number, each in enumerate("xy"))
    return add_computation(module, name, x, y, f"ROOT r = {element_type}[] {opcode}(x, y)")


def erase_unused(module: HloModule, candidates: Iterable[Computation]) -> None:
    """Removes computations without callers, and then their callees that have no other callers."""
    waiting = list(candidates)
    while waiting:
        computation = waiting.pop()
        if computation.callers or computation.is_entry or module.find(computation.name) is not computation:
            continue
        called = [callee for item in computation.instructions for callee in item.called]
        module.remove_function(computation)
        waiting += called
