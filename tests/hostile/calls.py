# ruff: noqa: E501
"""Custom calls with malformed operands, in every wrapper and dialect, with every version of the interface."""

from __future__ import annotations

import random
from collections.abc import Iterator

_ROUTINES = (
    *("potrf", "getrf", "geqrf", "geqp3", "orgqr", "ungqr", "ormqr", "unmqr", "gesdd", "gesvd", "syevd", "heevd"),
    *("geev", "gees", "gehrd", "sytrd", "hetrd", "gtsv", "trsm"),
)
_OTHERS = (
    *("Qr", "ProductOfElementaryHouseholderReflectors", "Eigh", "TopK", "mhlo.topk", "ApproxTopK", "Sharding"),
    *("xla_ffi_python_cpu_callback", "xla_python_cpu_callback", "blas_strsm", "lapack_spotrf", "tridiagonal_solve_f32"),
    *("LayoutConstraint", "check.expect_eq", "check.expect_close", "__onednn$matmul", "dce_sink", "lapack_xpotrf_ffi"),
)
_TYPES = ("f32", "f64", "c64", "c128", "s32", "u8", "pred", "bf16", "s4", "token")
_SHAPES = (
    "[]",
    "[0]",
    "[4]",
    "[4,4]",
    "[4,3]",
    "[2,4,4]",
    "[0,4,4]",
    "[1,1,1,1,1,1]",
    "[4,-1]",
    "[3037000500,3037000500]",
)
_ATTRIBUTES = (
    "",
    "uplo = 76 : ui8",
    "uplo = 300 : i64",
    'uplo = "L"',
    "mode = 65 : ui8",
    "mode = 65 : ui8, mode = 66 : ui8",
    "compute_vectors = 1 : i32",
    "side = 76 : ui8, uplo = 76 : ui8, trans_x = 78 : ui8, diag = 78 : ui8",
    "x = dense<1.0> : tensor<1000000x1000000xf32>",
    "x = " + "[" * 3000,
    "ipiv = -1 : i64, n = 9223372036854775807 : i64",
)
_VERSIONS = ("UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED", "TYPED_FFI", "NONE")
WRAPPERS = ("plain", "async", "call", "while", "conditional", "fusion", "map", "start", "nested async")
_MLIR_TYPES = {"s32": "i32", "u8": "ui8", "pred": "i1", "s4": "i4", "c64": "complex<f32>", "c128": "complex<f64>"}


def _target(chance: random.Random) -> str:
    if chance.random() < 0.3:
        return chance.choice(_OTHERS)
    return f"lapack_{chance.choice('sdczx')}{chance.choice(_ROUTINES)}_ffi"


def hlo(chance: random.Random, wrapper: str, version: int) -> str:
    """Returns a module with one custom call inside a wrapper."""
    kinds = [chance.choice(_TYPES[:8]) + chance.choice(_SHAPES) for _ in range(chance.choice((0, 1, 1, 2, 3, 5)))]
    results = [chance.choice(_TYPES) + chance.choice(_SHAPES) for _ in range(chance.choice((0, 1, 1, 2, 4)))]
    results = [each if not each.startswith("token") else "token[]" for each in results]
    shape = results[0] if len(results) == 1 else f"({', '.join(results)})"
    options = f'custom_call_target="{_target(chance)}", api_version=API_VERSION_{_VERSIONS[version]}'
    attributes = chance.choice(_ATTRIBUTES)
    if attributes:
        options += f", backend_config={{{attributes}}}" if chance.random() < 0.8 else f', backend_config="{attributes}"'
    if chance.random() < 0.3:
        options += chance.choice(
            (
                ", custom_call_has_side_effect=true",
                ", schedule=SCHEDULE_LATEST",
                ", output_to_operand_aliasing={{}: (9, {})}",
            )
        )
    parameters = "".join(f"  p{i} = {kind} parameter({i})\n" for i, kind in enumerate(kinds))
    operands = ", ".join(f"p{i}" for i in range(len(kinds)))
    call = f"{shape} custom-call({operands}), {options}"
    inner = f"inner {{\n{parameters}  ROOT r = {call}\n}}\n"
    given = f"({', '.join(kinds)})"
    entry = f"ENTRY e {{\n{parameters}"
    match wrapper:
        case "plain":
            return f"HloModule m\n{entry}  ROOT r = {call}\n}}\n"
        case "async" | "nested async":
            started = f"({given}, {shape}, u32[])"
            body = f"  s = {started} async-start({operands}), calls=inner\n  ROOT d = {shape} async-done(s), calls=inner\n}}\n"
            if wrapper == "async":
                return f"HloModule m\n{inner}{entry}{body}"
            outer = f"outer {{\n{parameters}{body}".replace("async-done(s), calls=inner", "async-done(s)")
            again = body.replace("calls=inner", "calls=outer")
            return f"HloModule m\n{inner}{outer}{entry}{again}"
        case "start":
            started = f"({given}, {shape}, u32[])"
            body = f"  s = {started} custom-call-start({operands}), {options}\n  ROOT d = {shape} custom-call-done(s)\n}}\n"
            return f"HloModule m\n{entry}{body}"
        case "while":
            loop = f"c {{\n  s = {shape} parameter(0)\n  ROOT t = pred[] constant(true)\n}}\n"
            loop += f"b {{\n  s = {shape} parameter(0)\n{parameters.replace('parameter', 'constant')}  ROOT r = {call}\n}}\n"
            return f"HloModule m\n{loop}ENTRY e {{\n  s = {shape} parameter(0)\n  ROOT w = {shape} while(s), condition=c, body=b\n}}\n"
        case "conditional":
            one = f"one {{\n  t = {given} parameter(0)\n"
            one += "".join(f"  p{i} = {kind} get-tuple-element(t), index={i}\n" for i, kind in enumerate(kinds))
            one += f"  ROOT r = {call}\n}}\n"
            body = f"  q = pred[] constant(true)\n  t = {given} tuple({operands})\n"
            body += f"  ROOT c = {shape} conditional(q, t, t), true_computation=one, false_computation=one\n}}\n"
            return f"HloModule m\n{one}{entry}{body}"
    opcode = {"call": "call", "fusion": "fusion", "map": "map"}[wrapper]
    naming = {"call": "to_apply=inner", "fusion": "kind=kCustom, calls=inner", "map": "dimensions={0}, to_apply=inner"}[
        wrapper
    ]
    return f"HloModule m\n{inner}{entry}  ROOT r = {shape} {opcode}({operands}), {naming}\n}}\n"


