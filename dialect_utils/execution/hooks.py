"""XLA's hook for modules inside of a compilation, jax.extend.xla, on the platforms for which jax calls it.

jax 0.10 and 0.11 call it on the CPU alone, although they accept other platforms.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any, Literal, get_args

from dialect_utils.engine_names import STAGES, Stage
from dialect_utils.execution.adapter import has_plugin_hook, is_plugin_loaded
from dialect_utils.processes import TPU_ENVIRONMENT

Platform = Literal["tpu", "cuda", "cpu"]
PLATFORMS: tuple[Platform, ...] = get_args(Platform)
CPU: Platform = "cpu"
FIRST_VERSION = "0.12"
# A topology that libtpu describes without a TPU.
_TPU_TOPOLOGY = "v5e:2x2"
_ENABLED = "jax_enable_compilation_cache"
_NUMBERS = count()


def lack_of(platform: Platform) -> str:
    """Returns why the hook is not called for a platform, which it loads if it can; empty if it is called."""
    import jax

    if platform == CPU:
        return ""
    if not has_plugin_hook():
        return f"jax {jax.__version__} does not call passes for {platform}: it needs jax {FIRST_VERSION} or newer"
    # Loads the plug-ins of the platforms that jax may use, and that of CUDA in any case.
    jax.devices()
    if platform == "tpu" and not is_plugin_loaded(platform):
        _load_tpu()
    return "" if is_plugin_loaded(platform) else f"no compiler for {platform} is loaded into jax"


def _load_tpu() -> None:
    from jax.experimental import topologies

    for name, value in TPU_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        topologies.get_topology_desc(platform="tpu", topology_name=_TPU_TOPOLOGY)
    except RuntimeError:  # libtpu is not installed
        return


@contextmanager
def hooked(
    platforms: Collection[Platform], stage: Stage, transform: Callable[[Platform, bytes], bytes | None]
) -> Iterator[None]:
    """Calls `transform` with each module that a compilation hands over in this stage; None keeps a module.

    The platforms are loaded. Nothing is read from JAX's cache of compiled programs, and nothing is kept in it.
    """
    from jax.extend import xla

    name = f"relayout-{next(_NUMBERS)}"
    where = xla.PipelineStage.PRE_SCHEDULER if stage == STAGES[0] else xla.PipelineStage.POST_SCHEDULER

    def called_for(platform: Platform) -> Callable[[bytes], bytes | None]:
        return lambda data: transform(platform, data)

    with ExitStack() as stack:
        stack.enter_context(_without_cache())
        for platform in platforms:
            xla.register_hlo_module_transformation(called_for(platform), name=name, stage=where, platforms=(platform,))
            stack.callback(xla.clear_hlo_module_transformation, name, stage=where, platforms=(platform,))
        yield


@contextmanager
def _without_cache() -> Iterator[None]:
    """Switches JAX's persistent cache off, whose keys do not name transformations."""
    import jax

    config: Any = jax.config
    if not (config.jax_enable_compilation_cache and config.jax_compilation_cache_dir):
        yield
        return
    from jax.experimental.compilation_cache import compilation_cache

    jax.config.update(_ENABLED, False)
    compilation_cache.reset_cache()
    try:
        yield
    finally:
        jax.config.update(_ENABLED, True)
        compilation_cache.reset_cache()
