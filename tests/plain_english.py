"""Comments, docstrings and pages: how their sentences must not begin, and words that the field calls otherwise."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from tests.syntax import statements

# The first words of a relative clause in place of a subject.
_RELATIVE = re.compile(r"[\"'`(]*(?:what|who|whoever|whose|where|that which|which)\b", re.IGNORECASE)
# A verb in the third person, not a plural noun (`Names of ...`).
_VERB = re.compile(r"(?!(?:This|Its|Bits|Plus|Always|Perhaps)\b)[A-Z][a-z-]*s\b(?! of\b)")
_TRUTH = re.compile(r"(?:Is|Are) (?!true\b|false\b)")
# Each word that is not used, and what to write.
WORDS = {
    r"alike": "identical, equal",
    r"hand(?:s|ed|ing)? (?:\w+ )?on(?!ly|e|ce)": "forward",
    r"(?:tell(?:s|ing)?|told) (?:\w+ ){0,3}apart": "distinguish",
    r"anew": "again",
    r"of old": "legacy",
    r"nobody promises": "undefined",
    r"(?:dies?|died|dying) of": "crash",
    r"the like": "name the things",
    r"twins?": "higher-precision run, negative example",
    r"meant bytes|bytes meant": "payload bytes",
    r"gravest": "most severe",
    r"put(?:s|ting)?": "write, pack, insert",
    r"whoever": "name the caller or the user",
    r"carriers?": "tagged inputs",
}
_WORDS = re.compile(rf"(?<![\w`-])(?:{'|'.join(WORDS)})(?![\w`-])", re.IGNORECASE)
_DIRECTIVE = re.compile(r"(?:noqa|type: ignore|ruff:|mypy:|pragma|!)")
_CODE = re.compile(r"^```.*?^```|^~~~.*?^~~~|^    .*$|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
_PARAGRAPH = re.compile(r"(?:^|\n\n)(?:[-*] |\d+\. )?([^#|\n][^\n]*)|\n(?:[-*] |\d+\. )([^\n]*)")

Functions = ast.FunctionDef | ast.AsyncFunctionDef


def comments(code: str) -> Iterator[tuple[int, str]]:
    """Yields each block of comment lines as one text, with the number of the first line."""
    first, last, lines = 0, 0, list[str]()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        if token.type != tokenize.COMMENT:
            continue
        line, text = token.start[0], token.string.lstrip("#").strip()
        is_own_line = token.line.lstrip().startswith("#")
        if lines and line == last + 1 and is_own_line:
            lines.append(text)
        else:
            if lines:
                yield first, " ".join(lines)
            first, lines = line, [text]
        last = line if is_own_line else 0
    if lines:
        yield first, " ".join(lines)


def docstrings(code: str) -> Iterator[tuple[ast.Module | ast.ClassDef | Functions, int, str]]:
    """Yields each docstring with its module, class or function, and the line of the definition."""
    for node in statements(code):
        if isinstance(node, ast.Module | ast.ClassDef | Functions):
            text = ast.get_docstring(node)
            if text:
                yield node, getattr(node, "lineno", 1), text


def habits_in_code(code: str) -> list[str]:
    """Returns `line: text` for every comment and docstring of a module with one of the habits."""
    found = []
    for line, text in comments(code):
        if not _DIRECTIVE.match(text):
            found += [f"{line}: {each}" for each in _habits(text)]
    for node, line, text in docstrings(code):
        found += [f"{line}: {each}" for each in _habits(text)]
        # The docstring of a test says a fact, not an action.
        if isinstance(node, Functions) and not node.name.startswith("test_") and not _is_action(text):
            found.append(f"{line}: {_begin(text)}")
    return sorted(found, key=lambda each: int(each.partition(":")[0]))


def habits_in_page(text: str) -> list[str]:
    """Returns the words and the beginnings of a page's paragraphs that are habits; code is not read."""
    prose = _CODE.sub(" ", text)
    begins = (found[1] or found[2] or "" for found in _PARAGRAPH.finditer(prose))
    return [found[0] for found in _WORDS.finditer(prose)] + [_begin(each) for each in begins if _RELATIVE.match(each)]


def _habits(text: str) -> Iterator[str]:
    if _RELATIVE.match(text):
        yield _begin(text)
    yield from (found[0] for found in _WORDS.finditer(_CODE.sub(" ", text)))


def _is_action(text: str) -> bool:
    return _VERB.match(text) is not None and _TRUTH.match(text) is None


def _begin(text: str) -> str:
    return " ".join(text.split()[:6])
