# ruff: noqa: E501
"""Texts of HLO and StableHLO that make a parser, a verifier or a printer loop, recurse, or allocate."""

from __future__ import annotations

from collections.abc import Iterator

_SIZES = ("1000000000x1000000000", "4611686018427387904", "9223372036854775807", "0x9223372036854775807", "-1", "?x?")


def _main(body: str, arguments: str = "%a: tensor<4xf32>", result: str = "tensor<4xf32>") -> str:
    return f"func.func public @main({arguments}) -> {result} {{\n  {body}\n}}\n"


_NAMED, _MEMBER = '"x"(', '{"a":'
_ADD = "({\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    %s = stablehlo.add %x, %y : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n  })"


def stablehlo() -> Iterator[tuple[str, bytes]]:
    """Yields names and texts of StableHLO."""
    for name, text in (*_collectives(), *_constants(), *_windows(), *_nesting(), *_symbols(), *_aliases()):
        yield name, text.encode()


def _collectives() -> Iterator[tuple[str, str]]:
    for size in _SIZES:
        for value in ("-1", "0", '"0xFF"'):
            groups = f"dense<{value}> : tensor<{size}xi64>"
            for operation, region, more, result in (
                ("all_reduce", _ADD, "", "tensor<4xf32>"),
                ("all_gather", "", "all_gather_dim = 0 : i64, ", "tensor<8xf32>"),
                (
                    "all_to_all",
                    "",
                    "split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, ",
                    "tensor<4xf32>",
                ),
                ("reduce_scatter", _ADD, "scatter_dimension = 0 : i64, ", "tensor<2xf32>"),
                ("collective_broadcast", "", "", "tensor<4xf32>"),
            ):
                call = f'%0 = "stablehlo.{operation}"(%a) {region} {{{more}replica_groups = {groups}}} : (tensor<4xf32>) -> {result}'
                yield f"{operation} in groups {value} {size}", _main(f"{call}\n  return %0 : {result}", result=result)
        pairs = f"dense<0> : tensor<{size}xi64>"
        call = f'%0 = "stablehlo.collective_permute"(%a) {{source_target_pairs = {pairs}}} : (tensor<4xf32>) -> tensor<4xf32>'
        yield f"collective_permute {size}", _main(f"{call}\n  return %0 : tensor<4xf32>")


def _constants() -> Iterator[tuple[str, str]]:
    values = (
        "1.0",
        '"0x0000803F"',
        '"0x"',
        '"0x' + "00" * 1000 + '"',
        "[" * 5000,
        "[]",
        "[[1.0], [1.0, 2.0]]",
        "1e999999999",
        "0x" + "F" * 10_000,
    )
    for size in (*_SIZES, "4", "x".join(["1"] * 1000), "2x" * 61 + "2"):
        for value in values:
            kind = f"tensor<{size}xf32>"
            yield (
                f"dense<{value[:12]}> of {size[:30]}",
                _main(f"%0 = stablehlo.constant dense<{value}> : {kind}\n  return %0 : {kind}", "", kind),
            )
    for kind in (
        "i16777215",
        "i16777216",
        "complex<f32>",
        "f8E4M3FN",
        "!stablehlo.token",
        "index",
        "tuple<f32>",
        "vector<4xf32>",
        "memref<4xf32>",
    ):
        yield (
            f"constants of {kind}",
            _main(
                f"%0 = stablehlo.constant dense<1> : tensor<4x{kind}>\n  return %0 : tensor<4x{kind}>",
                "",
                f"tensor<4x{kind}>",
            ),
        )
    quant = "!quant.uniform<i8:f32:0, {" + ", ".join(["1.0"] * 20_000) + "}>"
    yield "quantized types", _main("return %a : tensor<4xf32>", f"%a: tensor<4xf32>, %b: tensor<20000x{quant}>")


