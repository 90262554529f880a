from __future__ import annotations

import contextlib
import re

import pytest

import relayout
from dialect_utils.hlo import HloModule, Instruction, parse_module
from dialect_utils.hlo.instruction import as_instruction
from dialect_utils.ir import Builder, NewScalar, Value, array_shape
from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    Pad,
    Reshape,
    Slice,
    Step,
    Transpose,
    parse_element_type,
    parse_shape,
)
from dialect_utils.layout.moves.physical import physical_plan, untiled
from tests.hlo.texts import MODULE


@pytest.fixture
def module() -> HloModule:
    return parse_module(MODULE, "m.hlo")


def named(module: HloModule, name: str) -> Instruction:
    found = module.entry.find(name)
    assert found is not None
    return found


def changed(before: str, after: str) -> list[str]:
    """Returns the lines that only one of two texts has."""
    old, new = before.splitlines(), after.splitlines()
    return [f"-{line}" for line in old if line not in new] + [f"+{line}" for line in new if line not in old]


def test_only_edited_instructions_are_printed_from_the_graph(module: HloModule) -> None:
    named(module, "r").set_attribute("dimensions", "{1}")
    assert changed(MODULE, module.text()) == [
        "-  %r = f32[5]{0} reduce(%z, %y), dimensions={0}, to_apply=%plus",
        "+  %r = f32[5]{0} reduce(%z, %y), dimensions={1}, to_apply=%plus",
    ]


def test_an_edit_that_changes_nothing_prints_nothing_anew(module: HloModule) -> None:
    for item in module.entry.instructions:
        item.set_shape(item.shape)
        item.rename(item.name)
        item.set_attribute("metadata", item.attribute("metadata"))
    module.entry.set_results([module.entry.root])
    assert module.text() == MODULE


def test_attributes(module: HloModule) -> None:
    z = named(module, "z")
    assert z.metadata == '{op_name="a/b"}'
    assert z.frontend_attributes == {"q": "1"}
    z.set_frontend_attribute("r", 'a"b\\\n')
    assert parse_module(module.text()).entry.find("z").frontend_attributes == {"q": "1", "r": 'a"b\\\n'}  # type: ignore[union-attr]
    z.set_frontend_attribute("q", None)
    z.set_frontend_attribute("r", None)
    assert list(z.attributes) == ["metadata"]
    with pytest.raises(ValueError, match="not the value"):
        z.set_attribute("metadata", "{}, other={}")
    assert named(module, "r").ints("dimensions") == (0,)
    assert named(module, "r").ints("to_apply") is None


def test_rename_follows_operands_signature_and_control(module: HloModule) -> None:
    named(module, "x").rename("input")
    named(module, "r").rename("sum")
    text = module.text()
    assert "ENTRY %main (input: f32[3,5], y: f32[]) -> f32[3,5] {" in text
    assert "add(%input, %input)" in text
    assert "control-predecessors={%sum}" in text
    assert parse_module(text).text() == text
    with pytest.raises(ValueError, match="already has"):
        named(module, "y").rename("sum")


def test_rename_computation(module: HloModule) -> None:
    module.computations[0].rename("sum")
    assert module.text() == MODULE.replace("%plus", "%sum")
    assert module.find("sum") is module.computations[0]
    with pytest.raises(ValueError, match="already has"):
        module.computations[0].rename("main")


def test_entry_layout_follows_only_what_changed(module: HloModule) -> None:
    named(module, "y").set_shape(parse_shape("f32[]{:T(128)}"))
    # The first parameter's layout for callers differs from its own, and stays.
    assert "entry_computation_layout={(f32[3,5]{0,1}, f32[]{:T(128)})->f32[3,5]{1,0}}" in module.text()
    named(module, "x").set_shape(parse_shape("f32[3,5]{1,0:T(2,2)}"))
    assert "layout={(f32[3,5]{1,0:T(2,2)}, f32[]{:T(128)})->f32[3,5]{1,0}}" in module.text()
    module.entry.root.set_shape(parse_shape("f32[4]"))
    assert "->f32[4]}\n" in module.text()
    assert "ENTRY %main (x: f32[3,5], y: f32[]) -> f32[4] {" in module.text()
    assert module.entry_layout == (
        (parse_shape("f32[3,5]{1,0:T(2,2)}"), parse_shape("f32[]{:T(128)}")),
        (parse_shape("f32[4]"),),
    )


