"""Decodes Mosaic kernels with MLIR, in a process that may crash on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from dialect_utils.stablehlo.bindings import deserialize_kernel, ir, kernel_context, string_value
from dialect_utils.stablehlo.origins import origin_of
from dialect_utils.text import DiagnosticError

_VERSION = "stable_mosaic.version"
_MEMORY_SPACE = "#tpu.memory_space<"


def describe_kernels(bodies: Sequence[bytes], name: str) -> bytes:
    """Returns a JSON list with the text and the functions of each kernel, whose body is MLIR bytecode or text.

    Raises DiagnosticError that names the kernels `name` where one is damaged.
    """
    try:
        with kernel_context(), ir.Location.unknown():
            return json.dumps([_described_kernel(body) for body in bodies]).encode()
    except Exception as error:  # MLIRError, and errors of its bindings for the attributes and types that they lack
        reason = " ".join(str(error).split())
        raise DiagnosticError(f"{name} is not a valid Mosaic kernel: {reason}") from None


def _described_kernel(body: bytes) -> dict[str, Any]:
    module = ir.Module.parse(body)
    # The TPU compiler's own kernels are plain already and carry no version.
    if _VERSION in module.operation.attributes:
        deserialize_kernel(module)
    text, describer = str(module.operation.get_asm(enable_debug_info=False)), _Describer()
    # Parsed again, so that locations refer to the text.
    operations = ir.Module.parse(text).body.operations
    return {"text": text, "functions": [describer.function(view.operation) for view in operations]}


class _Describer:
    """A writer of functions as plain values; numbers the values of the whole kernel in order of definition."""

    def __init__(self) -> None:
        self.numbers: dict[ir.Value[Any], int] = {}

    def function(self, operation: ir.Operation) -> dict[str, Any]:
        if operation.name != "func.func":
            raise ValueError(f"the kernel's module holds {operation.name}, which is no function")
        attributes = _attributes(operation)
        return {
            "name": attributes.pop("sym_name", "kernel"),
            "attributes": attributes,
            "body": self.block(operation.regions[0]),
        }

    def block(self, region: ir.Region) -> dict[str, Any]:
        if len(region.blocks) > 1:
            raise ValueError("the kernel has branches between blocks")
        if not len(region.blocks):
            return {"arguments": [], "ops": []}
        block = region.blocks[0]
        arguments = [self.defined(argument) for argument in block.arguments]
        return {"arguments": arguments, "ops": [self.op(view.operation) for view in block.operations]}

    def op(self, operation: ir.Operation) -> dict[str, Any]:
        origin = origin_of(operation.location)
        operands = [self.numbers[value] for value in operation.operands]
        attributes = _attributes(operation)
        regions = [self.block(region) for region in operation.regions]
        return {
            "name": operation.name,
            "operands": operands,
            "results": [self.defined(result) for result in operation.results],
            "attributes": attributes,
            "regions": regions,
            "place": [origin.line, origin.column] if origin is not None else [1, 1],
        }

    def defined(self, value: ir.Value[Any]) -> list[Any]:
        self.numbers[value] = len(self.numbers)
        return [self.numbers[value], _type(value.type)]


def _attributes(operation: ir.Operation) -> dict[str, Any]:
    return {name: _attribute(operation.attributes[name]) for name in _names(operation.attributes)}


def _names(attributes: Any) -> Iterable[str]:
    return [item if isinstance(item, str) else item.name for item in attributes]


def _type(found: ir.Type) -> list[Any]:
    """Describes a type: kind, element, dimensions, memory space, text."""
    text = str(found)
    if isinstance(found, ir.MemRefType):
        space = str(found.memory_space or "").removeprefix(_MEMORY_SPACE).removesuffix(">")
        return ["memref", str(found.element_type), list(found.shape), space, text]
    if isinstance(found, ir.VectorType):
        return ["vector", str(found.element_type), list(found.shape), "", text]
    is_scalar = isinstance(found, ir.IntegerType | ir.IndexType | ir.FloatType)
    return ["scalar" if is_scalar else "other", text, [], "", text]


def _attribute(found: ir.Attribute) -> Any:
    """Describes an attribute by plain values, or by its text where it has none."""
    if isinstance(found, ir.StringAttr):
        return string_value(found)
    if isinstance(found, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr):
        return found.value
    if isinstance(found, ir.DenseElementsAttr):
        return {"dense": _elements(found)}
    if isinstance(found, ir.ArrayAttr | ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr | ir.DenseBoolArrayAttr):
        return [_attribute(item) if isinstance(item, ir.Attribute) else item for item in found]
    if isinstance(found, ir.DictAttr):
        return {"dictionary": {name: _attribute(found[name]) for name in _names(found)}}
    return str(found)


def _elements(found: Any) -> list[Any]:
    return [_attribute(found.get_splat_value())] if found.is_splat else list(found)
