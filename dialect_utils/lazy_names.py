"""Names of a package that other modules define, imported when they are first used."""

from __future__ import annotations

from collections.abc import Mapping


def import_name(name: str, home: Mapping[str, str], package: dict[str, object]) -> object:
    """Returns a name of a package; `home` has the module that defines each, and `package` is the package's globals.

    For `__getattr__` of the package. Raises AttributeError for a name that is not in `home`.
    """
    # Imported here: the package of a command that uses no such name.
    from importlib import import_module

    if name not in home:
        raise AttributeError(f"module {package['__name__']} has no attribute {name}")
    value: object = getattr(import_module(home[name]), name)
    package[name] = value
    return value