def stablehlo(chance: random.Random, wrapper: str, version: int) -> str:
    """Returns a StableHLO module with one custom call, in the region of a loop or branch, or called."""
    shapes = ("", "4x", "4x4x", "2x4x4x", "0x4x", "?x4x", "3037000500x3037000500x")

    def tensor() -> str:
        kind = chance.choice(_TYPES[:9])
        return f"tensor<{chance.choice(shapes)}{_MLIR_TYPES.get(kind, kind)}>"

    kinds = [tensor() for _ in range(chance.choice((0, 1, 1, 2, 3)))]
    results = [tensor() for _ in range(chance.choice((1, 1, 2, 4)))]
    operands = ", ".join(f"%a{i}" for i in range(len(kinds)))
    attributes = chance.choice(_ATTRIBUTES)
    config = f"{{{attributes}}}" if chance.random() < 0.8 else '"{}"'
    layouts = ""
    if chance.random() < 0.4:
        layouts = (
            ", operand_layouts = ["
            + ", ".join(
                chance.choice(
                    (
                        "dense<0> : tensor<1xindex>",
                        "dense<[0, 1]> : tensor<2xindex>",
                        "dense<> : tensor<0xindex>",
                        "dense<-1> : tensor<1000000000xindex>",
                    )
                )
                for _ in kinds
            )
            + "]"
        )
    call = f'stablehlo.custom_call @"{_target(chance)}"({operands}) {{api_version = {version} : i32, backend_config = {config}{layouts}}}'
    call += f" : ({', '.join(kinds)}) -> ({', '.join(results)})"
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds))
    given, number = ", ".join(results), len(results)
    ends = ", ".join(f"%r#{i}" for i in range(number)) if number > 1 else "%r"
    body = f"    %r{f':{number}' if number > 1 else ''} = {call}\n"
    if wrapper in ("call", "async", "fusion", "map"):
        functions = (
            f"  func.func private @inner({arguments}) -> ({given}) {{\n{body}    return {ends} : {given}\n  }}\n"
        )
        called = f"    %r{f':{number}' if number > 1 else ''} = call @inner({operands}) : ({', '.join(kinds)}) -> ({given})\n"
        return f"module {{\n{functions}  func.func public @main({arguments}) -> ({given}) {{\n{called}    return {ends} : {given}\n  }}\n}}\n"
    if wrapper in ("conditional", "while"):
        region = f"{{\n{body}      stablehlo.return {ends} : {given}\n    }}"
        chosen = f'    %q = stablehlo.constant dense<true> : tensor<i1>\n    %z{f":{number}" if number > 1 else ""} = "stablehlo.if"(%q) ({region}, {region}) : (tensor<i1>) -> ({given})\n'
        ends = ends.replace("%r", "%z")
        return f"func.func public @main({arguments}) -> ({given}) {{\n{chosen}    return {ends} : {given}\n}}\n"
    return f"func.func public @main({arguments}) -> ({given}) {{\n{body}    return {ends} : {given}\n}}\n"


def modules(count: int, seed: int = 5) -> Iterator[tuple[str, bytes]]:
    """Yields names and texts of modules, each wrapper and version in turn."""
    chance = random.Random(seed)
    for number in range(count):
        wrapper, version = WRAPPERS[number % len(WRAPPERS)], number // len(WRAPPERS) % 6
        make = hlo if number % 3 else stablehlo
        yield f"{make.__name__} {wrapper} version {version} number {number}", make(chance, wrapper, version).encode()
