"""Finds this project's packages `dialect_utils` and `passes` where a user has packages of these names.

A user's package comes first on Python's path where it is in the working directory or on PYTHONPATH. Both then become
one package with two folders: ours is loaded, and submodules are found in either folder.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

OWN_PACKAGES = ("dialect_utils", "passes")

ROOT = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def hidden_by_own(name: str) -> dict[str, list[str]]:
    """Returns the other packages and modules on Python's path that have the name of one of ours, by their files.

    Each has the names of its modules that ours hide, too.
    """
    own = os.path.join(ROOT, name)
    hidden: dict[str, list[str]] = {}
    for entry in sys.path:
        spec = PathFinder.find_spec(name, [entry or os.getcwd()])
        folders = [] if spec is None else list(spec.submodule_search_locations or ())
        if spec is None or _is_own(spec.origin, name) or own in map(os.path.realpath, folders):
            continue
        same = set().union(*(_modules_in(own) & _modules_in(folder) for folder in folders))
        hidden[spec.origin or folders[0]] = sorted(same)
    return hidden


def find_own_packages() -> None:
    """Makes imports find this project's own packages.

    Raises ImportError where a user's package is imported already and hides a submodule of ours.
    """
    for name in OWN_PACKAGES:
        loaded = sys.modules.get(name)
        if loaded is not None:
            _join(loaded, os.path.join(ROOT, name))
            continue
        found = PathFinder.find_spec(name)
        if found is not None and not _is_own(found.origin, name):
            _load_before(found, name)


def _is_own(origin: str | None, name: str) -> bool:
    return origin is not None and os.path.dirname(os.path.realpath(origin)) == os.path.join(ROOT, name)


def _join(loaded: ModuleType, own: str) -> None:
    """Adds our folder to a user's package that is imported already."""
    if _is_own(loaded.__file__, loaded.__name__):
        return
    where = loaded.__file__ or "of no file"
    folders: list[str] | None = getattr(loaded, "__path__", None)
    if folders is None:
        raise ImportError(f"the module {loaded.__name__} ({where}) hides relayout's package {own}")
    ours = _modules_in(own)
    for folder in folders:
        same = sorted(ours & _modules_in(folder))
        if same and folder != own:
            hidden = os.path.join(own, same[0])
            raise ImportError(f"{loaded.__name__}.{same[0]} in {folder} hides relayout's module {hidden}")
    folders.append(own)


def _modules_in(folder: str) -> set[str]:
    names = (os.path.splitext(name) for name in os.listdir(folder))
    return {stem for stem, suffix in names if suffix in ("", ".py") and stem[0] not in "_."}


def _load_before(found: ModuleSpec, name: str) -> None:
    """Loads our package; submodules of the package that it hides are found, too, but not its own names."""
    from importlib.util import module_from_spec, spec_from_file_location

    folders = list(found.submodule_search_locations or ())
    own = os.path.join(ROOT, name)
    file = os.path.join(own, "__init__.py")
    spec = spec_from_file_location(name, file, submodule_search_locations=[own, *folders])
    assert spec is not None  # it is a file of Python's
    assert spec.loader is not None
    module = module_from_spec(spec)

    def missing(attribute: str) -> object:
        message = f"{name} is relayout's package here, which hides {found.origin}; import that before relayout"
        raise AttributeError(f"module {name} has no attribute {attribute}: {message}")

    module.__dict__["__getattr__"] = missing
    sys.modules[name] = module
    spec.loader.exec_module(module)
