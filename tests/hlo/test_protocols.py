from __future__ import annotations

import subprocess
import sys

from dialect_utils import ir
from dialect_utils.hlo import HloBuilder, HloModule, parse_module
from dialect_utils.hlo.instruction import as_instruction
from tests.hlo.texts import MODULE


def conforms(
    module: HloModule, builder: HloBuilder
) -> tuple[ir.Module, ir.Builder, ir.Function, ir.Value, ir.Operation]:
    """Returns its arguments, so that the type checker compares them with the protocols."""
    return module, builder, module.entry, module.entry.root, module.entry.root


def test_protocols() -> None:
    module = parse_module(MODULE)
    found, _, function, value, operation = conforms(module, HloBuilder(module.entry))
    assert isinstance(found, ir.Module)
    assert isinstance(function, ir.Function)
    assert isinstance(value, ir.Value)
    assert isinstance(operation, ir.Operation)
    assert not isinstance(MODULE, ir.Value)
    builder = module.at_end(module.entry)
    members = [name for name in vars(ir.Builder) if not name.startswith("_")]
    assert members
    assert all(callable(getattr(builder, name, None)) for name in members)


def test_the_members_of_the_interface() -> None:
    module = parse_module(MODULE)
    entry = module.entry
    x, w = entry.parameters[0], entry.root
    assert module.dialect == "hlo"
    assert x.operation is None
    assert w.operation is w
    assert w.results == (w,)
    assert x not in entry.operations
    assert [item.opcode for item in entry.operations] == ["add", "reduce", "negate"]
    assert entry.results == (w,)
    assert entry.is_entry
    assert not entry.is_embedded
    assert module.functions[0].is_embedded
    assert not module.functions[0].is_entry
    assert module.functions[0].callers == (entry.find("r"),)
    assert w.function is entry
    assert w.callee is None


def test_all_operations_and_all_values() -> None:
    module = parse_module(MODULE)
    functions = module.functions
    assert list(module.operations()) == [each for function in functions for each in function.operations]
    wanted = [{*function.parameters, *function.operations} for function in functions]
    assert [set(function.values()) for function in functions] == wanted
    assert list(module.values()) == [value for function in functions for value in function.values()]
    assert module.entry.values()[: len(module.entry.parameters)] == list(module.entry.parameters)


def test_operations_may_be_erased_on_the_way() -> None:
    module = parse_module("ENTRY e {\n  p = f32[] parameter(0)\n  a = f32[] negate(p)\n  b = f32[] negate(p)\n}\n")
    for operation in module.operations():
        if not operation.is_root:
            operation.erase()
    assert [item.name for item in module.operations()] == ["b"]


def test_parameters_stay_where_they_are() -> None:
    text = """ENTRY e {
  p = f32[2] parameter(0)
  a = f32[2] negate(p)
  q = f32[2] parameter(1)
  r = f32[2] parameter(2)
  ROOT b = f32[2] add(a, q)
}
"""
    module = parse_module(text)
    p, q, r = module.entry.parameters
    made = as_instruction(module.after(p).copy(p, p.shape, name="p.copy", like=p))
    p.replace_uses(made, keep=[made])
    late = as_instruction(module.after(q).copy(r, r.shape, name="r.copy", like=r))
    assert [item.name for item in module.entry.instructions] == ["p", "p.copy", "a", "q", "r", "r.copy", "b"]
    assert late.operands == (r,)
    assert parse_module(module.text()).text() == module.text()


def test_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, dialect_utils.hlo; "
        "sys.exit(', '.join({'numpy', 'jaxlib', 'jax', 'ml_dtypes', 'islpy'} & set(sys.modules)) or None)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
