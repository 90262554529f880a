"""Names of a package that other modules define, imported when they are first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path


def import_name(package: str, name: str) -> object:
    """Returns a name that a package imports under `if TYPE_CHECKING:`, which type checkers and editors read too.

    For `__getattr__` of the package. Raises AttributeError for any other name.
    """
    home = names_for_type_checkers(package).get(name)
    if home is None:
        raise AttributeError(f"module {package} has no attribute {name}", name=name, obj=sys.modules[package])
    value: object = import_module(f"{home}.{name}") if home == package else getattr(import_module(home), name)
    setattr(sys.modules[package], name, value)
    return value


@cache
def names_for_type_checkers(package: str) -> Mapping[str, str]:
    """Returns the names that a package imports under `if TYPE_CHECKING:`, with the module that defines each."""
    tree = ast.parse(Path(str(sys.modules[package].__file__)).read_text("utf-8"))
    return {
        alias.name: str(node.module)
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
