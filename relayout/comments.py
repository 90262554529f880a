"""`//` comments of both text dialects: without meaning, `// -----` between modules, and expected diagnostics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from dialect_utils.io.files import TEXT_KINDS, decode, encode, find_kind
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at, nearest

# Strings and block comments, closed or not, match first: `//` inside them starts no comment.
_PIECE = re.compile(
    r'(?P<kept>"(?:\\.|[^"\\\n]++)*+"?|/\*.*?(?:\*/|\Z))|^[ \t]*+//[^\n]*(?:\n|\Z)|(?<![ \t])[ \t]*+//[^\n]*',
    re.DOTALL | re.MULTILINE,
)
# The RUN line that `opt --generate-checks` writes.
_OWN_RUN = re.compile(r"^[ \t]*// RUN: relayout opt %s [^\n]*\| FileCheck %s[ \t]*\n", re.MULTILINE)
_SEPARATOR = re.compile(r"^// -----[^\n]*\n?", re.MULTILINE)
_COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|note)(?P<regex>-re)?[ \t]*+(?:@(?P<place>[+-]?\d++|above|below|unknown))?"
    r"[ \t]*+(?P<count>\d++)?[ \t]*+\{\{(?P<text>.*)\}\}"
)
_DIRECTIVES = tuple(f"expected-{severity}{regex}" for severity in ("error", "warning", "note") for regex in ("", "-re"))
# A comment that may be meant as a directive: a word with a dash at its start, or one before braces.
_WORD = re.compile(r"(?<!/)//[/ \t]*+(?P<first>\w++(?:-\w++)++)|(?<![\w-])(?P<before>\w++(?:-\w++)++)[^\n{}]{0,40}\{\{")
# As many digits as the number of a line may have.
_LONGEST_NUMBER = 9
# The most times that a comment may expect a diagnostic.
_MOST_TIMES = 100


def strip_comments(text: str) -> str:
    """Returns the text without `//` comments, and without the lines that hold nothing else."""
    return _PIECE.sub(lambda match: match.group("kept") or "", text)


def lit_test(given: bytes, made: bytes, name: str, run: str) -> bytes:
    """Returns a module as a lit test: the command of its RUN line, CHECK lines for the module made of it, and itself.

    Directives of an earlier run are replaced; other RUN lines stay. An empty command adds no RUN line. Raises
    DiagnosticError for a module that is not a text.
    """
    from dialect_utils.tools.checks import check_lines, without_directives

    kind = find_kind(given, name)
    if kind not in TEXT_KINDS:
        raise DiagnosticError(f"{name}: a test is a text, and this is {kind}", hint="relayout convert writes text")
    text = _OWN_RUN.sub("", without_directives(decode(given)))
    lines = check_lines(strip_comments(decode(made)), "hlo" if kind == "hlo text" else "stablehlo")
    head = f"// RUN: {run}\n" if run else ""
    return encode(f"{head}{lines}\n{text.lstrip()}")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One module of a file that `// -----` lines separate: its bytes, its offset, and the separator line after it."""

    data: bytes
    start: int
    separator: bytes


def split_input(data: bytes) -> list[Chunk]:
    """Splits a text at its separator lines; the chunks and separators joined are the text."""
    text = decode(data)
    chunks, start = [], 0
    for match in _SEPARATOR.finditer(text):
        chunks.append(Chunk(encode(text[start : match.start()]), start, encode(match[0])))
        start = match.end()
    return [*chunks, Chunk(encode(text[start:]), start, b"")]


def relocate(error: DiagnosticError, whole: Source, chunk: Chunk) -> DiagnosticError:
    """Returns the error with the locations in a chunk replaced by locations in the file."""
    text = decode(chunk.data)
    return DiagnosticError(relocate_diagnostic(each, whole, text, chunk.start) for each in error.diagnostics)


def relocate_diagnostic(diagnostic: Diagnostic, whole: Source, text: str, start: int) -> Diagnostic:
    """Returns a diagnostic about a part of `whole`, the text at offset `start`, with locations in `whole`."""
    location = diagnostic.location
    if location is not None and location.source.text == text:
        location = Location(whole, location.span.shifted(start))
    notes = tuple(relocate_diagnostic(note, whole, text, start) for note in diagnostic.notes)
    return replace(diagnostic, location=location, notes=notes)


@dataclass(frozen=True, slots=True)
class Expectation:
    """One diagnostic that a comment expects, in the syntax of MLIR.

    // expected-error {{...}}          on this line
    // expected-error@+2 {{...}}       two lines further on; @-1 the line before, @above and @below the next ones
    // expected-error@5 {{...}}        on line 5
    // expected-error @below {{...}}   the same, with a space
    // expected-error@unknown {{...}}  without a location
    // expected-error-re {{a {{.*}} c}}  text with regular expressions between inner braces
    // expected-error 2 {{...}}        twice

    `expected-warning` and `expected-note` have the same forms. A message must contain the text. `line` counts from 1;
    None stands for no location.
    """

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    comment: Location

    def is_met_by(self, diagnostic: Diagnostic) -> bool:
        """Is true for a diagnostic of the severity, on the line, with a message that contains the text."""
        return (
            self.severity == diagnostic.severity
            and self.line == _line(diagnostic)
            and self.pattern.search(diagnostic.message) is not None
        )


