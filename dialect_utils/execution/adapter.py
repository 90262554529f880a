"""The only module that names jaxlib's private runtime modules; only the worker process imports it.

Checked with jaxlib 0.10.2 and 0.12.0.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace
from typing import Any

# XLA prints its dump to standard output.
DUMP_OPTIONS: dict[str, Any] = {"xla_dump_to": "-", "xla_dump_hlo_as_text": True, "xla_dump_large_constants": True}
# The options of earlier versions of jaxlib, without which compiling only takes longer.
_FORMER_OPTIONS, _FIRST_WITHOUT = ("xla_cpu_use_fusion_emitters",), (0, 11, 1)
_CHUNK = 1 << 16


class MissingNameError(ImportError):
    """A missing name in this version of jaxlib."""


def _find(module: str, *names: str) -> Any:
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise MissingNameError(_lacks(module)) from error
    for name in names:
        if not hasattr(found, name):
            raise MissingNameError(_lacks(f"{module}.{name}"))
        found = getattr(found, name)
    return found


def _lacks(name: str) -> str:
    # Imported here: it parses mail headers.
    from importlib.metadata import version

    return f"jaxlib {version('jaxlib')} has no {name}; versions 0.10 to 0.12 are known to have it"


def cpu_client(devices: int = 1) -> Any:
    """Returns the client of the CPU backend that also owns the arrays of `device_array`.

    One device needs no JAX, whose import takes several times longer than jaxlib's. Only JAX makes arrays on several
    devices.
    """
    if devices > 1:
        # A client of xla_client.make_cpu_client does not accept arrays of another client.
        return _find("jax", "devices")("cpu")[0].client
    return _own_client()


@cache
def _own_client() -> Any:
    # jaxlib imports JAX to describe arrays where JAX exists, and works without it.
    sys.modules["jax"] = None  # type: ignore[assignment]
    return _find("jaxlib.xla_client", "make_cpu_client")()


def device_array(array: Any) -> Any:
    """Returns a device array of `cpu_client` with its own copy of the data."""
    put = _find("jaxlib._jax", "batched_device_put")
    during_call = _find("jaxlib._jax", "HostBufferSemantics", "IMMUTABLE_ONLY_DURING_CALL")
    described = SimpleNamespace(shape=array.shape, dtype=array.dtype, weak_type=False)
    device = _own_client().local_devices()[0]
    # An aligned numpy array would be passed without a copy; 64-bit types would become 32-bit ones.
    return put(described, _placement(), [array], [device], True, True, during_call, enable_x64=True)


@cache
def _placement() -> Any:
    """Returns the sharding of all arrays: jaxlib asks for methods that JAX defines in a subclass."""
    replicated = _find("jaxlib.xla_client", "HloSharding").replicate()
    members = {"memory_kind": None, "_to_xla_hlo_sharding": lambda placement, rank: replicated}
    derived = type("Placement", (_find("jaxlib._jax", "SingleDeviceSharding"),), members)
    return derived(_own_client().local_devices()[0])


def host_array(array: Any) -> Any:
    """Returns the elements of a device array, as a view of XLA's buffer where that is possible."""
    elements, _ = array._single_device_array_to_np_array_did_copy()  # noqa: SLF001 (no other method needs no JAX)
    return elements


def compile_module(client: Any, module: str | bytes, options: dict[str, str], replicas: int = 1) -> Any:
    """Returns the loaded executable of StableHLO text or bytecode, for one device a replica."""
    return client.compile_and_load(module, _devices(client, replicas), _compile_options(options, replicas))


def dump_of_passes(client: Any, module: str | bytes, options: dict[str, str]) -> bytes:
    """Returns the text that XLA prints while it compiles StableHLO: the module after each pass that changes it.

    Each begins with a line `*** Begin NAME ***` and ends with `*** End NAME ***`.
    """
    with printed() as parts:
        compile_module(client, module, {**options, **DUMP_OPTIONS, "xla_dump_hlo_pass_re": ".*"})
    return b"".join(parts)


@contextmanager
def printed() -> Iterator[list[bytes]]:
    """Returns the parts of what C++ prints inside the block to standard output, complete at its end."""
    reader, writer = os.pipe()
    parts: list[bytes] = []
    reading = threading.Thread(target=_read_all, args=(reader, parts))
    before = os.dup(1)
    os.dup2(writer, 1)
    os.close(writer)
    reading.start()
    try:
        yield parts
    finally:
        # The thread reads up to the end of the pipe.
        os.dup2(before, 1)
        os.close(before)
        reading.join()


def _read_all(reader: int, parts: list[bytes]) -> None:
    with os.fdopen(reader, "rb") as file:
        while part := file.read1(_CHUNK):
            parts.append(part)


