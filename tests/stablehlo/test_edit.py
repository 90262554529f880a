import gc

import pytest

from dialect_utils.layout import (
    ELEMENT_TYPES,
    ArrayShape,
    BitcastConvert,
    Pad,
    Reshape,
    Slice,
    Step,
    Transpose,
    parse_shape,
)
from dialect_utils.stablehlo import parse_module
from dialect_utils.stablehlo.operation import StableHloOperation
from tests.stablehlo.texts import CONTROL_FLOW, MANY_RESULTS, one_op


def test_objects_are_one_for_each_and_survive_edits() -> None:
    module = parse_module(CONTROL_FLOW)
    operation = module.entry.operations[0]
    known = {operation: 1, operation.results[0]: 2}
    operation.results[0].set_shape(parse_shape("f32[3,5]{0,1}"))
    operation.set_operand(0, module.entry.parameters[0])
    assert known[module.entry.operations[0]] == 1
    assert known[module.entry.results[0]] == 2
    assert module.entry.operations[0] != module.clone().entry.operations[0]


def test_users_reach_into_regions() -> None:
    module = parse_module(CONTROL_FLOW)
    called = module.entry.operations[0].results[0]
    users = {user.opcode: user for user in called.users}
    assert sorted(users) == ["add", "reduce", "while"]
    assert users["add"].function is module.entry.operations[3].called[1]
    assert users["add"].function.outermost is module.entry
    assert list(users["add"].operands)[1] is called


def test_replace_uses_covers_regions_and_results() -> None:
    module = parse_module(CONTROL_FLOW)
    called, argument = module.entry.operations[0].results[0], module.entry.parameters[0]
    reduce = module.entry.operations[2]
    called.replace_uses(argument, keep=[reduce])
    assert list(called.users) == [reduce]
    assert module.entry.results[0] is argument
    assert sorted(user.opcode for user in argument.users) == ["add", "call", "while"]
    module.verify()


def test_a_result_keeps_its_own_layout_unless_the_value_changes_shape() -> None:
    module = parse_module(one_op("stablehlo.negate %a : tensor<3x5xf32>"))
    argument, negated = module.entry.parameters[0], module.entry.operations[0].results[0]
    tiled = parse_shape("f32[3,5]{1,0:T(2,2)}")
    module.set_entry_layout([argument.shape], [tiled])
    negated.replace_uses(argument)
    assert module.entry_layout[1] == (tiled,)
    argument.set_shape(parse_shape("f32[3,5]{0,1}"))
    assert module.entry_layout[1] == (argument.shape,)
    builder = module.at_end(module.entry)
    flat = builder.apply(Reshape((15,)), argument, name="a.flat", like=argument)
    module.entry.set_results([flat])
    assert module.entry_layout[1] == (parse_shape("f32[15]"),)
    module.verify()
    assert "-> tensor<15xf32> {" in module.text()


def test_erase_guards_everything_that_was_inside() -> None:
    module = parse_module(CONTROL_FLOW)
    loop = module.entry.operations[3]
    inner, value = loop.called[1].operations[0], loop.results[0]
    region = loop.called[1]
    with pytest.raises(ValueError, match="still used"):
        loop.erase()
    value.replace_uses(module.entry.operations[0].results[0])
    loop.erase()
    gc.collect()
    for use in (lambda: loop.opcode, lambda: inner.opcode, lambda: value.users, lambda: region.operations):
        with pytest.raises(ValueError, match="erased"):
            use()
    assert [user.opcode for user in module.entry.operations[0].results[0].users] == ["reduce"]
    module.verify()


def test_clones_are_independent_and_keep_names() -> None:
    module = parse_module(CONTROL_FLOW)
    argument = module.entry.parameters[0]
    module.after(argument).apply(Reshape((15,)), argument, name="lhs.flat", like=argument)
    copy = module.clone()
    assert copy.entry.operations[0].results[0].name == "lhs.flat"
    copy.entry.operations[0].erase()
    assert len(module.entry.operations) == len(copy.entry.operations) + 1
    del module
    gc.collect()
    assert copy.text() == parse_module(CONTROL_FLOW).text()