def _windows() -> Iterator[tuple[str, str]]:
    big = ("1000000000000", "4611686018427387904", "9223372036854775807", "-9223372036854775808", "-1", "0")
    for size in big:
        pad = f"%z = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = stablehlo.pad %a, %z, low = [{size}], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>"
        yield f"pad low {size}", _main(pad, result="tensor<?xf32>")
        yield (
            f"pad inside {size}",
            _main(
                pad.replace("low = [" + size, "low = [0").replace("interior = [0]", f"interior = [{size}]"),
                result="tensor<?xf32>",
            ),
        )
        window = f'%z = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = "stablehlo.reduce_window"(%a, %z) {_ADD} {{window_dimensions = array<i64: {size}>, padding = dense<{size}> : tensor<1x2xi64>}} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>'
        yield f"reduce_window {size}", _main(window)
        yield (
            f"reduce_window with strides {size}",
            _main(window.replace("padding =", f"window_strides = array<i64: {size}>, padding =")),
        )
        yield (
            f"reduce_window dilated {size}",
            _main(
                window.replace(
                    "padding =",
                    f"window_dilations = array<i64: {size}>, base_dilations = array<i64: {size}>, padding =",
                )
            ),
        )
        convolution = f"%0 = stablehlo.convolution(%b, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {{pad = [[{size}, {size}]], rhs_dilate = [{size}]}} {{batch_group_count = 1 : i64, feature_group_count = {size} : i64}} : (tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> tensor<1x1x?xf32>\n  return %a : tensor<4xf32>"
        yield f"convolution {size}", _main(convolution, "%a: tensor<4xf32>, %b: tensor<1x1x4xf32>")
        yield (
            f"slice {size}",
            _main(
                f"%0 = stablehlo.slice %a [0:4:{size}] : (tensor<4xf32>) -> tensor<1xf32>\n  return %0 : tensor<1xf32>",
                result="tensor<1xf32>",
            ),
        )
        yield f"iota {size}", _main(f"%0 = stablehlo.iota dim = {size} : tensor<4xi32>\n  return %a : tensor<4xf32>")
        yield (
            f"reshape of {size}",
            _main(f"%0 = stablehlo.reshape %a : (tensor<4xf32>) -> tensor<{size}x0xf32>\n  return %a : tensor<4xf32>"),
        )
        yield (
            f"gather of {size}",
            _main(
                f'%i = stablehlo.constant dense<0> : tensor<1xi64>\n  %0 = "stablehlo.gather"(%a, %i) {{dimension_numbers = #stablehlo.gather<offset_dims = [{size}], collapsed_slice_dims = [0], start_index_map = [{size}], index_vector_dim = {size}>, slice_sizes = array<i64: {size}>}} : (tensor<4xf32>, tensor<1xi64>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>'
            ),
        )
        yield (
            f"fft {size}",
            _main(
                f"%0 = stablehlo.fft %b, type = FFT, length = [{size}] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>\n  return %a : tensor<4xf32>",
                "%a: tensor<4xf32>, %b: tensor<4xcomplex<f32>>",
            ),
        )


def _nesting() -> Iterator[tuple[str, str]]:
    for depth in (50, 400, 3000):
        region = "%0 = stablehlo.negate %a : tensor<4xf32>\n"
        opened = '%q = stablehlo.constant dense<true> : tensor<i1>\n  "stablehlo.if"(%q) ({\n' * depth
        closed = "  stablehlo.return\n  }, {\n  stablehlo.return\n  }) : (tensor<i1>) -> ()\n" * depth
        yield f"regions {depth} deep", _main(opened + region + closed + "  return %a : tensor<4xf32>")
        yield f"modules {depth} deep", "module {\n" * depth + "}\n" * depth
        yield (
            f"locations {depth} deep",
            _main("return %a : tensor<4xf32>") + "loc(" + "callsite(" * depth + '"a"' + ' at "b")' * depth + ")\n",
        )
        yield (
            f"named locations {depth} deep",
            _main(f"return %a : tensor<4xf32> loc({_NAMED * depth}unknown{')' * depth})"),
        )
        yield (
            f"types {depth} deep",
            _main("return %a : tensor<4xf32>", f"%a: tensor<4xf32>, %b: {'tuple<' * depth}f32{'>' * depth}"),
        )
        yield (
            f"functions {depth} deep",
            _main("return %a : tensor<4xf32>").replace(
                "{", f"attributes {{x = {'() -> (' * depth}f32{')' * depth}}} {{", 1
            ),
        )
        yield (
            f"attributes {depth} deep",
            _main(
                f"%0 = stablehlo.negate %a {{x = {'[' * depth}{']' * depth}}} : tensor<4xf32>\n  return %0 : tensor<4xf32>"
            ),
        )
        yield (
            f"dictionaries {depth} deep",
            _main(
                f"%0 = stablehlo.negate %a {{x = {'{a = ' * depth}1{'}' * depth}}} : tensor<4xf32>\n  return %0 : tensor<4xf32>"
            ),
        )
        yield (
            f"affine maps {depth} deep",
            f"#m = affine_map<(d0) -> ({'(' * depth}d0{')' * depth} floordiv 2 mod 3)>\n"
            + _main("return %a : tensor<4xf32>"),
        )
        chain = "\n  ".join(f"%{i + 1} = stablehlo.add %{i}, %{i} : tensor<4xf32>" for i in range(depth * 10))
        yield f"a chain of {depth * 10}", _main(f"{chain}\n  return %{depth * 10} : tensor<4xf32>", "%0: tensor<4xf32>")