def expectations(source: Source) -> Iterator[Expectation]:
    """Yields the expectations in the comments of a file; one with a count N is yielded N times.

    Raises DiagnosticError for a number without meaning, for a regular expression that Python cannot compile, and for a
    comment that seems to be an expectation and is none: one without braces, or with a misspelt name.
    """
    lines = source.text.split("\n")
    neighbours = _neighbours(lines) if "expected-" in source.text else {}
    start = 0
    for number, line in enumerate(lines, start=1):
        # The text of an expectation extends to the last `}}` of the line.
        match = _COMMENT.search(line, line.find("//"), line.rfind("}}") + 2) if "//" in line else None
        if match is not None:
            location = Location(source, Span(start + match.start(), start + match.end()))
            _check_numbers(match, location)
            at = _line_of(number, match["place"], neighbours)
            expected = Expectation(match["severity"], at, match["text"], _compiled(match, location), location)
            yield from [expected] * int(match["count"] or 1)
        elif "//" in line:
            _check_no_directive(source, start + line.find("//"), start + len(line))
        start += len(line) + 1


def _check_no_directive(source: Source, start: int, end: int) -> None:
    """Raises DiagnosticError for a comment that seems to be a directive, and that `_COMMENT` does not match."""
    for word in _WORD.finditer(source.text, start, end):
        name = word.lastgroup or "first"
        written, span = word[name], Span(*word.span(name))
        begin = written.partition("-")[0]
        if nearest(begin, ["expected"]) is not None:
            meant = written if written in _DIRECTIVES else nearest(written, _DIRECTIVES)
            hint = "// expected-error@below {{part of the message}} is one"
            close = "" if meant in (None, written) else f"; did you mean {meant}?"
            raise error_at(source, span, f"this comment is no directive that can be read{close}", hint)


def _check_numbers(comment: re.Match[str], location: Location) -> None:
    for name, most in (("place", 10**_LONGEST_NUMBER), ("count", _MOST_TIMES)):
        digits = (comment[name] or "").lstrip("+-")
        if digits.isdecimal() and (len(digits) > _LONGEST_NUMBER or int(digits) > most):
            raise DiagnosticError(f"the number {digits[: _LONGEST_NUMBER + 1]} is above {most}", location)


def _compiled(comment: re.Match[str], location: Location) -> re.Pattern[str]:
    try:
        return re.compile(_regular(comment["text"]) if comment["regex"] else re.escape(comment["text"]))
    except (re.error, OverflowError, RecursionError) as error:
        raise DiagnosticError(f"{comment['text']} is no regular expression: {error}", location) from None


def _neighbours(lines: list[str]) -> dict[str, list[int]]:
    """Returns the number of the closest line above and below each line that holds no expectation.

    Several expectations may precede one operation.
    """
    numbers = range(1, len(lines) + 1)
    return {"above": _closest(lines, numbers, 0), "below": _closest(lines[::-1], numbers[::-1], len(lines) + 1)[::-1]}


def _closest(lines: Iterable[str], numbers: Iterable[int], outside: int) -> list[int]:
    found, last = [], outside
    for number, line in zip(numbers, lines, strict=True):
        found.append(last)
        if not (line.lstrip().startswith("//") and "expected-" in line):
            last = number
    return found


def _line_of(number: int, written: str | None, neighbours: Mapping[str, list[int]]) -> int | None:
    """Returns the line that `@+1`, `@5`, `@above` or `@unknown` in line `number` means."""
    if written is None or written == "unknown":
        return number if written is None else None
    if written in neighbours:
        return neighbours[written][number - 1]
    return number + int(written) if written[0] in "+-" else int(written)


def _regular(text: str) -> str:
    """Returns the pattern of a text with regular expressions between braces."""
    pieces, position = [], 0
    while (start := text.find("{{", position)) >= 0 and (end := text.find("}}", start)) >= 0:
        pieces += [re.escape(text[position:start]), f"(?:{text[start + 2 : end]})"]
        position = end + 2
    return "".join([*pieces, re.escape(text[position:])])


def _line(diagnostic: Diagnostic) -> int | None:
    location = diagnostic.location
    return None if location is None else location.source.line_and_column(location.span.start)[0]


def unmet(expected: Iterable[Expectation], diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Returns errors for expectations that no diagnostic meets, and for unexpected errors and warnings."""
    open_ones = list(expected)
    wrong: list[Diagnostic] = []
    for diagnostic in _with_notes(diagnostics):
        met = next((each for each in open_ones if each.is_met_by(diagnostic)), None)
        if met is not None:
            open_ones.remove(met)
        elif diagnostic.severity != "note":
            wrong.append(Diagnostic(f"unexpected {diagnostic.severity}: {diagnostic.message}", diagnostic.location))
    missing = [f"the expected {each.severity} {each.text} was not produced" for each in open_ones]
    places = [each.comment for each in open_ones]
    return [*wrong, *map(Diagnostic, missing, places)]


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from _with_notes(diagnostic.notes)