def _compile_options(options: dict[str, str], replicas: int) -> Any:
    made = _find("jaxlib.xla_client", "CompileOptions")()
    lacking = _FORMER_OPTIONS if _find("jaxlib.version", "__version_info__") >= _FIRST_WITHOUT else ()
    made.env_option_overrides = [(name, value) for name, value in options.items() if name not in lacking]
    made.num_replicas = replicas
    return made


def _devices(client: Any, count: int) -> Any:
    return _find("jaxlib._jax", "DeviceList")(tuple(client.local_devices()[:count]))


def serialize_executable(executable: Any) -> bytes:
    """Returns an executable with its machine code as bytes, which JAX's compilation cache keeps, too."""
    return bytes(executable.serialize())


def load_executable(client: Any, data: bytes, replicas: int = 1) -> Any:
    """Returns the loaded executable of `serialize_executable`, made by this jaxlib for such a processor."""
    return client.deserialize_executable(data, _devices(client, replicas), _compile_options({}, replicas))


def execute_on_devices(executable: Any, client: Any, arguments: Any, count: int) -> list[list[Any]]:
    """Returns the parts of each result, one per device; `arguments` hold the devices' parts in order.

    JAX_ENABLE_X64 keeps JAX from converting 64-bit types to 32-bit ones.
    """
    devices = client.local_devices()[:count]
    mesh = _find("jax", "sharding", "Mesh")(devices, ("replica",))
    # Each device has its own data although JAX is told that the array is replicated: JAX never checks.
    everywhere = _find("jax", "sharding", "NamedSharding")(mesh, _find("jax", "sharding", "PartitionSpec")())
    gather = _find("jax", "make_array_from_single_device_arrays")
    put = _find("jax", "device_put")
    shards = [[put(part, device) for part, device in zip(array, devices, strict=True)] for array in arguments]
    sharded = [gather(parts[0].shape, everywhere, parts) for parts in shards]
    return list(executable.execute_sharded(sharded).disassemble_into_single_device_arrays())


@cache
def initialize_lapack() -> None:
    """Registers LAPACK's custom calls and gives them SciPy's function pointers."""
    register = _find("jaxlib.xla_client", "register_custom_call_target")
    for name, function, version in _find("jaxlib.lapack", "registrations")()["cpu"]:
        register(name, function, platform="cpu", api_version=version)
    _find("jaxlib.lapack", "prepare_lapack_call")("potrf_ffi", _find("numpy", "float32"))


def stablehlo_from_hlo(text: str) -> str:
    """Returns the StableHLO text of HLO text. Layouts are lost on the way."""
    module = _find("jaxlib._hlo", "hlo_module_from_text")(text)
    computation = _find("jaxlib.xla_client", "XlaComputation")(module.as_serialized_hlo_module_proto())
    converted: str | bytes = _find("jaxlib._jax", "mlir", "xla_computation_to_mlir_module")(computation)
    return converted.decode() if isinstance(converted, bytes) else converted


def hlo_from_stablehlo(module: bytes) -> str:
    """Returns the HLO text of StableHLO bytecode, large constants included. Layouts of inner values are lost."""
    convert = _find("jaxlib._jax", "mlir", "mlir_module_to_xla_computation")
    return hlo_text_from_proto(convert(module, False, False).as_serialized_hlo_module_proto())


def hlo_text_from_proto(data: bytes) -> str:
    """Returns the HLO text of a serialized HloModuleProto, large constants included."""
    return text_of(_find("jaxlib._hlo", "HloModule").from_serialized_hlo_module_proto(data))


def text_of(module: Any) -> str:
    """Returns the text of a module of jaxlib, large constants included."""
    options = _find("jaxlib._hlo", "HloPrintOptions")()
    options.print_large_constants = True
    return str(module.to_string(options))


def hlo_proto_from_text(text: str) -> bytes:
    """Returns the serialized HloModuleProto of HLO text."""
    return bytes(_find("jaxlib._hlo", "hlo_module_from_text")(text).as_serialized_hlo_module_proto())


def has_plugin_hook() -> bool:
    """Is true for a jaxlib that hands the modules of TPUs and GPUs to functions in Python."""
    return hasattr(importlib.import_module("jaxlib._jax"), "get_pjrt_plugin")


def is_plugin_loaded(platform: str) -> bool:
    """Is true where the compiler of a platform is loaded into this process."""
    try:
        _find("jaxlib._jax", "get_pjrt_plugin")(platform)
    except RuntimeError:  # jaxlib's own exception for a missing one
        return False
    return True


def interpret(module: Any, arguments: list[Any]) -> list[Any]:
    """Returns the results of StableHLO's reference interpreter: attributes for attributes."""
    return list(_find("jaxlib.mlir._mlir_libs._stablehlo", "eval_module")(module, arguments))
