"""One pattern and the scanner split attribute texts in the same way."""

import random

import pytest

from dialect_utils.hlo.text.grammar import attribute_pattern, scan_attributes, split_attributes
from dialect_utils.hlo.text.tokens import Scanner
from dialect_utils.text import DiagnosticError, Source

SEPARATORS = [*"{}[]()\",=%/-> \\aR1*<'\n", " ROOT ", ", a=", " x="]


def scanned(text: str) -> dict[str, str]:
    scanner = Scanner(Source("<attributes>", text))
    return {name: text[value.start : value.end] for name, _, value in scan_attributes(scanner)}


def mutated(text: str, choice: random.Random) -> str:
    parts = list(text)
    for _ in range(choice.randint(0, 3)):
        place = choice.randrange(len(parts))
        parts[place : place + choice.randint(0, 1)] = [choice.choice(SEPARATORS)]
    return "".join(parts)


TEXTS = [
    ', dimensions={1,0}, metadata={op_name="jit(f)/a[\\"x\\"=%b, {]" source_line=3}',
    ", dim_labels=b01f_01io->b01f, window={size=2x2 pad=0_1x0_0}, replica_groups=[2,4]<=[8], to_apply=%add.3",
    ', custom_call_target="a, b=%c", backend_config={"a":[{"b":["1","2"]}],"c":{}}, sharding={devices=[2,1]0,1}',
    ", window={size=1}, dim_labels=0bf_io0->0bf, limit=-2, operand_precision={highest,highest}",
    ", slice={[0:2], [0:4:2]}, is_stable=true, source_target_pairs={{0,1},{1,0}}, dimensions={}, index=-1",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_pattern_splits_what_the_scanner_splits(text: str) -> None:
    assert "".join(match[0] for match in attribute_pattern().finditer(text)) == text
    choice = random.Random(text)
    for _ in range(2000):
        changed = mutated(text, choice)
        try:
            expected = scanned(changed)
        except DiagnosticError:
            with pytest.raises(DiagnosticError):
                split_attributes(changed)
        else:
            assert split_attributes(changed) == expected
