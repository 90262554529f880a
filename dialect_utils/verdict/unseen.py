"""What no engine here can see: attributes that ask for a precision, which CPUs do not heed."""

from __future__ import annotations

from collections import Counter

from dialect_utils.ir import Module

_PRECISION = ("operand_precision", "precision_config", "algorithm", "result_accuracy")


def unseen_differences(first: Module, last: Module) -> str:
    """Names the attributes about precision in which two modules of one dialect differ; empty for none."""
    if first.dialect != last.dialect:
        return ""
    differing = [name for name in _PRECISION if _values(first, name) != _values(last, name)]
    return f"the modules differ in {', '.join(differing)}, which no engine here heeds" if differing else ""


def _values(module: Module, name: str) -> Counter[str]:
    """Returns the values of an attribute, but for those that say no more than its absence."""
    texts = (operation.attribute(name) for operation in module.operations())
    return Counter(text for text in texts if text is not None and not _is_default(text))


def _is_default(text: str) -> bool:
    words = text.replace("#stablehlo<precision", " ").replace("<", " ").replace(">", " ")
    names = {word.strip("{}[],").lower() for word in words.replace(",", " ").split()} - {""}
    return names <= {"default"}