def _symbols() -> Iterator[tuple[str, str]]:
    call = "%0 = call @{}(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>"
    yield "a call of itself", _main(call.format("main"))
    ring = "".join(
        _main(call.format(f"f{(i + 1) % 100}")).replace("public @main", f"private @f{i}") for i in range(100)
    )
    yield "calls in a ring", ring + _main(call.format("f0"))
    double = "%0 = call @f{0}(%a) : (tensor<4xf32>) -> tensor<4xf32>\n  %1 = call @f{0}(%0) : (tensor<4xf32>) -> tensor<4xf32>\n  return %1 : tensor<4xf32>"
    text = "".join(_main(double.format(i + 1)).replace("public @main", f"private @f{i}") for i in range(45))
    yield (
        "calls that double",
        text + _main("return %a : tensor<4xf32>").replace("public @main", "private @f45") + _main(call.format("f0")),
    )
    composite = '%0 = stablehlo.composite "x.y" %a {{decomposition = @{}}} : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>'
    yield "a composite of itself", _main(composite.format("main"))
    many = "".join(
        _main("return %a : tensor<4xf32>").replace("@main", f"@f{i}").replace("public", "private") for i in range(5000)
    )
    yield "5000 functions", many + _main("return %a : tensor<4xf32>")
    yield "main twice", _main("return %a : tensor<4xf32>") * 2
    yield (
        "a value before its definition",
        _main(
            "%0 = stablehlo.negate %1 : tensor<4xf32>\n  %1 = stablehlo.negate %0 : tensor<4xf32>\n  return %1 : tensor<4xf32>"
        ),
    )
    arguments = ", ".join(f"%a{i}: tensor<4xf32>" for i in range(20_000))
    yield "20000 arguments", _main("return %a0 : tensor<4xf32>", arguments)
    sharding = "#sdy.mesh<[" + ", ".join(f'"x{i}"=2' for i in range(3000)) + "]>"
    yield "a large mesh", f"sdy.mesh @m = {sharding}\n" + _main("return %a : tensor<4xf32>")
    yield (
        "a sharding",
        _main(
            "return %a : tensor<4xf32>",
            '%a: tensor<4xf32> {mhlo.sharding = "{devices=[1000000000,1000000000]<=[1000000000000000000]}"}',
        ),
    )


def _aliases() -> Iterator[tuple[str, str]]:
    for depth in (20, 40, 2000):
        arrays = "#a0 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}, #a{i - 1}]\n" for i in range(1, depth))
        using = _main(f"%0 = stablehlo.negate %a {{x = #a{depth - 1}}} : tensor<4xf32>\n  return %0 : tensor<4xf32>")
        yield f"arrays that double {depth} times", arrays + using
        types = "!t0 = tuple<f32>\n" + "".join(f"!t{i} = tuple<!t{i - 1}, !t{i - 1}>\n" for i in range(1, depth))
        yield (
            f"types that double {depth} times",
            types + _main("return %a : tensor<4xf32>", f"%a: tensor<4xf32>, %b: !t{depth - 1}"),
        )
        locations = '#l0 = loc("a")\n' + "".join(
            f"#l{i} = loc(callsite(#l{i - 1} at #l{i - 1}))\n" for i in range(1, depth)
        )
        yield f"locations that double {depth} times", locations + _main(f"return %a : tensor<4xf32> loc(#l{depth - 1})")
        fused = '#l0 = loc("a")\n' + "".join(f"#l{i} = loc(fused[#l{i - 1}, #l{i - 1}])\n" for i in range(1, depth))
        yield (
            f"fused locations that double {depth} times",
            fused + _main(f"return %a : tensor<4xf32> loc(#l{depth - 1})"),
        )
    yield (
        "an alias of itself",
        "#a = [#a]\n" + _main("%0 = stablehlo.negate %a {x = #a} : tensor<4xf32>\n  return %0 : tensor<4xf32>"),
    )


def _module(body: str, before: str = "", header: str = "") -> str:
    return f"HloModule m{header}\n{before}ENTRY e {{\n  {body}\n}}\n"


def hlo() -> Iterator[tuple[str, bytes]]:
    """Yields names and texts of HLO."""
    for name, text in (*_hlo_sizes(), *_hlo_nesting(), *_hlo_headers(), *_hlo_loops()):
        yield name, text.encode()


