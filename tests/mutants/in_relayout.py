"""Mistakes in the command line."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "relayout/report/against.py",
        "counts[key(row)] -= 1",
        "pass",
        ("tests/relayout/test_against.py",),
    ),
    Mutant(
        "relayout/report/against.py",
        "changes.sort(key=lambda each: -abs(each.new_bytes - each.old_bytes))",
        "changes = changes[:0]",
        ("tests/relayout/test_against.py",),
    ),
    Mutant(
        "relayout/commands/index.py",
        'print("padding" if logical is None else',
        'print("0" if logical is None else',
        ("tests/relayout/test_shapes.py",),
    ),
    Mutant(
        "relayout/commands/bitcast.py",
        'else {"from": example.source_index, "to": example.destination_index,',
        'else {"from": example.destination_index, "to": example.source_index,',
        ("tests/relayout/test_shapes.py",),
    ),
    Mutant(
        "relayout/comments.py",
        "and self.line == _line(diagnostic)",
        "",
        ("tests/relayout/test_expected.py",),
    ),
    Mutant(
        "relayout/comments.py",
        "open_ones.remove(met)",
        "pass",
        ("tests/relayout/test_expected.py",),
    ),
    Mutant(
        "relayout/comments.py",
        "location = Location(whole, location.span.shifted(start))",
        "location = Location(whole, location.span)",
        ("tests/relayout/test_splitting.py",),
    ),
    Mutant(
        "relayout/arguments.py",
        "if not text.isdecimal() or int(text) < 1:",
        "if not text.isdecimal():",
        ("tests/relayout/test_execution.py::test_a_wrong_check_is_a_wrong_command",),
    ),
    Mutant(
        "relayout/shadowing.py",
        "if same and folder != own:",
        "if False:",
        ("tests/relayout/test_shadowing.py::test_a_module_of_ours_that_is_hidden_is_said_in_one_line",),
    ),
    Mutant(
        "relayout/findings.py",
        "replace(wanted, output=0) if is_only else wanted",
        "wanted",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "relayout/reduction.py",
        "        if self.output is None:\n            return True\n",
        "        if True:\n            return True\n",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "relayout/reduction.py",
        "    remove_uncalled(module)\n",
        "",
        ("tests/relayout/test_reduce.py",),
    ),
    Mutant(
        "relayout/findings.py",
        "return found.is_like(",
        "return True or found.is_like(",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "relayout/findings.py",
        "None if isinstance(found, Crash) else found.output",
        "None",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "relayout/commands/reduce.py",
        "if shown is None or not is_kept(found, shown, written):",
        "if shown is None:",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "relayout/report/pages.py",
        'return re.sub(r"\\{\\{(\\w+)\\}\\}", lambda found: {**own, **parts}[found[1]], page)',
        'return re.sub(r"\\{\\{(data)\\}\\}", lambda found: parts[found[1]], '
        're.sub(r"\\{\\{(\\w+)\\}\\}", lambda found: {**own, **parts}[found[1]], page))',
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "relayout/validation/judging.py",
        "if is_whole_text and texts[0] == texts[1]:",
        "if texts[0] == texts[1]:",
        ("tests/relayout/test_validate.py",),
    ),
    Mutant(
        "relayout/reduction.py",
        "    return len(known) > 1\n",
        "    return False\n",
        ("tests/relayout/test_validate.py",),
    ),
    Mutant(
        "relayout/report/html.py",
        'for character in "<>&":',
        'for character in "&":',
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "relayout/report/html.py",
        '"title": escape(printable(',
        '"title": str(printable(',
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "relayout/report/export.py",
        "return json.dumps(text, ensure_ascii=False)",
        "return f'\"{text}\"'",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "relayout/report/export.py",
        'return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value',
        "return value",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "dialect_utils/layout/picture/svg.py",
        "{bold}{faint}>{escape(mark.text)}</text>",
        "{bold}{faint}>{mark.text}</text>",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "relayout/comments.py",
        r"(?<![ \t])[ \t]*+//",
        r"[ \t]*//",
        ("tests/fuzzing/test_corpus.py",),
    ),
    Mutant(
        "relayout/batch/results.py",
        "if not isinstance(row, dict) or not all(",
        "if not all(",
        ("tests/fuzzing/test_corpus.py",),
    ),
    Mutant(
        "relayout/commands/check.py",
        "words = shlex.split(line, comments=True)",
        "words = line.split()",
        ("tests/relayout/test_execution.py",),
    ),
    Mutant(
        "relayout/first_difference.py",
        "first, self.known = first + max(count, 1), total",
        "first, self.known = total, total",
        ("tests/relayout/test_first_difference.py",),
    ),
    Mutant(
        "relayout/first_difference.py",
        "if not is_close(output, wanted, self.share)",
        "if True",
        ("tests/relayout/test_first_difference.py",),
    ),
    Mutant(
        "relayout/first_difference.py",
        "if (is_exact, iterations) == _ATTEMPTS[-1]:",
        "if True:",
        ("tests/relayout/test_first_difference.py",),
    ),
    Mutant(
        "relayout/jax/transformation.py",
        "raise own from None",
        "raise",
        ("tests/relayout/test_jax.py",),
    ),
    Mutant(
        "relayout/commands/doctor.py",
        'return self.status == "broken"',
        'return self.status == "missing"',
        ("tests/relayout/test_doctor.py",),
    ),
    Mutant(
        "relayout/commands/doctor.py",
        "modules = modules[modules.index(last) + 1 :]",
        "modules = ()",
        ("tests/relayout/test_doctor.py",),
    ),
)