def test_entry_layout_can_be_written(module: HloModule) -> None:
    shape = parse_shape("f32[3,5]{0,1:T(4)}")
    module.set_entry_layout([shape, parse_shape("f32[]")], [shape])
    assert module.entry_layout == ((shape, parse_shape("f32[]")), (shape,))
    assert named(module, "x").shape == parse_shape("f32[3,5]{1,0}")
    with pytest.raises(ValueError, match="2 parameters"):
        module.set_entry_layout([shape], [shape])


def test_parts_of_a_tuple_result_keep_their_entry_layout() -> None:
    text = """HloModule m, entry_computation_layout={(f32[3,5]{1,0})->(f32[3,5]{0,1}, f32[3,5]{1,0})}
ENTRY e {
  p = f32[3,5]{1,0} parameter(0)
  n = f32[3,5]{1,0} negate(p)
  ROOT t = (f32[3,5]{1,0}, f32[3,5]{1,0}) tuple(p, n)
}
"""
    module = parse_module(text)
    module.entry.root.set_shape(parse_shape("(f32[3,5]{1,0}, f32[3,5]{1,0:T(8,128)})"))
    assert "->(f32[3,5]{0,1}, f32[3,5]{1,0:T(8,128)})}" in module.text()


def test_root_moves(module: HloModule) -> None:
    module.entry.set_results([named(module, "r")])
    text = module.text()
    assert "  ROOT %r = f32[5]{0} reduce" in text
    assert "\n  %w = " in text
    assert "-> f32[5] {" in text
    assert "->f32[5]{0}}" in text
    with pytest.raises(ValueError, match="one value"):
        module.entry.set_results([])


def test_implicit_root_stays_the_root() -> None:
    module = parse_module("ENTRY e {\n  p = f32[] parameter(0)\n  q = f32[] negate(p)\n}\n")
    q = module.entry.root
    module.at_end(module.entry).convert(q, parse_element_type("f64"), name="last", like=q)
    again = parse_module(module.text())
    assert again.entry.root.name == "q"
    assert again.entry.instructions[-1].name == "last"


def test_builder_places_and_names(module: HloModule) -> None:
    z = named(module, "z")
    builder = module.after(z)
    zero = builder.constant(parse_element_type("f32"), 0x80000000, name="z.zero", like=z)
    padded = builder.apply(Pad((0, 1), (1, 0), (0, 2)), z, name="z", like=z, padding=zero)
    sliced = builder.apply(Slice((0, 1), (3, 14), (1, 3)), padded, name="z", like=z)
    wide = builder.apply(BitcastConvert(parse_element_type("u8")), sliced, name="a b", like=z)
    assert [item.name for item in module.entry.instructions] == ["x", "y", "z", "z.zero", "z.1", "z.2", "a_b", "r", "w"]
    assert changed(MODULE, module.text()) == [
        '-  %z = f32[3,5]{1,0} add(%x, %x), frontend_attributes={q="1"}, metadata={op_name="a/b"} /* zed */',
        '+  %z = f32[3,5]{1,0} add(%x, %x), frontend_attributes={q="1"}, metadata={op_name="a/b"}',
        '+  %z.zero = f32[] constant(-0.0), metadata={op_name="a/b"}',
        '+  %z.1 = f32[4,14]{1,0} pad(%z, %z.zero), padding=0_1x1_0_2, metadata={op_name="a/b"}',
        '+  %z.2 = f32[3,5]{1,0} slice(%z.1), slice={[0:3], [1:14:3]}, metadata={op_name="a/b"}',
        '+  %a_b = u8[3,5,4]{2,1,0} bitcast-convert(%z.2), metadata={op_name="a/b"} /* zed */',
    ]
    assert wide.location == z.location
    assert parse_module(module.text()).text() == module.text()