def _hlo_sizes() -> Iterator[tuple[str, str]]:
    for size in (
        "1000000000000",
        "4611686018427387904",
        "9223372036854775807",
        "-1",
        "18446744073709551616",
        "9" * 5000,
    ):
        p = "p = f32[4] parameter(0)\n  z = f32[] constant(0)\n  "
        add = "add {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}\n"
        short = size[:24]
        yield f"pad {short}", _module(f"{p}ROOT r = f32[{size}] pad(p, z), padding={size}_{size}_{size}")
        yield (
            f"reduce-window {short}",
            _module(
                f"{p}ROOT r = f32[4] reduce-window(p, z), window={{size={size} stride={size} pad={size}_{size} lhs_dilate={size} rhs_dilate={size}}}, to_apply=add",
                add,
            ),
        )
        yield f"broadcast {short}", _module(f"{p}ROOT r = f32[{size},{size}] broadcast(z), dimensions={{}}")
        yield f"iota {short}", _module(f"ROOT r = s32[4] iota(), iota_dimension={size}")
        yield f"slice {short}", _module(f"{p}ROOT r = f32[1] slice(p), slice={{[0:{size}:{size}]}}")
        yield f"parameter {short}", _module(f"ROOT p = f32[4] parameter({size})")
        yield f"constant {short}", _module(f"ROOT p = f32[{size}] constant({{...}})")
        yield (
            f"tiles {short}",
            _module(f"ROOT p = f32[4,4]{{1,0:T({size},{size})({size},1)E({size})S({size})}} parameter(0)"),
        )
        yield (
            f"convolution {short}",
            _module(
                f"{p}m = f32[1,4,1] reshape(p)\n  ROOT r = f32[1,4,1] convolution(m, m), window={{size={size} pad={size}_{size}}}, dim_labels=b0f_0io->b0f, feature_group_count={size}"
            ),
        )
        yield (
            f"groups {short}",
            _module(f"{p}ROOT r = f32[4] all-reduce(p), replica_groups=[{size},{size}]<=[{size}], to_apply=add", add),
        )
        yield (
            f"groups reversed {short}",
            _module(
                f"{p}ROOT r = f32[4] all-gather(p), replica_groups=[2,{size}]<=[{size},2]T(1,0), dimensions={{0}}, use_global_device_ids=true, channel_id=1"
            ),
        )
        yield f"sharding {short}", _module(f"ROOT p = f32[4] parameter(0), sharding={{devices=[{size}]<=[{size}]}}")
        yield (
            f"index {short}",
            _module(f"{p}t = (f32[4]) tuple(p)\n  ROOT g = f32[4] get-tuple-element(t), index={size}"),
        )
        yield (
            f"a replica count {short}",
            _module("ROOT p = f32[4] parameter(0)", header=f", replica_count={size}, num_partitions={size}"),
        )
        yield f"dynamic {short}", _module(f"ROOT p = f32[<={size},<={size}] parameter(0)")


def _hlo_nesting() -> Iterator[tuple[str, str]]:
    for depth in (50, 500, 5000, 50_000):
        p = "p = f32[4] parameter(0)"
        yield f"tuples {depth} deep", _module("ROOT p = " + "(" * depth + "f32[4]" + ")" * depth + " parameter(0)")
        yield (
            f"a literal {depth} deep",
            _module(f"ROOT c = f32[{','.join(['1'] * min(depth, 5000))}] constant({'{' * depth}1{'}' * depth})"),
        )
        yield f"a sharding {depth} deep", _module(f"{p}, sharding={'{' * depth}replicated{'}' * depth}")
        yield f"attributes {depth} deep", _module(f"{p}, frontend_attributes={'{a=' * depth}1{'}' * depth}")
        yield f"a configuration {depth} deep", _module(f"{p}, backend_config={_MEMBER * depth}1{'}' * depth}")
        yield f"operands {depth} deep", _module(f"ROOT r = {'negate(f32[4] ' * depth}parameter(0){')' * depth}")
        shape = "f32[4]"
        for _ in range(min(depth, 18)):
            shape = f"({shape}, {shape})" if len(shape) < 100_000 else shape
        yield f"a tuple that doubles {depth} times", _module(f"ROOT p = {shape} parameter(0)")
        names = "".join(
            f"fn{i} {{\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] fusion(p), kind=kLoop, calls=fn{i + 1}\n}}\n"
            for i in range(min(depth, 5000))
        )
        yield (
            f"fusions {depth} deep",
            _module(
                "p = f32[4] parameter(0)\n  ROOT r = f32[4] fusion(p), kind=kLoop, calls=fn0",
                names + f"fn{min(depth, 5000)} {{\n  ROOT p = f32[4] parameter(0)\n}}\n",
            ),
        )
        wide = ", ".join(["p"] * depth)
        yield f"{depth} operands", _module(f"{p}\n  ROOT t = ({', '.join(['f32[4]'] * depth)}) tuple({wide})")
        yield f"{depth} comments", _module("/*" * depth + "*/" * depth + p)


