"""Mistakes in the command line."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "Rule.check",
        "is_set == self.needs",
        "is_set != self.needs",
        ("tests/relayout/test_options.py",),
    ),
    Mutant(
        "_left",
        "counts[key(row)] -= 1",
        "pass",
        ("tests/relayout/test_against.py",),
    ),
    Mutant(
        "compare_reports",
        "changes.sort(key=lambda each: -abs(each.new_bytes - each.old_bytes))",
        "changes = changes[:0]",
        ("tests/relayout/test_against.py",),
    ),
    Mutant(
        "Index._print_one",
        '"padding"',
        '"0"',
        ("tests/relayout/test_shapes.py",),
    ),
    Mutant(
        "bitcast:_as_json",
        '{"from": example.source_index, "to": example.destination_index, "expected": example.expected_index}',
        '{"from": example.destination_index, "to": example.source_index, "expected": example.expected_index}',
        ("tests/relayout/test_shapes.py",),
    ),
    Mutant(
        "Expectation.is_met_by",
        (
            "self.severity == diagnostic.severity and self.line == _line(diagnostic) and "
            "self.pattern.search(diagnostic.message) is not None"
        ),
        "self.severity == diagnostic.severity  and self.pattern.search(diagnostic.message) is not None",
        ("tests/relayout/test_expected.py",),
    ),
    Mutant(
        "unmet",
        "open_ones.remove(met)",
        "pass",
        ("tests/relayout/test_expected.py",),
    ),
    Mutant(
        "relocate_diagnostic",
        "location.span.shifted(start)",
        "location.span",
        ("tests/relayout/test_splitting.py",),
    ),
    Mutant(
        "count",
        "not text.isdecimal() or int(text) < 1",
        "not text.isdecimal()",
        ("tests/relayout/test_execution.py::test_a_wrong_check_is_a_wrong_command",),
    ),
    Mutant(
        "relayout:_join",
        "same and folder != own",
        "False",
        ("tests/relayout/test_shadowing.py::test_a_module_of_ours_that_is_hidden_is_said_in_one_line",),
    ),
    Mutant(
        "is_kept",
        "replace(wanted, output=0) if is_only else wanted",
        "wanted",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "Reduction._carries",
        "self.output is None",
        "True",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "remove_dead",
        "remove_uncalled(module)",
        "",
        ("tests/relayout/test_reduce.py",),
    ),
    Mutant(
        "is_kept",
        "found.is_like(replace(wanted, output=0) if is_only else wanted)",
        "True or found.is_like(replace(wanted, output=0) if is_only else wanted)",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "reduce_finding",
        "None if isinstance(found, Crash) else found.output",
        "None",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "Reduce._reduced",
        "shown is None or not is_kept(found, shown, written)",
        "shown is None",
        ("tests/relayout/test_cause_kept.py",),
    ),
    Mutant(
        "filled_page",
        're.sub(r"\\{\\{(\\w+)\\}\\}", lambda found: {**own, **parts}[found[1]], page)',
        (
            're.sub(r"\\{\\{(data)\\}\\}", lambda found: parts[found[1]], re.sub(r"\\{\\{(\\w+)\\}\\}", lambda '
            "found: {**own, **parts}[found[1]], page))"
        ),
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "Judge._judged",
        "has_constants and files[0] == files[1]",
        "texts[0] == texts[1]",
        ("tests/relayout/test_validate.py",),
    ),
    Mutant(
        "_are_exchanged",
        "len(known) > 1",
        "False",
        ("tests/relayout/test_validate.py",),
    ),
    Mutant(
        "_json_in_html",
        '"<>&"',
        '"&"',
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "reporting:html_page",
        "html_text(f\"memory of {report.module.name or 'module'}\")",
        "str(f\"memory of {report.module.name or 'module'}\")",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "reporting:html_page",
        "html_text(each)",
        "str(each)",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "DumpName.finality",
        "(self.is_out_of_memory, is_optimized, *self.order[2:4])",
        "(self.is_out_of_memory, False, *self.order[2:4])",
        ("tests/io/test_dump_names.py",),
    ),
    Mutant(
        "Gathered.order",
        "-self.rank, -self.peak",
        "-self.peak, -self.rank",
        ("tests/relayout/test_report_directory.py",),
    ),
    Mutant(
        "reporting:_quoted",
        "json.dumps(text, ensure_ascii=False)",
        "f'\"{text}\"'",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "reporting:_storable",
        'value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value',
        "value",
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "_svg_mark",
        'f\'<text x="{mark.x}" y="{y}"{centre}{bold}{faint}>{escape(mark.text, quote=False)}</text>\'',
        'f\'<text x="{mark.x}" y="{y}"{centre}{bold}{faint}>{mark.text}</text>\'',
        ("tests/relayout/test_hostile_names.py",),
    ),
    Mutant(
        "relayout:_PIECE",
        (
            'r\'(?P<kept>"(?:\\\\.|[^"\\\\\\n]++)*+"?|/\\*.*?(?:\\*/|\\Z))|^[ \\t]*+//[^\\n]*(?:\\n|\\Z)|(?<![ '
            "\\t])[ \\t]*+//[^\\n]*'"
        ),
        (
            'r\'(?P<kept>"(?:\\\\.|[^"\\\\\\n]++)*+"?|/\\*.*?(?:\\*/|\\Z))|^[ \\t]*+//[^\\n]*(?:\\n|\\Z)|[ '
            "\\t]*//[^\\n]*'"
        ),
        ("tests/fuzzing/test_corpus.py",),
    ),
    Mutant(
        "batch:_checked",
        "not isinstance(row, dict) or not all(isinstance(row.get(key), kind) for key, kind in _NEEDED.items())",
        "not all(isinstance(row.get(key), kind) for key, kind in _NEEDED.items())",
        ("tests/fuzzing/test_corpus.py",),
    ),
    Mutant(
        "parse_pairs",
        "shlex.split(line, comments=True)",
        "line.split()",
        ("tests/relayout/test_execution.py",),
    ),
    Mutant(
        "_Comparison._known_arrays",
        "first + max(count, 1)",
        "total",
        ("tests/relayout/test_first_difference.py",),
    ),
    Mutant(
        "_Comparison.wrong_outputs",
        "not is_close(output, wanted, self.share)",
        "True",
        ("tests/relayout/test_first_difference.py",),
    ),
    Mutant(
        "relayout:first_difference",
        "(is_exact, iterations) == _ATTEMPTS[-1]",
        "True",
        ("tests/relayout/test_first_difference.py",),
    ),
    Mutant(
        "_sufficient_verdict",
        "suffices(found.verdict, found.choices, require)",
        "True",
        ("tests/relayout/test_jax.py",),
    ),
    Mutant(
        "Finding.is_wrong",
        '"broken"',
        '"missing"',
        ("tests/relayout/test_doctor.py",),
    ),
    Mutant(
        "_import_errors",
        "modules[modules.index(last) + 1 :]",
        "()",
        ("tests/relayout/test_doctor.py",),
    ),
    Mutant(
        "smallest_set",
        "_minimized(found, is_right)",
        "found",
        ("tests/relayout/bisection/test_search.py",),
    ),
    Mutant(
        "Oracle._accepts",
        "any(self._run(module).code == 0 for _ in range(self.repeat))",
        "self._run(module).code == 0",
        ("tests/relayout/test_oracle.py::test_one_of_several_runs_suffices",),
    ),
    Mutant(
        "programs:_serve",
        "os.environ.clear()",
        "",
        ("tests/relayout/supervisor/test_forking.py",),
    ),
    Mutant(
        "leave_session",
        "os.closerange(before + 1, after)",
        "pass",
        ("tests/relayout/supervisor/test_forking.py",),
    ),
    Mutant(
        "may_copy_for_worker",
        "len(os.listdir(_THREADS)) == 1 and _XLA not in sys.modules",
        "len(os.listdir(_THREADS)) == 1",
        ("tests/relayout/supervisor/test_forking.py",),
    ),
    Mutant(
        "Programs.test",
        "self.oracle is None or name not in CANDIDATES.values()",
        "self.oracle is None",
        ("tests/relayout/test_oracle.py::test_a_child_chooses_neither_the_command_nor_the_name",),
    ),
    Mutant(
        "Search._try",
        "self.budget - len(self.trials)",
        "self.budget - len(self.trials) + 1",
        ("tests/relayout/tuning/test_search.py",),
    ),
    Mutant(
        "Search._is_better",
        "self._score(trial) < self._score(best) and self._proof(trial.change)[0]",
        "self._score(trial) < self._score(best)",
        ("tests/relayout/tuning/test_search.py",),
    ),
    Mutant(
        "figure",
        "figures.seconds if figures.seconds > 0 else inf",
        "figures.seconds",
        ("tests/relayout/tuning/test_search.py",),
    ),
    Mutant(
        "Measured._key",
        "(self.target, self.version, text)",
        "(self.target, text)",
        ("tests/relayout/tuning/test_search.py",),
    ),
    Mutant(
        "Model._add_link",
        "_COPY * target.sizes[number]",
        "target.sizes[number]",
        ("tests/relayout/tuning/test_model.py",),
    ),
    Mutant("Model.best", "cuts", "cuts[1:]", ("tests/relayout/tuning/test_model.py",), occurrence=3),
    Mutant(
        "Errors.learn",
        "[part for part in parts if part not in self._known] or parts",
        "parts",
        ("tests/relayout/tuning/test_learning.py",),
    ),
    Mutant(
        "Entry.open",
        "self.may_store and (found is None or self.selected.grows)",
        "found is None or self.selected.grows",
        ("tests/relayout/supervisor/test_cache.py",),
    ),
    Mutant("tuning:figure", "figures.seconds > 0", "True", ("tests/relayout/tuning/test_objective.py",)),
    Mutant("tuning:score", "(needed,)", "()", ("tests/relayout/tuning/test_objective.py",)),
    Mutant("tuning:orders", ">", ">=", ("tests/relayout/tuning/test_changes.py",)),
    Mutant("Change.with_mode", "entry.is_result", "False", ("tests/relayout/tuning/test_changes.py",), occurrence=1),
)