def test_after_a_parameter_is_after_those_in_a_row_with_it() -> None:
    module = parse_module("".join(("ENTRY e {\n", *(f"  p{i} = f32[] parameter({i})\n" for i in range(5)), "}\n")))
    p = list(module.entry.parameters)

    def names() -> str:
        return " ".join(item.name for item in module.entry.instructions)

    def copy(builder: Builder, item: Instruction) -> Instruction:
        return as_instruction(builder.copy(item, item.shape, name="c", like=item))

    copy(module.after(p[0]), p[0])
    assert names() == "p0 p1 p2 p3 p4 c"
    between = copy(module.before(p[2]), p[1])  # parts the row that was found
    copy(module.after(p[1]), p[1])
    assert names() == "p0 p1 c.2 c.1 p2 p3 p4 c"
    copy(module.after(p[2]), p[2])
    copy(module.after(p[3]), p[3])
    assert names() == "p0 p1 c.2 c.1 p2 p3 p4 c.4 c.3 c"
    between.erase()
    copy(module.after(p[1]), p[1])
    assert names() == "p0 p1 c.5 c.2 p2 p3 p4 c.4 c.3 c"


@pytest.mark.parametrize(
    "step",
    [
        Transpose((1, 0)),
        Reshape((5, 3, 1)),
        Pad((0, -1), (2, 0), (1, 0)),
        Slice((0, 1), (3, 5), (2, 1)),
        BitcastConvert(parse_element_type("u16")),
    ],
    ids=str,
)
def test_steps_come_back(module: HloModule, step: Step) -> None:
    z = named(module, "z")
    made = as_instruction(module.after(z).apply(step, z, name="s", like=z, padding=named(module, "y")))
    assert made.step == step
    again = parse_module(module.text()).entry.find("s")
    assert again is not None
    assert again.step == step
    assert z.step is None


def test_the_builder_rejects_values_that_do_not_fit(module: HloModule) -> None:
    z = named(module, "z")
    with pytest.raises(ValueError, match="padding value"):
        module.after(z).apply(Pad((0, 0), (1, 1)), z, name="n", like=z)
    y = named(module, "y")
    with pytest.raises(ValueError, match="scalar has no text"):
        module.after(z).apply(Pad((), ()), y, name="n", like=z, padding=y)
    with pytest.raises(ValueError, match="does not keep"):
        module.after(z).apply(Reshape((4,)), z, name="n", like=z)
    with pytest.raises(ValueError, match="not defined before"):
        module.before(z).apply(Transpose((1, 0)), z, name="n", like=z)
    with pytest.raises(ValueError, match="needs a scalar"):
        module.after(z).broadcast(z, (2,), name="n", like=z)
    assert module.text() == MODULE


def test_a_use_never_comes_before_its_definition(module: HloModule) -> None:
    x, z, r = named(module, "x"), named(module, "z"), named(module, "r")
    with pytest.raises(ValueError, match="not defined before"):
        z.set_operand(0, r)
    for value, new in ((x, z), (z, r)):
        with pytest.raises(ValueError, match="not defined before"):
            value.replace_uses(new)
    with pytest.raises(ValueError, match="different computations"):
        z.set_operand(0, module.computations[0].root)
    assert module.text() == MODULE


def test_replace_uses_keeps_some_and_moves_the_root(module: HloModule) -> None:
    w = named(module, "w")
    builder = module.after(w)
    copy = as_instruction(builder.copy(w, parse_shape("f32[3,5]{0,1}"), name="w.copy", like=w))
    w.replace_uses(copy, keep=[copy])
    assert module.entry.root is copy
    assert copy.operands == (w,)
    assert module.text().endswith(
        "  %w = f32[3,5]{1,0} negate(%z), control-predecessors={%r}\n  ROOT %w.copy = f32[3,5]{0,1} copy(%w)\n}\n"
    )


def test_erase(module: HloModule) -> None:
    z, r, w = named(module, "z"), named(module, "r"), named(module, "w")
    for used in (z, w, named(module, "y")):
        with pytest.raises(ValueError, match=r"still used|the ROOT|a parameter"):
            used.erase()
    r.erase()
    assert z.users == (w,)
    assert "control-predecessors" not in module.text()
    assert module.computations[0].callers == ()
    # The comment before the erased instruction belongs to the line above.
    assert "/* zed */\n  ROOT %w" in module.text()
    with pytest.raises(ValueError, match="is the entry"):
        module.remove_function(module.entry)
    module.remove_function(module.computations[0])
    assert "plus" not in module.text()
    assert parse_module(module.text()).text() == module.text()