@pytest.mark.parametrize(
    ("step", "operand", "expected"),
    [
        (Transpose((1, 0)), "f32[3,5]", "f32[5,3]"),
        (Reshape((5, 3)), "f32[3,5]", "f32[5,3]"),
        (Reshape(()), "bf16[1,1]", "bf16[]"),
        (Pad((0, 1), (1, 0)), "f32[3,5]", "f32[4,6]"),
        (Pad((0, -1), (0, 0), (1, 0)), "f32[3,5]", "f32[5,4]"),
        (Slice((0, 1), (3, 5), (1, 2)), "f32[3,5]", "f32[3,2]"),
        (BitcastConvert(ELEMENT_TYPES["u8"]), "s4[3,2]", "u8[3]"),
        (BitcastConvert(ELEMENT_TYPES["s4"]), "u8[3]", "s4[3,2]"),
        (BitcastConvert(ELEMENT_TYPES["u8"]), "f4e2m1fn[3,2]", "u8[3]"),
        (BitcastConvert(ELEMENT_TYPES["u8"]), "u2[3,4]", "u8[3]"),
        (BitcastConvert(ELEMENT_TYPES["s8"]), "u8[3]", "s8[3]"),
        (BitcastConvert(ELEMENT_TYPES["u16"]), "bf16[3]", "u16[3]"),
        (BitcastConvert(ELEMENT_TYPES["u32"]), "f64[3]", "u32[3,2]"),
    ],
)
def test_steps_become_operations_and_are_read_back(step: Step, operand: str, expected: str) -> None:
    module = parse_module("func.func @main(%x: tensor<f32>) { return }")
    x = module.entry.parameters[0]
    x.set_shape(parse_shape(operand))
    padding = None
    shape = x.shape
    assert isinstance(shape, ArrayShape)
    builder = module.at_end(module.entry)
    if isinstance(step, Pad):
        padding = builder.constant(shape.element_type, 0, name="x.padding", like=x)
    made = builder.apply(step, x, name="x.new", like=x, padding=padding)
    module.verify()
    assert str(made.shape) == expected
    assert made.operation is not None
    assert made.operation.step == step
    assert made.name == "x.new"
    assert list(module.entry.operations)[-1] is made.operation


def test_a_step_follows_the_edits_of_its_operation() -> None:
    module = parse_module(one_op("stablehlo.transpose %a, dims = [0, 1] : (tensor<3x5xf32>) -> tensor<3x5xf32>"))
    operation = module.entry.operations[0]
    assert operation.step == Transpose((0, 1))
    operation.set_ints("dimensions", (1, 0))
    operation.results[0].set_shape(parse_shape("f32[5,3]"))
    assert operation.step == Transpose((1, 0))
    operation.set_attribute("permutation", "array<i64: 0, 1>")
    assert operation.step == Transpose((0, 1))


def test_the_step_of_a_reshape_has_the_present_dimensions() -> None:
    module = parse_module(one_op("stablehlo.reshape %a : (tensor<3x5xf32>) -> tensor<3x5xf32>"))
    operation = module.entry.operations[0]
    assert operation.step == Reshape((3, 5))
    operation.results[0].set_shape(parse_shape("f32[5,3]"))
    assert operation.step == Reshape((5, 3))


def test_wrong_steps_raise() -> None:
    module = parse_module("func.func @main(%x: tensor<3x5xf32>, %t: !stablehlo.token) { return }")
    x, token = module.entry.parameters
    builder = module.after(x)
    with pytest.raises(ValueError, match="padding value"):
        builder.apply(Pad((0, 0), (1, 1)), x, name="p", like=x)
    with pytest.raises(ValueError, match="does not permute"):
        builder.apply(Transpose((0, 0)), x, name="t", like=x)
    with pytest.raises(ValueError, match="needs an array of fixed"):
        builder.apply(Reshape((1,)), token, name="t", like=x)
    with pytest.raises(ValueError, match="no copy"):
        builder.copy(x, x.shape, name="c", like=x)
    with pytest.raises(ValueError, match="only a scalar"):
        builder.broadcast(x, (3,), name="b", like=x)


