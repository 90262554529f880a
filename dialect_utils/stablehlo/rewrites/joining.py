"""One module that computes the results of many modules of the same parameters.

The faulty forms of a program have most operations in common, which XLA computes only once in one module: it compiles
and runs them in a fraction of the time of as many modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dialect_utils.stablehlo.bindings import context, ir
from dialect_utils.stablehlo.rewrites.editing import inline_calls, main_function, take_check_calls


@dataclass(frozen=True, slots=True)
class _Variant:
    """One program's main without calls: the text of a private function, and the types of arguments and results."""

    text: str
    inputs: tuple[str, ...]
    results: tuple[str, ...]

    @classmethod
    def of(cls, program: str | bytes, number: int) -> _Variant:
        """Returns the main of a program, with the number in its name; raises MLIR's errors, and ValueError."""
        module = ir.Module.parse(take_check_calls(program, as_results=True))
        inline_calls(module)
        if sum(each.operation.name == "func.func" for each in module.body.operations) > 1:
            raise ValueError("calls are left")
        main = main_function(module)
        main.attributes["sym_name"] = ir.StringAttr.get(f"variant{number}")
        main.attributes["sym_visibility"] = ir.StringAttr.get("private")
        for name in ("arg_attrs", "res_attrs"):
            if name in main.attributes:
                del main.attributes[name]
        module.operation.verify()
        # A function does not keep its module alive in these bindings.
        return cls(str(main), tuple(map(str, main.type.inputs)), tuple(map(str, main.type.results)))

    def has_type_of(self, other: _Variant) -> bool:
        """Is true where both have the same arguments and results."""
        return (self.inputs, self.results) == (other.inputs, other.results)


def join(programs: Iterable[str | bytes | None]) -> tuple[str, list[int]]:
    """Returns a StableHLO module whose main returns the results of each program's main in turn.

    Also returns the numbers of the programs that it contains: the first, and all others that verify and have its
    type. The operands of their `check.*` calls are results, too. None stands for a program without a StableHLO form.
    Raises ValueError where the first program is not valid.
    """
    with context(allow_unregistered=False), ir.Location.unknown():
        found = (None if program is None else _valid(program, number) for number, program in enumerate(programs))
        first, *others = found
        if first is None:
            raise ValueError("the first program is not valid")
        numbered = enumerate(others, start=1)
        variants = {0: first, **{n: each for n, each in numbered if each is not None and each.has_type_of(first)}}
        texts = [*(each.text for each in variants.values()), _main(first, list(variants))]
        module = ir.Module.parse("module {\n" + "\n".join(texts) + "\n}\n")
        inline_calls(module)
        module.operation.verify()
        return str(module), list(variants)


def _valid(program: str | bytes, number: int) -> _Variant | None:
    """Returns the main of a program, or None where the program is not valid."""
    try:
        return _Variant.of(program, number)
    except (ir.MLIRError, ValueError):
        return None


def _main(first: _Variant, kept: Sequence[int]) -> str:
    """Returns the text of a function that calls all variants."""
    parameters = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(first.inputs))
    passed = ", ".join(f"%a{i}" for i, _ in enumerate(first.inputs))
    results, count = ", ".join(first.results), len(first.results)
    kind = f"({', '.join(first.inputs)}) -> ({results})"
    calls = [f"%v{n}:{count} = func.call @variant{n}({passed}) : {kind}" for n in kept]
    values = ", ".join(f"%v{n}#{i}" for n in kept for i in range(count))
    types = ", ".join([results] * len(kept))
    head = f"func.func public @main({parameters}) -> ({types}) {{"
    return "\n".join([head, *calls, f"func.return {values} : {types}", "}"])
