"""Tuples, tokens, calls, loops and branches, and the general asynchronous wrapper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape, parse_shape
from dialect_utils.ops.declaration import (
    ALIASING,
    ANY,
    CONVOLUTION,
    NOTES,
    TO_APPLY,
    Attribute,
    Opcode,
    Trait,
    choice,
    computations,
    flags,
    integers,
    note,
    op,
    texts,
)
from dialect_utils.ops.devices import numbers_in
from dialect_utils.ops.inference import (
    Called,
    Instance,
    ShapeError,
    agree,
    check_second_token,
    first_operand,
    is_compatible,
    is_equally_ordered,
    token,
)
from dialect_utils.text import DiagnosticError

_ALIASING = "output_to_operand_aliasing"
_ALIAS = re.compile(r"\{([\d,\s]*)\}\s*:\s*\(\s*(-?\d{1,9})\s*,\s*\{([\d,\s]*)\}")
_COMPOSITE = re.compile(r"composite\.(name|version|attributes)\s*=\s*\"([^\"]*)\"")

# Results (ShapeInference::InferGetTupleElementShape, InferCallShape, InferWhileShape)


def element(instance: Instance) -> Shape:
    """Returns the element at `index` of a tuple."""
    operand, index = instance.operands[0], instance.ints("index")
    if not isinstance(operand, TupleShape):
        raise ShapeError(f"get-tuple-element of {operand}, which is not a tuple", "operand 0")
    if len(index) != 1 or not 0 <= index[0] < len(operand.elements):
        text = instance.attribute("index")
        message = f"get-tuple-element takes element {text} of a tuple of {len(operand.elements)}"
        raise ShapeError(message, "index")
    return operand.elements[index[0]]


def returned(instance: Instance) -> Shape:
    """Returns the result of the (first) computation that is called."""
    if not instance.called:
        raise ShapeError(f"{instance.opcode} calls no computation that is known here", "opcode")
    return instance.called[0].result


# Constraints


def check_interface(instance: Instance, called: Called, operands: list[Shape]) -> None:
    """Raises ShapeError where a computation does not take these operands, or return the result."""
    opcode, have = instance.opcode, len(called.parameters)
    # XLA drops operands of a fusion that its computation does not have.
    if have > len(operands) or (have < len(operands) and opcode != "fusion"):
        message = f"{opcode} passes {len(operands)} operands to %{called.name}, which has {have} parameters"
        raise ShapeError(message, "operands")
    for number, parameter in enumerate(called.parameters):
        name = f"parameter {number} of %{called.name}"
        agree(instance, f"operand {number} of {opcode}", operands[number], name, parameter, "operands")
    if instance.shape is not None:
        agree(instance, opcode, instance.shape, f"the ROOT of %{called.name}", called.result, "shape")


def check_call(instance: Instance) -> None:
    """Raises ShapeError where a call or fusion and its computation disagree."""
    if instance.called:
        check_interface(instance, instance.called[0], list(instance.operands))
    check_aliasing(instance)
    if instance.attribute("is_composite") == "true":
        _check_composite(instance)


def _check_composite(instance: Instance) -> None:
    found = dict(_COMPOSITE.findall(instance.attribute("frontend_attributes") or ""))
    if not found.get("name"):
        message = "a composite call must have frontend attributes with composite.name, which is not empty"
        raise ShapeError(message, "frontend_attributes")
    if found.get("attributes") == "":
        message = "a composite call must have composite.attributes that are {} or not empty"
        raise ShapeError(message, "frontend_attributes")
    if "version" in found and not re.fullmatch(r"\+?\d+", found["version"]):
        message = f"the composite.version of a composite call must be a non-negative integer, found {found['version']}"
        raise ShapeError(message, "frontend_attributes")


def check_while(instance: Instance) -> None:
    """Raises ShapeError where the state of a loop changes its shape, or its condition gives no truth value."""
    state = instance.operands[0]
    for called in instance.called:
        if len(called.parameters) != 1:
            raise ShapeError(
                f"%{called.name} of a while takes one parameter, found {len(called.parameters)}", "operands"
            )
    if len(instance.called) != len(("condition", "body")) or instance.shape is None:
        return
    condition, body = instance.called
    for name, shape, part in (
        ("the while", instance.shape, "shape"),
        (f"the parameter of %{condition.name}", condition.parameters[0], "condition"),
        (f"the parameter of %{body.name}", body.parameters[0], "body"),
        (f"the ROOT of %{body.name}", body.result, "body"),
    ):
        agree(instance, "the operand of while", state, name, shape, part)
    decision = condition.result
    if not (isinstance(decision, ArrayShape) and decision.element_type.name == "pred" and decision.rank == 0):
        raise ShapeError(f"the condition %{condition.name} must give pred[], found {decision}", "condition")


def check_conditional(instance: Instance) -> None:
    """Raises ShapeError where operands or branches of a conditional do not fit."""
    operands, branches = list(instance.operands[1:]), instance.called
    if len(operands) != len(branches) or not branches:
        message = f"conditional has {len(branches)} branches, but operands for {len(operands)}"
        raise ShapeError(message, "operands")
    wanted = "s32" if instance.attribute("branch_computations") is not None else "pred"
    chooser = instance.operands[0]
    if not isinstance(chooser, ArrayShape) or chooser.rank:
        raise ShapeError(f"the first operand of conditional must be a scalar, found {chooser}", "operand 0")
    is_either = instance.is_lenient and chooser.element_type.name == "pred" and len(branches) == len(("true", "false"))
    if chooser.element_type.name != wanted and not is_either:
        message = f"conditional of such branches chooses by {wanted}[], found {chooser}"
        raise ShapeError(message, "operand 0")
    for branch, operand in zip(branches, operands, strict=True):
        check_interface(instance, branch, [operand])


def check_custom_call(instance: Instance) -> None:
    """Raises ShapeError where constraints, aliases or known targets of a custom call do not hold."""
    text = instance.attribute("operand_layout_constraints")
    if text is not None:
        name = "operand_layout_constraints"
        try:
            constraints = parse_shape(f"({text.strip()[1:-1]})")
        except DiagnosticError as error:
            raise ShapeError(f"the {name} are not shapes: {error.diagnostics[0].message}", name) from None
        assert isinstance(constraints, TupleShape)  # the parsed text is in parentheses
        found = len(constraints.elements)
        if found != len(instance.operands):
            raise ShapeError(f"expected {len(instance.operands)} {name}, found {found}", name)
        for number, (operand, shape) in enumerate(zip(instance.operands, constraints.elements, strict=True)):
            if not is_compatible(operand, shape):
                raise ShapeError(f"operand {number} is {operand}, but its {name} is {shape}", name)
    target = (instance.attribute("custom_call_target") or "")[1:-1]
    if target == "GetRngSeed" and instance.operands:
        raise ShapeError(f"the custom call GetRngSeed must have 0 operands, found {len(instance.operands)}", "operands")
    if target == "GetRngSeed" and any(leaf.element_type.name != "u64" for leaf in _shape(instance).arrays()):
        raise ShapeError(f"the custom call GetRngSeed must return u64, but the shape is {instance.shape}", "shape")
    if target in BUFFER_CALLS:
        _check_buffer_call(instance, target)
    check_aliasing(instance)


def _shape(instance: Instance) -> Shape:
    return TupleShape(()) if instance.shape is None else instance.shape


# Custom calls whose result is the bytes of their operands.
CALLS_OF_BYTES = ("ConcatBitcast",)
# Prefixes of the targets of calls of libraries for GPUs: XLA and JAX write them for no other machine.
_GPU_LIBRARIES = (
    *(f"__{name}" for name in ("cublas", "cudnn", "cusolver", "cub$", "gpu$", "op$", "triton")),
    *(f"{name}_" for name in ("cublas", "cudnn", "cusolver", "cusparse", "cuda", "cu", "hip")),
)


def calls_gpu_library(target: str | None) -> bool:
    """Is true for the target of a call of a library for GPUs."""
    return (target or "").startswith(_GPU_LIBRARIES)


# Custom calls that make buffers of arrays and arrays of buffers.
BUFFER_CALLS = ("Pin", "Unpin", "CreateBuffer")


def _check_buffer_call(instance: Instance, target: str) -> None:
    operands, shape = instance.operands, instance.shape
    makes = target != "Unpin"
    if isinstance(shape, BufferShape) != makes:
        raise ShapeError(f"the custom call {target} must have one {'buffer' if makes else 'array'} result", "shape")
    if target == "CreateBuffer":
        if operands:
            raise ShapeError("the custom call CreateBuffer has no operand", "operands")
        return
    if len(operands) != 1 or isinstance(operands[0], BufferShape) == makes:
        wanted = "array" if makes else "buffer"
        raise ShapeError(f"the custom call {target} must have one {wanted} operand", "operands")
    inner = [next(iter(each.arrays()), None) for each in (operands[0], _shape(instance))]
    if inner[0] is None or inner[1] is None or not is_compatible(inner[0], inner[1]):
        raise ShapeError(f"the custom call {target} of {operands[0]} must keep its shape, found {shape}", "shape")
    if [(path, number) for path, number, _ in aliases_of(instance)] != [((), 0)]:
        message = f"the custom call {target} must have one output-to-operand aliasing, {{}}: (0, {{}})"
        raise ShapeError(message, "custom_call_target")


def aliases_of(instance: Instance) -> Iterator[tuple[tuple[int, ...], int, tuple[int, ...]]]:
    """Yields (path in the result, operand, path in the operand) of every alias of an instruction."""
    for result, number, operand in _ALIAS.findall(instance.attribute(_ALIASING) or ""):
        yield tuple(numbers_in(result)), int(number), tuple(numbers_in(operand))


def subshape(shape: Shape | None, path: Sequence[int]) -> Shape | None:
    """Returns an element of nested tuples, such as (1, 0) for `%t#1#0`, or None where it does not exist."""
    for index in path:
        if not isinstance(shape, TupleShape) or not 0 <= index < len(shape.elements):
            return None
        shape = shape.elements[index]
    return shape


def check_aliasing(instance: Instance) -> None:
    """Raises ShapeError where an alias of an operand and the result does not exist, or joins different shapes."""
    for path, number, inside in aliases_of(instance):
        if number < 0:
            raise ShapeError(f"negative operand number {number} in {_ALIASING}", _ALIASING)
        if number >= len(instance.operands):
            message = f"invalid operand number {number} in {_ALIASING}: there are {len(instance.operands)} operands"
            raise ShapeError(message, _ALIASING)
        operand, result = subshape(instance.operands[number], inside), subshape(instance.shape, path)
        if operand is None:
            raise ShapeError(f"invalid operand shape index {list(inside)} in {_ALIASING}", _ALIASING)
        if result is None:
            raise ShapeError(f"invalid output shape index {list(path)} in {_ALIASING}", _ALIASING)
        if "xla_skip_custom_call_alias_shape_check" in (instance.attribute("frontend_attributes") or ""):
            continue
        # Buffers are compared by their arrays.
        arrays = [each.array if isinstance(each, BufferShape) else each for each in (operand, result)]
        if not (is_equally_ordered if instance.is_layout_sensitive else is_compatible)(*arrays):
            raise ShapeError(f"{_ALIASING} joins different shapes: {operand} and {result}", _ALIASING)


_FORWARDED = Trait.FORWARDS | Trait.ALIASES | Trait.BOUNDED
_TUPLED = Trait.TUPLES | Trait.ALIASES | Trait.BOUNDED | Trait.PURE

_KINDS = choice("kind", "kCustom kInput kLoop kOutput", needed=True)
_FUSION_KINDS = replace(_KINDS, unused="it says how the backend executes it")
_DOMAIN = replace(note("domain", "it marks the edge of a sharding"), is_needed=True)
_NAMES = ("ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED", "TYPED_FFI")
_VERSIONS = tuple(f"API_VERSION_{name}" for name in _NAMES)
_CONFIG = Attribute("backend_config", "string", default=("",))
# A custom call hands these to its program.
_HANDED = (_CONFIG, NOTES, Attribute("sharding", "string", "mhlo.sharding"))


OPERATIONS: tuple[Opcode, ...] = (
    op("get-tuple-element", 1, _TUPLED | Trait.FREE, integers("index", needed=True), result=element),
    op("tuple", ANY, _TUPLED, result=lambda instance: TupleShape(tuple(instance.operands))),
    op(
        "add-dependency",
        2,
        _FORWARDED | Trait.PURE | Trait.FREE,
        mlir="",
        result=first_operand,
        check=check_second_token,
    ),
    op("after-all", ANY, Trait.FREE, mlir="after_all create_token", result=token, factors="a token has no dimensions"),
    op("domain", 1, _FORWARDED | Trait.FREE, _DOMAIN, mlir="", result=first_operand),
    op("opt-barrier", 1, _FORWARDED, mlir="optimization_barrier", result=first_operand),
    op(
        "async",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS | Trait.CONTROL_FLOW,
        *computations("calls", "computations"),
        replace(ALIASING, unused="storage"),
        mlir="",
    ),
    op(
        "call",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS | Trait.CONTROL_FLOW,
        *TO_APPLY,
        note("is_composite", "the function defines the result", "flag"),
        only_mlir=(note("no_inline", "it tells passes whether to inline"),),
        mlir="",
        result=returned,
        check=check_call,
    ),
    op(
        "conditional",
        ANY,
        Trait.CALLS | Trait.CONTROL_FLOW,
        *computations("true_computation false_computation"),
        *computations("branch_computations", "computations"),
        mlir="case if",
        result=returned,
        check=check_conditional,
    ),
    op(
        "custom-call",
        ANY,
        Trait.CALLS | Trait.ENGINE_DEFINED | Trait.FREE,
        Attribute("custom_call_target", "string", "call_target_name", is_needed=True),
        *_HANDED,
        *computations("to_apply called_computations", "computations"),
        *CONVOLUTION,
        Attribute("api_version", "position", values=_VERSIONS, default=("1",)),
        *texts("literal operand_layout_constraints padding_type schedule"),
        ALIASING,
        *flags("custom_call_has_side_effect", "has_side_effect"),
        only_mlir=texts("operand_layouts result_layouts sdy.sharding"),
        check=check_custom_call,
        factors="it is a function of another program",
    ),
    op(
        "fusion",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS | Trait.COMPILED,
        *computations("calls"),
        _FUSION_KINDS,
        replace(ALIASING, unused="storage"),
        mlir="",
        result=returned,
        check=check_call,
    ),
    op(
        "while",
        1,
        Trait.CALLS | Trait.CONTROL_FLOW,
        *computations("condition body"),
        result=first_operand,
        check=check_while,
    ),
)
