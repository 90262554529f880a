"""Options as data: the rules of commands name options that exist, and a command is made of its options."""

from __future__ import annotations

import pickle
import re

import pytest

from relayout.cli import COMMANDS, FORMS, main, parser_of
from relayout.command import Command
from relayout.commands.count import Count
from relayout.commands.opt import Opt
from relayout.console import UsageError
from relayout.options import declared, excludes, given, needs, values_of


def unknown_names(kind: type[Command]) -> set[str]:
    """Returns the names in the rules of a command that none of its values has."""
    named = [name for rule in kind.rules for name in (*(rule.names or ()), *rule.others, *rule.kept)]
    return {*named} - {each.name for each in declared(kind)}


@pytest.mark.parametrize("name", [*COMMANDS, *FORMS])
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
        (block,) = [block for block in re.split(r"\n(?=\S)", text) if block.startswith(f"{question}\n")]
        assert f"  {name:11} {summary}" in block
        assert all(f"    --{form:7} {said}" in block for form, (owner, said) in FORMS.items() if owner == name)
    assert len(COMMANDS) <= 12
    assert text.count("\n") <= 40


@pytest.mark.parametrize("form", ["why", "replay", "bisect", "index", "bitcast", "count"])
def test_a_form_is_an_option_of_its_command_and_its_old_name_says_so(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    owner, summary = FORMS[form]
    assert main([owner, f"--{form}", "--help-all"]) == 0
    whole = capsys.readouterr().out
    assert whole.startswith(f"usage: relayout {owner} --{form} ")
    assert summary in " ".join(whole.split())
    assert (main([owner, f"--{form}", "--no-such"]), main([form, "--no-such"])) == (2, 2)
    new, old = re.split(f"(?=note: relayout {form} is relayout {owner} --{form}\n)", capsys.readouterr().err)
    assert old.endswith(new)
    assert f"--{form} " in (main([owner, "--help"]), capsys.readouterr().out)[1]


def test_a_form_with_a_value_takes_it_as_other_options_do(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--inside", "cpu"], ["--inside=cpu"]):
        assert main(["opt", "m.hlo", *words]) == 2
        assert "--inside has no effect without -p SPEC" in capsys.readouterr().err


@pytest.mark.parametrize("name", [*COMMANDS, *FORMS])
def test_a_help_is_one_screen_and_names_every_option(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.count("\n") <= 40
    words = set(re.findall(r"--[\w-]+", text))
    assert {each.option_strings[-1] for each in parser_of(name).added if each.option_strings} <= words
    assert main([name, "--help-all"]) == 0
    # Lines end at spaces and hyphens.
    whole = "".join(capsys.readouterr().out.split())
    assert all("".join((each.help or "").split()) in whole for each in parser_of(name).added)