def test_erase_keeps_comments_and_what_comes_after_them() -> None:
    text = "ENTRY e { p = f32[] parameter(0) // one\n a = f32[] negate(p) ROOT b = f32[] negate(p) }"
    module = parse_module(text)
    named(module, "a").erase()
    assert "// one\n" in module.text()
    assert [item.name for item in parse_module(module.text()).entry.instructions] == ["p", "b"]


def test_control_predecessors_pass_through_an_erased_one() -> None:
    text = """ENTRY e {
  p = f32[] parameter(0)
  a = f32[] negate(p)
  b = f32[] negate(p), control-predecessors={a}
  ROOT c = f32[] negate(p), control-predecessors={b}
}
"""
    module = parse_module(text)
    named(module, "b").erase()
    assert module.entry.control[named(module, "c")] == [named(module, "a")]
    assert "ROOT c = f32[] negate(p), control-predecessors={a}" in module.text()


def test_insert(module: HloModule) -> None:
    entry, z, r = module.entry, named(module, "z"), named(module, "r")
    made = entry.insert(z, "n", z.shape, "negate", [z], attributes={"metadata": "{}"})
    assert made in z.users
    entry.insert(r, "m", r.shape, "map", [r], attributes={"dimensions": "{0}", "to_apply": "%plus"})
    assert [item.name for item in entry.instructions] == ["x", "y", "z", "n", "r", "m", "w"]
    assert module.computations[0].callers == (r, named(module, "m"))
    assert parse_module(module.text()).text() == module.text()


def test_add_computation(module: HloModule) -> None:
    added = module.add_computation("%twice (a: f32[]) -> f32[] {\n  ROOT %a = f32[] parameter(0)\n}")
    user = module.add_computation("%user { %b = f32[] parameter(0) ROOT %c = f32[] call(%b), to_apply=%twice }")
    assert [c.name for c in module.computations] == ["twice", "user", "plus", "main"]
    assert added.callers == (user.root,)
    named(module, "r").set_attribute("to_apply", "%user")
    assert module.find("plus") is not None
    text = module.text()
    assert parse_module(text).text() == text
    assert [c.name for c in parse_module(text).functions] == ["twice", "user", "plus", "main"]


def test_fresh_names_collide_with_nothing(module: HloModule) -> None:
    seen = {item.name for c in module.computations for item in c.instructions} | {c.name for c in module.computations}
    for base in ["x", "x", "plus", "main.1", "main", "1a", "", "a b", "%x", "x.1", "x.1"]:
        name = module.fresh_name(base)
        assert name not in seen
        seen.add(name)


def test_reserved_words_get_their_percent() -> None:
    module = parse_module("ENTRY e { p = f32[] parameter(0) }")
    p = module.entry.root
    module.at_end(module.entry).convert(p, parse_element_type("f64"), name="inf", like=p)
    assert "%inf = f64[] convert(p)" in module.text()


def test_tuples_apart_and_together() -> None:
    text = """ENTRY %e (p: (f32[2], (s32[], pred[]))) -> f32[2] {
  %p = (f32[2]{0}, (s32[], pred[])) parameter(0)
  ROOT %g = f32[2]{0} get-tuple-element(%p), index=0
}
"""
    module = parse_module(text)
    p = module.entry.parameters[0]
    builder = module.after(p)
    leaves = builder.flatten(p, name="p")
    assert [leaf.name for leaf in leaves] == ["p.0", "p.1.0", "p.1.1"]
    packed = builder.make_tuple(leaves, p.shape, name="q", like=p)
    assert packed.shape == p.shape
    count = len(module.entry.instructions)
    # The operands of a tuple are its leaves.
    assert builder.flatten(packed, name="again") == leaves
    assert len(module.entry.instructions) == count
    with pytest.raises(ValueError, match="left"):
        builder.make_tuple(leaves[:2], p.shape, name="q", like=p)
    assert parse_module(module.text()).text() == module.text()


