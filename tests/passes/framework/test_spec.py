from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.text import DiagnosticError, Source, Span
from passes.framework.base import Pass
from passes.framework.options import describe_options, format_options, parse_options
from passes.framework.pipeline import Pipeline
from passes.framework.spec import Text, parse_spec, quote, unquote
from tests.passes.toy import Inner, replace

TEXTS = st.text(alphabet="ab ,{}()[]='\"\\\n", max_size=12)


def read_one(options: str) -> Pass:
    (written,) = parse_spec(Source("spec", f"replace{{{options}}}"))
    return replace.with_options(**parse_options(replace.options, written.options, "pass replace"))


def error_of(spec: str) -> str:
    with pytest.raises(DiagnosticError) as caught:
        Pipeline.parse(spec)
    return str(caught.value)


@given(TEXTS)
def test_quote_is_undone_by_unquote(value: str) -> None:
    written = quote(value)
    assert unquote(Text(Source("", written), Span(0, len(written)))) == value


@settings(max_examples=60)
@given(
    st.builds(
        replace.with_options,
        old=TEXTS,
        count=st.integers(),
        loud=st.booleans(),
        mode=st.sampled_from(["all", "first"]),
        sizes=st.lists(st.integers(), max_size=3).map(tuple),
        file=st.none() | st.sampled_from([Path("a b"), Path("/x/y.toml")]),
        inner=st.builds(Inner, depth=st.integers(), names=st.lists(TEXTS, max_size=2).map(tuple)),
    )
)
def test_the_printed_options_parse_back(written: Pass) -> None:
    assert read_one(format_options(written.options, dict(written.values))) == written


def test_defaults_are_not_printed() -> None:
    assert str(replace) == "replace"
    assert str(replace.with_options(sizes=(), loud=True)) == "replace{loud=true sizes={}}"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("sizes=3,4", replace.with_options(sizes=(3, 4))),
        ("sizes={3, 4}", replace.with_options(sizes=(3, 4))),
        ("loud", replace.with_options(loud=True)),
        ("loud=TRUE", replace.with_options(loud=True)),
        ("old='a b' new={c d}", replace.with_options(old="a b", new="c d")),
        ("old=a={b}c", replace.with_options(old="a={b}c")),
        ("inner={depth=3 names=x,'y,z'}", replace.with_options(inner=Inner(3, ("x", "y,z")))),
    ],
)
def test_options_read_as_mlir_writes_them(options: str, expected: Pass) -> None:
    assert read_one(options) == expected


@pytest.mark.usefixtures("toy_passes")
def test_white_space_and_the_anchor_are_free() -> None:
    spec = " builtin.module( replace{ old=a } ,\n replace ) "
    assert str(Pipeline.parse(spec, pipelines={})) == "replace{old=a},replace"
    assert Pipeline.parse("").passes == ()


@pytest.mark.usefixtures("toy_passes")
@pytest.mark.parametrize(
    ("spec", "message", "caret", "hint"),
    [
        ("replac", "unknown pass replac", "^~~~~~", "did you mean replace?"),
        ("replace{olf=a}", "pass replace has no option olf", "        ^~~", "did you mean old?"),
        ("replace{zzz=a}", "has no option zzz", "        ^~~", "its options are: old, new, count"),
        ("replace{mode=frst}", "option mode is all|first, not frst", "             ^~~~", "did you mean first?"),
        ("replace{count=x}", "option count is an integer, not x", "              ^", ""),
        ("replace{sizes=1,x}", "option sizes is an integer, not x", "                ^", ""),
        ("replace{loud=maybe}", "option loud is true|false, not maybe", "             ^~~~~", ""),
        ("replace{old}", "option old needs a value", "        ^~~", "old=a text"),
        ("replace{old=a old=b}", "option old of pass replace is given twice", "              ^~~", ""),
        ("replace{inner={dept=1}}", "option inner has no option dept", "               ^~~~", "did you mean depth?"),
        ("replace{old=a,b c}", "pass replace has no option c", "                ^", "its options are: old"),
        (
            "replace{sizes=1,2,count=3}",
            "a blank, not a comma, is between options",
            "                 ^",
            "{sizes=1,2 count=",
        ),
        ("replace{old=a,new=b}", "a blank, not a comma, is between options", "             ^", "{old=a new=...}"),
        ("replace{=a}", "expected option=value, not =a", "        ^~", ""),
        ("replace{old='a}", "this ' is never closed", "            ^", ""),
        ("replace{old=a", "this { is never closed", "       ^", ""),
        ("replace}", "this } closes nothing", "       ^", ""),
        ("replace x", "expected a comma or {options} after replace", "        ^", ""),
        ("replace,,replace", "expected the name of a pass", "        ^", ""),
        ("func.func(replace)", "pipelines nested on func.func do not exist here", "^~~~~~~~~", "write replace"),
        ("builtin.module(replace", "this ( is never closed", "              ^", ""),
    ],
)
def test_errors_point_at_the_place(spec: str, message: str, caret: str, hint: str) -> None:
    text = error_of(spec)
    assert message in text
    assert not caret or text.splitlines()[2] == f"  {caret}"
    assert hint in text
    assert text.startswith("<pipeline>:1:")


def test_options_describe_themselves() -> None:
    described = {name: (kind, default) for name, kind, default in describe_options(replace.options)}
    assert described["mode"] == ("all|first", "all")
    assert described["sizes"] == ("an integer,...", "1,2")
    assert described["file"] == ("a file", "")
