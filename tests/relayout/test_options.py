"""Options as data: the rules of commands name options that exist, and a command is made of its options."""

from __future__ import annotations

import pickle

import pytest

from relayout.cli import COMMANDS, main, parser_of
from relayout.command import Command
from relayout.commands.count import Count
from relayout.commands.opt import Opt
from relayout.console import UsageError
from relayout.options import declared, excludes, given, needs, values_of


def unknown_names(kind: type[Command]) -> set[str]:
    """Returns the names in the rules of a command that none of its values has."""
    named = [name for rule in kind.rules for name in (*(rule.names or ()), *rule.others, *rule.kept)]
    return {*named} - {each.name for each in declared(kind)}


@pytest.mark.parametrize("name", COMMANDS)
def test_rules_name_options_of_the_command(name: str) -> None:
    assert unknown_names(parser_of(name).kind) == set()


def test_a_planted_rule_of_an_unknown_option_is_found() -> None:
    class Planted(Count):
        rules = (needs(("top",), "planted", reason="without --planted"),)

    assert unknown_names(Planted) == {"planted"}


@pytest.mark.parametrize(
    ("found", "is_wrong"), [({"a": "-a"}, True), ({"a": "-a", "b": "-b"}, False), ({"b": "-b"}, False), ({}, False)]
)
def test_an_option_that_needs_another_one_is_wrong_without_it(found: dict[str, str], is_wrong: bool) -> None:
    for rule, wrong in (
        (needs(("a",), "b", reason="without -b"), is_wrong),
        (excludes("b", ("a",), "with -b"), len(found) == 2),
    ):
        if wrong:
            with pytest.raises(UsageError, match="-a has no effect with"):
                rule.check({"b": True}, found)
        else:
            rule.check({"b": True}, found)


def test_a_rule_may_be_about_one_value() -> None:
    rule, found = excludes("b", ("a",), "with -b {b}", value=1), {"a": "-a", "b": "-b"}
    rule.check({"b": 2}, found)
    with pytest.raises(UsageError, match="-a has no effect with -b 1"):
        rule.check({"b": 1}, found)


def test_a_command_is_a_value_of_its_options() -> None:
    arguments = ["a.hlo", "-p", "strip-layouts", "--no-verify-each", "--print-after-all", "--jobs", "2", "-o", "x"]
    command = parser_of("opt").read(arguments)
    assert isinstance(command, Opt)
    assert (command.files, command.pipeline.passes, command.batch.jobs) == (("a.hlo",), ("strip-layouts",), 2)
    assert values_of(pickle.loads(pickle.dumps(command))) == values_of(command)
    assert given(command) == {
        **{"files": "FILE", "passes": "-p", "verify_each": "--no-verify-each"},
        **{"jobs": "--jobs", "output": "-o", "print_after": "--print-after-all"},
    }


def test_help_lists_every_command_below_its_question(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name, (question, summary) in COMMANDS.items():
        (block,) = [block for block in text.split("\n\n") if block.startswith(f"{question}\n")]
        assert f"  {name:9} {summary}" in block
