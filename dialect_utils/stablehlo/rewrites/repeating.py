"""One module for many runs: of main on a batch of inputs, of partitions as replicas, of many modules on one input.

For a batch, arguments and results get a leading dimension that counts the inputs. XLA runs several partitions only
through its SPMD partitioner, which rejects partition-id and would partition a program that is partitioned already.
Between the partitions of one replica a collective computes the same as between as many replicas. XLA converts HLO to
StableHLO first.

The faulty forms of a program have most operations in common, which XLA computes only once in one module: it compiles
and runs them in a fraction of the time of as many modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.origins import walk
from dialect_utils.stablehlo.rewrites.editing import inline_calls, main_function, set_signature, take_check_calls

_NAME = "repeated"
_COUNTER = "tensor<i32>"
_BYTE, _WORD = 8, 32


def repeat(program: str | bytes, *, count: int) -> tuple[str]:
    """Returns a StableHLO module that runs a module's main `count` times; raises MLIR's errors."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        inline_calls(module)
        main = main_function(module)
        kinds, results = list(main.type.inputs), list(main.type.results)
        _make_private(main, _NAME)
        functions = "\n".join(str(operation) for operation in module.body.operations)
        text = f"module {{\n{functions}\n{_main(kinds, results, count)}\n}}\n"
        ir.Module.parse(text).operation.verify()
        return (text,)


def _make_private(main: Any, name: str) -> None:
    """Makes main a private function of another name, without attributes of arguments and results."""
    main.attributes["sym_name"] = ir.StringAttr.get(name)
    main.attributes["sym_visibility"] = ir.StringAttr.get("private")
    set_signature(main, "arg_attrs", "res_attrs")


def _main(kinds: list[Any], results: list[Any], count: int) -> str:
    """Returns the text of a loop over all inputs."""
    arguments = ", ".join(f"%a{i}: {_many(kind, count)}" for i, kind in enumerate(kinds))
    outputs, kept = [_many(kind, count) for kind in results], [_many(_kept(kind), count) for kind in results]
    numbered = list(enumerate(zip(results, kept, strict=True)))
    state = ", ".join(["%i = %zero", *(f"%o{i} = %b{i}" for i, _ in numbered)])
    types = ", ".join([_COUNTER, *kept])
    passed = ", ".join(f"%x{i}" for i, _ in enumerate(kinds))
    lines = [
        f"func.func public @main({arguments}) -> ({', '.join(outputs)}) {{",
        *(
            f"%{name} = stablehlo.constant dense<{n}> : {_COUNTER}"
            for name, n in (("zero", 0), ("one", 1), ("n", count))
        ),
        *(f"%b{i} = stablehlo.constant dense<{_zero(_kept(kind))}> : {buffer}" for i, (kind, buffer) in numbered),
        f"%r:{len(results) + 1} = stablehlo.while({state}) : {types}",
        f"cond {{\n%c = stablehlo.compare LT, %i, %n : ({_COUNTER}, {_COUNTER}) -> tensor<i1>",
        "stablehlo.return %c : tensor<i1>\n} do {",
        *(_taken(i, kind, count) for i, kind in enumerate(kinds)),
        f"%y:{len(results)} = func.call @{_NAME}({passed}) : ({_listed(kinds)}) -> ({_listed(results)})",
        *(_stored(i, kind, count) for i, kind in enumerate(results)),
        f"%next = stablehlo.add %i, %one : {_COUNTER}",
        f"stablehlo.return {', '.join(['%next', *(f'%u{i}' for i, _ in numbered)])} : {types}\n}}",
        *(_converted(f"%z{i}", f"%r#{i + 1}", buffer, outputs[i]) for i, (_, buffer) in numbered),
        f"func.return {', '.join(f'%z{i}' for i, _ in numbered)} : {', '.join(outputs)}\n}}",
    ]
    return "\n".join(lines)


def _taken(number: int, kind: Any, count: int) -> str:
    """Returns the text that slices one input from an argument."""
    sizes = ", ".join(map(str, [1, *kind.shape]))
    indices = ", ".join(["%i", *["%zero"] * len(kind.shape)])
    types = ", ".join([_many(kind, count), *[_COUNTER] * (1 + len(kind.shape))])
    return (
        f"%s{number} = stablehlo.dynamic_slice %a{number}, {indices}, sizes = [{sizes}]"
        f" : ({types}) -> {_many(kind, 1)}\n"
        f"%x{number} = stablehlo.reshape %s{number} : ({_many(kind, 1)}) -> {kind}"
    )


def _stored(number: int, kind: Any, count: int) -> str:
    """Returns the text that stores one result in its buffer."""
    indices = ", ".join(["%i", *["%zero"] * len(kind.shape)])
    one, buffer = (_many(_kept(kind), size) for size in (1, count))
    types = ", ".join([buffer, one, *[_COUNTER] * (1 + len(kind.shape))])
    return (
        f"%t{number} = stablehlo.reshape %y#{number} : ({kind}) -> {_many(kind, 1)}\n"
        f"{_converted(f'%v{number}', f'%t{number}', _many(kind, 1), one)}\n"
        f"%u{number} = stablehlo.dynamic_update_slice %o{number}, %v{number}, {indices} : ({types}) -> {buffer}"
    )


