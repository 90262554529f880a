"""The tables of docs/proofs.md: which equation holds for which formats, and how that is verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.rules import Equation, Level, Rule, all_definitions, all_rules
from dialect_utils.verdict.rules.conditions import Never
from tests.rules.cases import Case, cases
from tests.rules.plan import ARGUMENTS, METHODS, Method, method_of

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


@cache
def planned(rule: Rule) -> tuple[tuple[Equation, Case, Method | None], ...]:
    """Returns every case of a rule and its method."""
    return tuple((equation, case, method_of(rule, case)) for equation in rule.equations for case in cases(equation))


def table() -> str:
    """Returns the table of equations, and the arguments below it."""
    head = f"| rule | equation | level | {' | '.join(METHODS)} |"
    lines = [head, "|---" * (3 + len(METHODS)) + "|"]
    for rule in filter(lambda rule: rule.is_elementwise, all_rules()):
        lines += [
            row(rule, *key) for key in dict.fromkeys((each.text, each.level, each.given) for each in rule.equations)
        ]
    lines += ["", *(f"- Argument for {each.rule}: {each.text}" for each in ARGUMENTS)]
    return "\n".join(lines)


def whole() -> str:
    """Returns the table of equations about whole arrays."""
    rules = [rule for rule in all_rules() if not rule.is_elementwise]
    rows = [f"| {rule.name} | `{each.text}` | {each.level} |" for rule in rules for each in rule.equations]
    return "\n".join(("| rule | equation | level |", "|---|---|---|", *dict.fromkeys(rows)))


def row(rule: Rule, text: str, level: Level, given: tuple[Never, ...]) -> str:
    """Returns the line of the equations of one text and conditions on data, which differ in their guards."""
    key = text, level, given
    found = [(case, method) for own, case, method in planned(rule) if (own.text, own.level, own.given) == key]
    cells = [formats([case for case, method in found if method == each]) for each in METHODS]
    conditions = f" if {', '.join(map(str, given))}" if given else ""
    return f"| {rule.name} | `{text}`{conditions} | {level} | {' | '.join(cells)} |"


def formats(found: Sequence[Case]) -> str:
    """Returns the formats T of cases, and the number of cases where an equation has other formats, too."""
    if not found:
        return "-"
    if not found[0].types:
        return "pred"
    first = [case.formats[0][1].name for case in found]
    text = compressed([name for name in ELEMENT_TYPES if name in first])
    others = " and ".join([*found[0].types][1:])
    return f"{text}; {len({case.formats for case in found})} cases with {others}" if others else text


_INTEGERS = [[name for name, kind in ELEMENT_TYPES.items() if kind.is_integral and name[0] == sign] for sign in "su"]
_KINDS = {width: [name for name in ELEMENT_TYPES if name.startswith(f"{width}e")] for width in ("f6", "f8")}


def compressed(names: Sequence[str]) -> str:
    """Returns formats as text: s2-s8 for s2, s4 and s8; f8 for all of its kinds."""
    floats = [name for name in names if name[0] in "fbc"]
    for width, kinds in _KINDS.items():
        missing = [name for name in kinds if name not in names]
        if len(missing) < 2:
            at = next(i for i, name in enumerate(floats) if name in kinds)
            floats = [name for name in floats if name not in kinds]
            floats.insert(at, " but ".join((width, *missing)))
    runs = [run for family in _INTEGERS for run in _ranges([name for name in names if name in family], family)]
    return " ".join((*(name for name in names if name == "pred"), *runs, *floats))


def _ranges(names: Sequence[str], family: Sequence[str]) -> list[str]:
    """Returns the first and the last name of each run of neighbours in a family."""
    runs: list[list[str]] = []
    for name in names:
        if runs and family.index(name) == family.index(runs[-1][-1]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]


def names() -> str:
    """Returns the list of all rules by name, each with its sentence, those with equations first."""
    rules = sorted(all_rules(), key=lambda rule: (not rule.equations, rule.name))
    return _listed(rules)


def definitions() -> str:
    """Returns the list of all definitions by name, each with its sentence."""
    return _listed(sorted(all_definitions(), key=lambda rule: rule.name))


def _listed(rules: Sequence[Rule]) -> str:
    return "\n".join(f"- `{rule.name}`: {rule.why}" for rule in rules)


# The parts of the page that are written, by the word of their marks.
PARTS: Mapping[str, Callable[[], str]] = {"definitions": definitions, "names": names, "rules": table, "whole": whole}


def written(part: str) -> str:
    """Returns a part that the page holds."""
    return PAGE.read_text("utf-8").split(_begin(part))[1].split(_end(part))[0].strip()


def write_page() -> None:
    """Writes all parts into the page."""
    for part, made in PARTS.items():
        head, rest = PAGE.read_text("utf-8").split(_begin(part))
        PAGE.write_text(f"{head}{_begin(part)}\n{made()}\n{_end(part)}{rest.split(_end(part))[1]}", "utf-8")


def _begin(part: str) -> str:
    return f"<!-- {part}: begin -->"


def _end(part: str) -> str:
    return f"<!-- {part}: end -->"