def _hlo_headers() -> Iterator[tuple[str, str]]:
    for name, header in {
        "aliases": ", input_output_alias={" + ", ".join("{}: (0, {}, may-alias)" for _ in range(5000)) + "}",
        "an alias of a missing parameter": ", input_output_alias={ {9,9,9}: (99, {9}, must-alias) }",
        "a layout": ", entry_computation_layout={(" + "f32[4]{0}, " * 5000 + "f32[4]{0})->f32[4]{0}}",
        "a layout that is open": ", entry_computation_layout={(" * 2000,
        "donors": ", buffer_donor={ (9223372036854775807, {9223372036854775807}) }",
        "devices": ', device_assignment="' + "1," * 10_000 + '"',
        "a name": "m" * 1_000_000,
        "escapes": "\x1b]0;x\x07",
        "a frame table": '\nFileNames\n1 "a"\nStackFrames\n'
        + "".join(f"{i} {{file_location_id={i} parent_frame_id={i}}}\n" for i in range(1, 2000)),
    }.items():
        yield f"a header with {name}", _module("ROOT p = f32[4]{0} parameter(0)", header=header)
    yield "no entry", "HloModule m\nf {\n  ROOT p = f32[4] parameter(0)\n}\n"
    yield "entries", _module("ROOT p = f32[4] parameter(0)") + "ENTRY f {\n  ROOT p = f32[4] parameter(0)\n}\n"
    yield "names twice", _module("p = f32[4] parameter(0)\n  p = f32[4] parameter(0)\n  ROOT p = f32[4] negate(p)")
    yield "roots", _module("ROOT p = f32[4] parameter(0)\n  ROOT q = f32[4] negate(p)")
    yield "an operand of itself", _module("ROOT p = f32[4] negate(p)")
    yield (
        "100000 names",
        _module("\n  ".join(f"p{i} = f32[] constant(0)" for i in range(100_000)) + "\n  ROOT r = f32[] negate(p0)"),
    )


def _hlo_loops() -> Iterator[tuple[str, str]]:
    for wrapper in ("call", "async-start", "fusion", "while", "conditional"):
        for depth in (10, 30, 200):
            text = "fn0 {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
            for i in range(1, depth):
                text += f"fn{i} {{\n  p = f32[4] parameter(0)\n{_wrapped(wrapper, i, 'p', 'b')}{_wrapped(wrapper, i, 'b', 'r')}}}\n"
            yield (
                f"{wrapper} that doubles {depth} times",
                _module(f"p = f32[4] parameter(0)\n{_wrapped(wrapper, depth, 'p', 'r')}".rstrip(), text),
            )
    yield (
        "calls of each other",
        _module(
            "p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=f",
            "f {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=g\n}\ng {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=f\n}\n",
        ),
    )
    yield (
        "a control dependency of itself",
        _module("p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p), control-predecessors={r}"),
    )
    edges = "\n  ".join(
        f"n{i} = f32[4] negate(p), control-predecessors={{{', '.join(f'n{j}' for j in range(i))}}}" for i in range(600)
    )
    yield "many control dependencies", _module(f"p = f32[4] parameter(0)\n  {edges}\n  ROOT r = f32[4] negate(n599)")


def _wrapped(wrapper: str, number: int, operand: str, result: str) -> str:
    name, root = f"fn{number - 1}", "ROOT " if result == "r" else ""
    match wrapper:
        case "call":
            return f"  {root}{result} = f32[4] call({operand}), to_apply={name}\n"
        case "fusion":
            return f"  {root}{result} = f32[4] fusion({operand}), kind=kLoop, calls={name}\n"
        case "async-start":
            started = f"  {result}0 = ((f32[4]), f32[4], u32[]) async-start({operand}), calls={name}\n"
            return f"{started}  {root}{result} = f32[4] async-done({result}0)\n"
        case "conditional":
            return f"  {result}0 = pred[] constant(true)\n  {root}{result} = f32[4] conditional({result}0, {operand}, {operand}), true_computation={name}, false_computation={name}\n"
    return f"  {root}{result} = f32[4] while({operand}), condition={name}, body={name}\n"