def _converted(name: str, value: str, source: str, target: str) -> str:
    """Returns the text that converts an array to another type of equal width, or to a wider integer."""
    is_whole = all("xf" not in kind and "xb" not in kind for kind in (source, target))
    opcode = "convert" if is_whole else "bitcast_convert"
    return f"{name} = stablehlo.{opcode} {value} : ({source}) -> {target}"


def _kept(kind: Any) -> Any:
    """Returns the type of a result's buffer: XLA:CPU copies a whole buffer of a narrow type in each iteration."""
    element = kind.element_type
    if isinstance(element, ir.FloatType) and _BYTE <= element.width < _WORD:
        element = ir.IntegerType.get_unsigned(element.width)
    elif isinstance(element, ir.IntegerType) and 1 < element.width < _BYTE:
        element = ir.IntegerType.get_unsigned(_BYTE) if element.is_unsigned else ir.IntegerType.get_signless(_BYTE)
    return ir.RankedTensorType.get(kind.shape, element)


def _many(kind: Any, count: int) -> str:
    """Returns the type of a batch of arrays."""
    return str(ir.RankedTensorType.get([count, *kind.shape], kind.element_type))


def _listed(kinds: list[Any]) -> str:
    return ", ".join(map(str, kinds))


def _zero(kind: Any) -> str:
    element = kind.element_type
    if isinstance(element, ir.ComplexType):
        return "(0.0, 0.0)"
    return "0.0" if isinstance(element, ir.FloatType) else "false" if str(element) == "i1" else "0"


_OF_PARTITIONS = ("channel_handle", "channel_id", "use_global_device_ids")


def as_replicas(program: str | bytes) -> str:
    """Returns a StableHLO module of one replica with its partitions as replicas."""
    with context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        for operation in list(walk(module.operation)):
            if has(hlo_opcode(operation.name), Trait.AMONG_DEVICES):
                _rewrite(operation)
        module.operation.verify()
        return str(module)


def _rewrite(operation: Any) -> None:
    for name in _OF_PARTITIONS:
        if name in operation.attributes:
            del operation.attributes[name]
    if operation.name not in ("stablehlo.partition_id", "stablehlo.replica_id"):
        return
    result = operation.results[0]
    with ir.InsertionPoint(operation):
        if operation.name == "stablehlo.partition_id":
            made = ir.Operation.create("stablehlo.replica_id", results=[result.type])
        else:
            zero = ir.DenseElementsAttr.get_splat(result.type, ir.IntegerAttr.get(result.type.element_type, 0))
            made = ir.Operation.create("stablehlo.constant", results=[result.type], attributes={"value": zero})
    result.replace_all_uses_with(made.results[0])
    operation.erase()


@dataclass(frozen=True, slots=True)
class _Variant:
    """One program's main without calls: the text of a private function, and the types of arguments and results."""

    text: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]

    @classmethod
    def of(cls, program: str | bytes, number: int) -> _Variant:
        """Returns the main of a program, with the number in its name; raises MLIR's errors, and ValueError."""
        module = ir.Module.parse(take_check_calls(program, as_results=True))
        inline_calls(module)
        if sum(each.operation.name == "func.func" for each in module.body.operations) > 1:
            raise ValueError("calls are left")
        main = main_function(module)
        _make_private(main, f"variant{number}")
        module.operation.verify()
        # A function does not keep its module alive in these bindings.
        return cls(str(main), tuple(map(str, main.type.inputs)), tuple(map(str, main.type.results)))

    def has_type_of(self, other: _Variant) -> bool:
        """Is true where both have the same arguments and results."""
        return (self.inputs, self.results) == (other.inputs, other.results)


def join(programs: Iterable[str | bytes | None]) -> tuple[str, list[int]]:
    """Returns a StableHLO module whose main returns the results of each program's main in turn.

    Also returns the numbers of the programs that it contains: the first, and all others that verify and have its
    type. The operands of their `check.*` calls are results, too. None stands for a program without a StableHLO form.
    Raises ValueError where the first program is not valid.
    """
    with context(), ir.Location.unknown():
        found = (None if program is None else _valid(program, number) for number, program in enumerate(programs))
        first, *others = found
        if first is None:
            raise ValueError("the first program is not valid")
        numbered = enumerate(others, start=1)
        variants = {0: first, **{n: each for n, each in numbered if each is not None and each.has_type_of(first)}}
        texts = [*(each.text for each in variants.values()), _main_of_all(first, list(variants))]
        module = ir.Module.parse("module {\n" + "\n".join(texts) + "\n}\n")
        inline_calls(module)
        module.operation.verify()
        return str(module), list(variants)


def _valid(program: str | bytes, number: int) -> _Variant | None:
    """Returns the main of a program, or None where the program is not valid."""
    try:
        return _Variant.of(program, number)
    except (ir.MLIRError, ValueError):
        return None


def _main_of_all(first: _Variant, kept: Sequence[int]) -> str:
    """Returns the text of a function that calls all variants."""
    parameters = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(first.inputs))
    passed = ", ".join(f"%a{i}" for i, _ in enumerate(first.inputs))
    results, count = ", ".join(first.results), len(first.results)
    kind = f"({', '.join(first.inputs)}) -> ({results})"
    calls = [f"%v{n}:{count} = func.call @variant{n}({passed}) : {kind}" for n in kept]
    values = ", ".join(f"%v{n}#{i}" for n in kept for i in range(count))
    types = ", ".join([results] * len(kept))
    head = f"func.func public @main({parameters}) -> ({types}) {{"
    return "\n".join([head, *calls, f"func.return {values} : {types}", "}"])
