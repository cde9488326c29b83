"""What jaxflow uses of JAX that JAX does not promise to keep, in one place.

Modules under ``jax._src`` are private, those under ``jax.extend``, ``jax.interpreters`` and
``jax.experimental`` change without notice, and so do the parameters of primitives. Whatever differs
between the versions of JAX that jaxflow supports is distinguished here, and nowhere else.
"""

from __future__ import annotations

import pathlib
import warnings
from typing import Any

import jax
from jax._src import compilation_cache as compilation_cache
from jax._src.compilation_cache_interface import CacheInterface as CacheInterface
from jax._src.config import trace_context as trace_context
from jax.custom_derivatives import SymbolicZero as SymbolicZero
from jax.experimental.xla_metadata import set_xla_metadata as set_xla_metadata
from jax.extend.core import ClosedJaxpr as ClosedJaxpr
from jax.extend.core import Jaxpr as Jaxpr
from jax.extend.core import JaxprEqn as JaxprEqn
from jax.extend.core import Literal as Literal
from jax.extend.core import Primitive as Primitive
from jax.extend.core import Var as Var
from jax.extend.core import get_opaque_trace_state as get_opaque_trace_state
from jax.extend.core import jaxpr_as_fun as jaxpr_as_fun
from jax.extend.core import jaxprs_in_params as jaxprs_in_params
from jax.extend.core import subjaxprs as subjaxprs
from jax.extend.random import define_prng_impl as define_prng_impl
from jax.interpreters import ad as ad
from jax.interpreters import batching as batching
from jax.interpreters import mlir as mlir
from jax.interpreters import partial_eval as partial_eval


def scan_counts(params: dict[str, Any]) -> tuple[int, int]:
    """How many operands of a ``scan`` its body takes whole in every round, and how many it hands on."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].unpack()  # since jax 0.12
    return len(consts), len(carry)


def device_spans(path: pathlib.Path) -> list[tuple[str, Any, tuple[float, float]]]:
    """What XLA ran, from a file of jax's profiler: module, run, when it began and ended (microseconds)."""
    found = []
    with warnings.catch_warnings():
        # Python 3.12 and later warn of jaxlib's class of an event's stats when it is made. If that is made an
        # error, the process ends there.
        warnings.simplefilter("ignore", DeprecationWarning)
        for plane in jax.profiler.ProfileData.from_file(str(path)).planes:
            for line in plane.lines:
                for event in line.events:
                    stats = dict(event.stats)
                    if "hlo_module" in stats:
                        at = event.start_ns / 1e3
                        span = at, at + event.duration_ns / 1e3
                        found.append((stats["hlo_module"], stats.get("run_id"), span))
    return found
