"""What a value is, in the words of messages about arguments of a wrong type."""

from __future__ import annotations


def kind_of(value: object) -> str:
    """Returns the kind of a value with its article: `an int`, `a numpy.ndarray`, `None`.

    >>> kind_of(3)
    'an int'
    """
    if value is None:
        return "None"
    kind = type(value)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