def _patterns(bits: int) -> set[int]:
    ones = (1 << bits) - 1
    return {0, 1, ones, ones >> 1, 1 << (bits - 1), 0x7FC1_2345_6789_ABCD_7FC1_2345_6789_ABCD & ones}


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name not in ("s1", "u1")])
def test_constants_keep_their_bits(name: str) -> None:
    module = parse_module("func.func @main(%x: tensor<3x5xf32>) { return }")
    x = module.entry.parameters[0]
    builder = module.after(x)
    patterns = sorted(_patterns(ELEMENT_TYPES[name].bits))
    for bits in patterns:
        constant = builder.constant(ELEMENT_TYPES[name], bits, name="x.zero", like=x)
        builder.broadcast(constant, (2, 3), name="x.zeros", like=x)
    module.verify()
    again = parse_module(module.text()).entry.operations
    assert [operation.splat_bits for operation in again[::2]] == patterns
    assert {operation.ints("dimensions") for operation in again[1::2]} == {()}
    with pytest.raises(ValueError, match="no pattern"):
        builder.constant(ELEMENT_TYPES[name], 1 << ELEMENT_TYPES[name].bits, name="x", like=x)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("dense<1.5> : tensor<4xf32>", 0x3FC00000),
        ("dense<[1.5, 1.5]> : tensor<2xf32>", 0x3FC00000),
        ("dense<[[1.5], [2.0]]> : tensor<2x1xf32>", None),
        ("dense<[1.0, 0.1]> : tensor<2xbf16>", None),
        ("dense<-1> : tensor<2xi4>", 15),
        ("dense<[(1.0, 2.0), (1.0, 2.0)]> : tensor<2xcomplex<f32>>", 0x40000000_3F800000),
        ("dense<> : tensor<0xf32>", None),
        ("dense<[true, false]> : tensor<2xi1>", None),
    ],
)
def test_splat_bits(value: str, expected: int | None) -> None:
    result = value.split(" : ")[1]
    module = parse_module(one_op(f"stablehlo.constant {value}", result=result))
    assert module.entry.operations[0].splat_bits == expected


def test_locations_are_carried_over_and_named() -> None:
    text = 'func.func @main(%x: tensor<6xf32> loc("x")) { return }'
    module = parse_module(text)
    x = module.entry.parameters[0]
    first = module.after(x).apply(Reshape((2, 3)), x, name="x.split", like=x)
    module.at_end(module.entry).apply(Transpose((1, 0)), first, name="x.physical", like=first)
    assert 'loc("x.split"(' in module.text()
    assert 'loc("x.physical"(#loc' in module.text()
    assert 'loc("x.physical"("x.split"' not in module.text()
    assert first.location == x.location


def test_builders_insert_in_order() -> None:
    module = parse_module(CONTROL_FLOW)
    called, x = module.entry.operations[0].results[0], module.entry.parameters[0]
    for builder in (module.after(called), module.before(module.entry.operations[0]), module.after(x)):
        one = builder.apply(Transpose((1, 0)), x, name="one", like=x)
        builder.apply(Transpose((1, 0)), one, name="two", like=x)
    assert [o.opcode for o in module.entry.operations][:7] == ["transpose"] * 4 + ["call"] + ["transpose"] * 2
    module.verify()


def test_clone_of_operations_with_regions() -> None:
    module = parse_module(MANY_RESULTS)
    sort: StableHloOperation = module.entry.operations[0]
    builder = module.after(sort.results[0])
    wide = [builder.apply(Pad((0, 0), (4, 0)), value, name="wide", like=value, padding=zero) for value, zero in (
        (value, builder.constant(value.shape.element_type, 0, name="zero", like=value))
        for value in module.entry.parameters if isinstance(value.shape, ArrayShape)
    )]  # fmt: skip
    shapes = [parse_shape("f32[8,6]{0,1}"), parse_shape("s32[8,6]")]
    results = builder.clone(sort, wide, shapes, name="sorted.physical")
    assert [value.shape for value in results] == shapes
    module.entry.set_results(results)
    sort.erase()
    module.verify()
    assert [o.opcode for o in module.entry.operations[-1].called[0].operations] == ["compare"]