def test_clone_of_an_operation_keeps_calls_and_attributes(module: HloModule) -> None:
    r, y = named(module, "r"), named(module, "y")
    [clone] = module.after(r).clone(r, [r.operands[0], y], [parse_shape("f32[5]{0:T(8)}")], name=r.name)
    made = as_instruction(clone)
    assert made.attributes == r.attributes
    assert made.called == r.called
    assert module.computations[0].callers == (r, made)


def test_written_operand_shapes_follow() -> None:
    text = "ENTRY e { p = f32[2]{0} parameter(0) ROOT q = f32[2]{0} negate(f32[2]{0} p) }"
    module = parse_module(text)
    module.entry.parameters[0].set_shape(parse_shape("f32[2]{0:T(2)}"))
    assert "negate(f32[2]{0:T(2)} p)" in module.text()


def test_a_clone_is_independent(module: HloModule) -> None:
    named(module, "z").rename("first")
    copy = module.clone()
    before = module.text()
    assert copy.text() == before
    found = copy.entry.find("first")
    assert found is not None
    assert found.location == named(module, "first").location
    found.rename("second")
    copy.computations[0].rename("other")
    copy.entry.root.set_shape(parse_shape("f32[1]"))
    copy.before(found).constant(parse_element_type("s32"), 1, name="new", like=found)
    assert module.text() == before
    assert parse_module(copy.text()).text() == copy.text()


def test_header_attributes(module: HloModule) -> None:
    module.set_attribute("is_scheduled", "true")
    assert module.is_scheduled
    module.set_attribute("frontend_attributes", '{a="b",c={d}}')
    assert module.text().splitlines()[0].endswith(', is_scheduled=true, frontend_attributes={a="b",c={d}}')
    assert list(module.attributes)[-2:] == ["is_scheduled", "frontend_attributes"]
    module.set_attribute("is_scheduled", None)
    module.set_attribute("frontend_attributes", None)
    assert module.text() == MODULE


def test_aliases() -> None:
    aliases = "{ {0}: (0, {}, may-alias), {1, 2}: (3, {0, 1}) }"
    text = f"HloModule m, input_output_alias={aliases}\nENTRY e {{ p = f32[] parameter(0) }}"
    assert parse_module(text).aliases == (((0,), 0, ()), ((1, 2), 3, (0, 1)))
    assert parse_module(MODULE).aliases == ()


def test_many_edits_take_linear_time() -> None:
    lines = [f"  a{i} = f32[] negate({'p' if i % 2 else 'z'})" for i in range(8000)]
    text = "ENTRY e {\n  p = f32[] parameter(0)\n  z = f32[] parameter(1)\n" + "\n".join(lines) + "\n}\n"
    module = parse_module(text)
    p, z = module.entry.parameters
    for item in module.entry.operations:
        builder = module.before(item)
        new = builder.copy(item.operands[0], parse_shape("f32[]"), name="c", like=item)
        item.set_operand(0, new)
        item.rename(f"{item.name}.x")
    z.replace_uses(p)
    assert len(parse_module(module.text()).entry.instructions) == 16002