def test_tuples_are_unpacked_and_packed() -> None:
    both = "tuple<tensor<f32>, tuple<!stablehlo.token, tensor<2xi8>>>"
    module = parse_module(f"func.func @main(%t: {both}) -> {both} {{ return %t : {both} }}")
    value = module.entry.parameters[0]
    builder = module.after(value)
    leaves = builder.flatten(value, name="t")
    assert [str(leaf.shape) for leaf in leaves] == ["f32[]", "token[]", "s8[2]"]
    packed = builder.make_tuple(leaves, value.shape, name="t.packed", like=value)
    assert packed.shape == value.shape
    assert builder.flatten(packed, name="u") == leaves
    assert builder.flatten(leaves[0], name="u") == leaves[:1]
    module.entry.set_results([packed])
    module.verify()


_A = "tensor<3x5xf32>"


@pytest.mark.parametrize(
    ("op", "result", "opcode", "ints"),
    [
        (f"stablehlo.broadcast_in_dim %a, dims = [1, 2] : ({_A}) -> tensor<2x3x5xf32>", "tensor<2x3x5xf32>",
         "broadcast", {"dimensions": (1, 2)}),
        (f"stablehlo.broadcast %a, sizes = [2] : ({_A}) -> tensor<2x3x5xf32>", "tensor<2x3x5xf32>",
         "broadcast", {"dimensions": (1, 2)}),
        (f"stablehlo.concatenate %a, %a, dim = 1 : ({_A}, {_A}) -> tensor<3x10xf32>", "tensor<3x10xf32>",
         "concatenate", {"dimensions": (1,)}),
        (f"stablehlo.reverse %a, dims = [0] : {_A}", _A, "reverse", {"dimensions": (0,)}),
        (f"stablehlo.iota dim = 1 : {_A}", _A, "iota", {"iota_dimension": (1,), "dimensions": None}),
        (f"stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : ({_A}, {_A}) -> tensor<5x5xf32>",
         "tensor<5x5xf32>", "dot", {"lhs_contracting_dims": (0,), "rhs_batch_dims": ()}),
        (f"stablehlo.exponential_minus_one %a : {_A}", _A, "exponential-minus-one", {"dimensions": None}),
        (f"stablehlo.constant dense<1.0> : {_A}", _A, "constant", {"value": None}),
        (f"chlo.erf %a : {_A} -> {_A}", _A, "chlo.erf", {"dimensions": None}),
        (f"mhlo.copy %a : {_A}", _A, "copy", {"dimensions": None}),
        (f"stablehlo.custom_call @Sharding(%a) : ({_A}) -> {_A}", _A, "custom-call", {"dimensions": None}),
    ],
)  # fmt: skip
def test_opcodes_and_integers_are_hlos(
    op: str, result: str, opcode: str, ints: dict[str, tuple[int, ...] | None]
) -> None:
    operation = parse_module(one_op(op, result=result)).entry.operations[0]
    assert operation.opcode == opcode
    assert {name: operation.ints(name) for name in ints} == ints
    assert operation.callee == ("Sharding" if opcode == "custom-call" else None)


def test_frontend_attributes() -> None:
    op = 'stablehlo.negate %a {mhlo.frontend_attributes = {k = "v"}, mhlo.sharding = "{replicated}"} : tensor<3x5xf32>'
    module = parse_module(one_op(op))
    operation = module.entry.operations[0]
    plain = module.text()
    operation.results[0].set_shape(parse_shape("f32[3,5]{0,1}"))
    assert operation.frontend_attributes == {"k": "v"}
    operation.set_frontend_attribute("n", "w")
    assert operation.frontend_attributes == {"k": "v", "n": "w"}
    operation.set_frontend_attribute("n", None)
    operation.results[0].set_shape(parse_shape("f32[3,5]"))
    assert module.text() == plain
    assert operation.attribute("mhlo.sharding") == "{replicated}"
    assert operation.attribute("none") is None
    operation.set_frontend_attribute("relayout.layout", "f32[3,5]{0,1}")
    assert str(operation.results[0].shape) == "f32[3,5]"
    with pytest.raises(ValueError, match="mirrors"):
        operation.set_frontend_attribute("relayout.xla_shape", "x")