@pytest.mark.parametrize(
    "shape",
    [
        "f32[3,5]{1,0:T(2,2)}",
        "bf16[7,3,130]{2,1,0:T(8,128)(2,1)}",
        "s4[5,9]{1,0:T(8,128)E(4)}",
        "f32[3]{0:T(8)}",
        "f32[1,6]{0,1:T(4,2)}",
    ],
)
@pytest.mark.parametrize("is_before", [True, False])
def test_a_plan_is_made_as_its_steps_are(shape: str, is_before: bool) -> None:
    tiled = parse_shape(shape)
    assert isinstance(tiled, ArrayShape)
    plain = untiled(tiled)
    text = f"HloModule m\n\nENTRY %e {{\n  %p = {plain} parameter(0)\n  ROOT %n = {plain} negate(%p), "
    text += 'metadata={op_name="a"}, backend_config={"b":"c"}\n}\n'
    at_once, in_steps = parse_module(text), parse_module(text)
    plan = physical_plan(tiled)
    assert plan.steps
    names = [f"x.{step.opcode}" for step in plan.steps]
    for module in (at_once, in_steps):
        value, like = module.entry.find("p"), module.entry.find("n")
        assert value is not None
        assert like is not None
        builder = module.before(like) if is_before else module.after(value)
        if module is at_once:
            paddings = [NewScalar("x.padding", 0) if step.adds_elements else None for step in plan.steps]
            last = builder.apply_plan(plan, value, names, like=like, paddings=paddings)[-1]
            builder.apply(Reshape(array_shape(last).dimensions), last, name="y", like=like)
            continue
        before: Value = value
        for step, name in zip(plan.steps, names, strict=True):
            kind = array_shape(before).element_type
            scalar = builder.constant(kind, 0, name="x.padding", like=like) if step.adds_elements else None
            before = builder.apply(step, before, name=name, like=like, padding=scalar)
        builder.apply(Reshape(array_shape(before).dimensions), before, name="y", like=like)
    assert at_once.text() == in_steps.text()
    made = [item for item in at_once.entry.instructions if item.step is not None]
    again = parse_module(at_once.text()).entry
    assert [item.step for item in made] == [found.step for item in made if (found := again.find(item.name))]
    assert [[user.name for user in item.users] for item in made] == [
        [user.name for user in found.users] for item in made if (found := again.find(item.name))
    ]


def test_a_plan_uses_only_what_is_defined_before_it() -> None:
    tiled = parse_shape("f32[3,5]{1,0:T(2,2)}")
    assert isinstance(tiled, ArrayShape)
    text = "HloModule m\n\nENTRY e {\n  p = f32[3,5]{1,0} parameter(0)\n  z = f32[] constant(0)\n"
    text += "  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
    module, plan = parse_module(text), physical_plan(tiled)
    p, z = module.entry.find("p"), module.entry.find("z")
    assert p is not None
    assert z is not None
    names = [step.opcode for step in plan.steps]
    late = [z if step.adds_elements else None for step in plan.steps]
    with pytest.raises(ValueError, match="%z is not defined before the new pad"):
        module.after(p).apply_plan(plan, p, names, like=p, paddings=late)
    with pytest.raises(ValueError, match="pad needs a padding value"):
        module.after(p).apply_plan(plan, p, names, like=p, paddings=[None] * len(names))
    assert module.text() == text


_SUBTRACTIONS = (
    "HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n  b = f32[2] parameter(1)\n"
    "  ROOT s = f32[2] subtract(a, b)\n}\n",
    "func.func public @main(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {\n"
    "  %s = stablehlo.subtract %a, %b : tensor<2xf32>\n  return %s : tensor<2xf32>\n}\n",
)
# Settings of a module, which say how it is printed and verified.
_SETTINGS = {"has_locations", "is_of_compiler", "sound", "writes_layouts"}


@pytest.mark.parametrize("text", _SUBTRACTIONS)
def test_an_assignment_edits_the_module_or_raises(text: str) -> None:
    module = relayout.parse(text.encode())
    operation = next(iter(module.operations()))
    a, b = module.entry.parameters
    operation.operands = (b, a)  # type: ignore[misc]  # the interface has no setters
    edited = " ".join(module.text().split())
    assert "subtract(b, a)" in edited or re.search(r"subtract %arg1, %arg0", edited)
    operation.results[0].shape = parse_shape("f32[3]")  # type: ignore[misc]  # the interface has no setters
    assert "3" in module.text()
    with pytest.raises(ValueError, match="subtract has 2 operands, not 1"):
        operation.operands = (b,)  # type: ignore[misc]  # the interface has no setters
    for part in (module, module.entry, operation, operation.results[0], a):
        for name in (each for each in dir(part) if not each.startswith("_") and each not in _SETTINGS):
            before = module.text()
            value = getattr(part, name)
            if callable(value):
                continue
            with contextlib.suppress(AttributeError, ValueError):
                setattr(part, name, value)
                # The methods that assignments call change nothing for the same value.
                assert name in ("name", "operands", "results", "root", "shape"), name
            assert module.text() == before