def test_results_are_renamed_and_attributes_set_from_text() -> None:
    module = parse_module(
        "func.func @main(%p: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %n = stablehlo.negate %p : tensor<3xf32>\n  return %n : tensor<3xf32>\n}\n"
    )
    (operation,) = module.entry.operations
    (value,) = operation.results
    value.rename("again")
    assert value.name == "again"
    operation.set_attribute("a", "7 : i32")
    operation.set_attribute("b", "no attribute of MLIR")
    assert {**operation.attributes} == {"a": "7 : i32", "b": "no attribute of MLIR"}
    operation.set_attribute("a", None)
    operation.set_attribute("a", None)
    assert "a" not in operation.attributes
    with pytest.raises(ValueError, match="not the only result"):
        module.entry.parameters[0].rename("q")
    with pytest.raises(ValueError, match="no bitcast"):
        module.after(value).bitcast(value, value.shape, name="b", like=value)


def test_an_argument_without_uses_is_dropped_with_its_layout() -> None:
    module = parse_module(
        """module attributes {
  mhlo.xla_entry_computation_parameter_layouts = [dense<[1, 0]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>],
  mhlo.xla_entry_computation_result_layout = [dense<[0, 1]> : tensor<2xindex>]} {
  func.func @main(%u: tensor<2x5xf32>, %x: tensor<3x5xf32>) -> tensor<3x5xf32> {
    %n = stablehlo.negate %x : tensor<3x5xf32>
    return %n : tensor<3x5xf32>
  }
}
"""
    )
    first, second = module.entry.parameters
    with pytest.raises(ValueError, match="is still used"):
        module.entry.drop_parameter(second)
    module.entry.drop_parameter(first)
    assert [str(value.shape) for value in module.entry.parameters] == ["f32[3,5]{0,1}"]
    assert module.entry.operations[0].operands[0] is module.entry.parameters[0]
    assert module.entry.parameters[0].index == 0
    again = parse_module(module.text())
    assert again.entry_layout == module.entry_layout
    assert [str(shape) for shapes in again.entry_layout for shape in shapes] == ["f32[3,5]{0,1}"] * 2


def test_an_argument_without_attributes_is_dropped() -> None:
    module = parse_module(
        "func.func @main(%u: tensor<2xf32>, %x: tensor<3xf32>) -> tensor<3xf32> { return %x : tensor<3xf32> }"
    )
    module.entry.drop_parameter(module.entry.parameters[0])
    assert [str(value.shape) for value in parse_module(module.text()).entry.parameters] == ["f32[3]"]


CALLS = """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %n = func.call @called(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %n : tensor<2xf32>
}
func.func private @called(%p: tensor<2xf32>) -> tensor<2xf32> {
  %n = stablehlo.negate %p : tensor<2xf32>
  return %n : tensor<2xf32>
}
func.func private @alone(%p: tensor<2xf32>) -> tensor<2xf32> {
  %s = "stablehlo.sort"(%p) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %is = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %is : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<2xf32>) -> tensor<2xf32>
  return %s : tensor<2xf32>
}
func.func private @declared(tensor<2xf32>) -> tensor<2xf32>
"""


def test_a_function_without_callers_is_removed() -> None:
    module = parse_module(CALLS)
    alone, declared = module.function_named("alone"), module.function_named("declared")
    [sort] = alone.operations
    [region] = sort.called
    for kept in (module.entry, module.function_named("called"), region):
        with pytest.raises(ValueError, match="is the entry, or still called"):
            module.remove_function(kept)
    module.remove_function(alone)
    module.remove_function(declared)
    gc.collect()
    for gone in (lambda: sort.operands, lambda: alone.operations, lambda: region.operations, lambda: declared.results):
        with pytest.raises(ValueError, match="erased"):
            gone()
    assert [function.name for function in module.functions] == ["called", "main"]
    assert parse_module(module.text()).text() == module.text()
