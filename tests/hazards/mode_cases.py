"""Cases of `modes`: contexts and functions that change the process, or an object of the user's, for a while.

`CONTEXTS` are entered by a ``with`` statement. `CALLS` change something while they run a function of the
user's; of those only the named files are followed, as they compute as well, and no opcode is exempted.
"""

from __future__ import annotations

import atexit
import functools
import gc
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

import jaxflow as torch
from jaxflow._core.generator import Elsewhere, default_generator
from jaxflow._core.run_hooks import WATCHERS
from jaxflow._core.state import state
from jaxflow._dispatch import saved_tensors
from jaxflow._publish import overrides
from jaxflow._shapes.shape_families import attempt
from jaxflow._shapes.symbolic_dims import ShapeEnv
from jaxflow.autograd.jacobians import difference
from jaxflow.backends import cuda
from jaxflow.compiler._function import stance
from jaxflow.nn.modules import module as modules
from jaxflow.nn.utils import parametrize
from jaxflow.serialization import _safe
from jaxflow.utils import checkpoint


class _Doubled(torch.nn.Module):
    """A parametrization."""

    def forward(self, x: Any) -> Any:
        """Twice the original."""
        return x * 2


class _Plain(torch.autograd.Function):
    """A function with a backward and a rule for ``vmap`` of the user's."""

    @staticmethod
    def forward(x):
        return x * 3

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad * 3

    @staticmethod
    def vmap(info, in_dims, x):
        return _Plain.apply(x), in_dims[0]


class Asked(overrides.TorchFunctionMode):
    """A mode of the user's that does what was asked."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


_MODE = Asked()


def _ones(*shape: int, grad: bool = False) -> torch.Tensor:
    return torch.tensor(np.ones(shape, np.float32), requires_grad=grad)


class _Objects:
    """What a program of the user's owns."""

    def __init__(self) -> None:
        if not torch.distributed.is_initialized():
            torch.distributed.init_process_group("gloo", rank=0, world_size=1)
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        self.tensors = (*self.net.parameters(), *self.net.buffers())
        self.batch = _ones(3, 2)
        self.given = {name: t.detach().clone() for name, t in self.net.state_dict().items()}
        self.parallel = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
        self.doubled = torch.nn.utils.parametrize.register_parametrization(
            torch.nn.Linear(2, 2), "weight", _Doubled())
        self.optimizer = torch.optim.SGD([_ones(2, grad=True)], lr=0.1)
        self.optimizer.step()
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 10)
        self.hooks = saved_tensors.Hooks(_same, _same, None)
        self.leaf = _ones(3, grad=True)
        self.numbers = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
        self.table = torch.nn.Embedding(3, 2, max_norm=1.0)
        self.region = torch.profiler.record_function("a region")
        self.pure, self.params, self.buffers = torch.to_jax(self.net, buffers=True)

    def facts(self) -> dict[str, Any]:
        """What is to be as before."""
        net = self.net
        return {
            "tensors": [t is own for t, own in zip((*net.parameters(), *net.buffers()), self.tensors)],
            "training": tuple(m.training for m in net.modules()),
            "sync": self.parallel.require_backward_grad_sync,
            "scheduler": (self.schedule._get_lr_called_within_step, self.schedule._is_initial),
            "pack hooks": self.hooks.under_way == [None, None],
            "numbers": self.numbers.detach().tolist(),
            "regions": self.region.open[0],
        }


@functools.cache
def objects() -> _Objects:
    """The user's objects."""
    return _Objects()


@functools.cache
def _folder() -> str:
    """A folder that `jaxflow.hub` can load from; it goes with the process."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    (pathlib.Path(folder.name) / "hubconf.py").write_text("def entry():\n    return 1\n")
    return folder.name


def facts() -> dict[str, Any]:
    """Everything that a case changes for a while, by name."""
    return {
        "generator": default_generator.state_array().tobytes(),
        "kernels": (cuda.flash_sdp_enabled(), cuda.math_sdp_enabled(), cuda.mem_efficient_sdp_enabled(),
                    cuda.cudnn_sdp_enabled()),
        "cached": objects().doubled.weight is objects().doubled.weight,
        "watchers": tuple(map(id, WATCHERS)), "collector": gc.isenabled(), "path": tuple(sys.path),
        "allowed": tuple(_safe.get_safe_globals()), "in a module": modules._calls.inside,
        "disabled": stance.disabled, "evaluating": state.evaluating, "programs": type(state.programs),
        **objects().facts(),
    }


_PATH = tuple(sys.path)


def reset(name: str) -> None:
    """The process as it was, or as the case ``name`` starts with, and new objects for the user."""
    overrides._asked.modes = (_MODE,) if name == "mode's function" else ()
    cuda.enable_flash_sdp(True)
    cuda.enable_math_sdp(True)
    cuda.enable_mem_efficient_sdp(True)
    cuda.enable_cudnn_sdp(True)
    torch.serialization.clear_safe_globals()
    WATCHERS.clear()
    gc.enable()
    sys.path[:] = _PATH
    modules._calls.inside, state.evaluating, state.saving = False, None, None
    stance.disabled = False
    default_generator.manual_seed(0)
    parametrize._cache.computed = None
    objects.cache_clear()
    objects()


# ----------------------------------------------------------------------------------------------- cases


class Case(NamedTuple):
    """A context or a program, what runs inside, and the files whose frames are followed; all if none."""

    run: Callable[[], Any]
    body: Callable[[], Any] = lambda: None
    files: tuple[str, ...] = ()


def _same(t: Any) -> Any:
    return t


def _multiply_in_region() -> None:
    torch.autocast("cpu").run(torch.nn.functional.linear, _ones(3, 2), _ones(3, 2))


def _draw() -> None:
    default_generator.manual_seed(default_generator.initial_seed() + 3)


def _warned(call: Callable[[], Any]) -> Callable[[], Any]:
    """``call`` without its warnings."""
    def quiet() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    return quiet


def _no_sync() -> Any:
    return objects().parallel.no_sync()


def _profile() -> Any:
    profile = torch.autograd.profiler.profile()
    profile.recorder.device = False  # a trace of jax's takes long
    return profile


CONTEXTS = {
    "fork_rng": Case(torch.random.fork_rng, _draw),
    "checkpoint's numbers": Case(
        lambda: checkpoint._random_numbers_of(
            {default_generator: torch.Generator().manual_seed(1).position()}), _draw),
    "no_sync": Case(_no_sync),
    "cached": Case(torch.nn.utils.parametrize.cached, lambda: objects().doubled.weight, ("parametrize.py",)),
    "sdp_kernel": Case(_warned(lambda: cuda.sdp_kernel(enable_flash=False))),
    "sdpa_kernel": Case(lambda: torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH)),
    "safe_globals": Case(lambda: torch.serialization.safe_globals([_Doubled, _Plain])),
    "record_function": Case(lambda: objects().region),
    "autograd.profiler.profile": Case(_profile, files=("_recorder.py", "autograd/profiler.py")),
}


def _call_with_other_tensors() -> None:
    torch.func.functional_call(objects().net, objects().given, (objects().batch,))


def _nothing() -> None:
    """What is not to be compiled."""


def _first_epoch() -> None:
    objects().schedule._initial_step()


def _next_epoch() -> None:
    objects().schedule.step()


def _write_while_packing() -> None:
    own = objects()
    t = _ones(3) * own.leaf
    state.saving = own.hooks
    try:
        t.mul_(own.leaf)
    finally:
        state.saving = None


def _pack() -> None:
    saved_tensors.Pack(objects().batch, _same, _same)


def _differentiate_by_jax() -> None:
    jax.grad(_plain_of_an_array)(np.float32(2.0))


def _plain_of_an_array(x: jax.Array) -> jax.Array:
    return _Plain.apply(torch.from_jax(x)).jax()


def _map() -> None:
    torch.vmap(_Plain.apply)(objects().batch)


def _watched_backward() -> None:
    objects().leaf.sum().backward()


def _ask_a_mode() -> None:
    overrides.handle(torch.numel, [], (objects().batch,), {})


def _numeric_gradient() -> None:
    numbers = objects().numbers
    difference(torch.sum, (numbers,), numbers, np.ones(2), 1e-3)


def _batched_gradients() -> None:
    leaf = objects().leaf
    torch.autograd.grad((leaf * leaf,), (leaf,), (_ones(2, 3),), is_grads_batched=True)


def _checkpointed(reentrant: bool) -> None:
    elsewhere = Elsewhere({default_generator: torch.Generator().manual_seed(7).position()})
    out = elsewhere.run(
        checkpoint.checkpoint, lambda t: (t * 2).sin(), objects().leaf, use_reentrant=reentrant)
    out.sum().backward()


CALLS = {
    "a function in an autocast region": Case(_multiply_in_region, files=("_dispatch/autocasting.py",)),
    "checkpoint": Case(lambda: _checkpointed(False), files=("utils/checkpoint.py", "autograd/graph.py")),
    "reentrant checkpoint": Case(lambda: _checkpointed(True), files=("utils/checkpoint.py",)),
    "custom function": Case(lambda: _Plain.apply(objects().leaf), files=("autograd/function.py",)),
    "grad": Case(lambda: torch.func.grad(torch.sum)(objects().leaf), files=("func/_reverse.py",)),
    "jvp": Case(lambda: torch.func.jvp(torch.sin, (objects().leaf,), (_ones(3),)),
                files=("func/_forward.py",)),
    "vmap": Case(lambda: torch.vmap(torch.sum)(objects().batch), files=("_api/vmap.py", "vmap_axes.py")),
    "batched gradients": Case(_batched_gradients, files=("autograd/api.py", "vmap_axes.py")),
    "functional_call": Case(_call_with_other_tensors, files=("stateless.py",)),
    "to_jax": Case(lambda: objects().pure(objects().params, objects().buffers, np.ones((3, 2), np.float32)),
                   files=("_interop/modules.py",)),
    "scheduler": Case(_warned(_next_epoch), files=("lr_scheduler/_base.py",)),
    "a new scheduler": Case(_first_epoch, files=("lr_scheduler/_base.py",)),
    "write while packing": Case(_write_while_packing, files=("saved_tensors.py", "_writes/inplace.py",)),
    "pack": Case(_pack, files=("saved_tensors.py",)),
    "custom function in jax": Case(_differentiate_by_jax, files=("function_traced.py",)),
    "custom function in vmap": Case(_map, files=("function_transforms.py",)),
    "module": Case(lambda: objects().net(objects().batch), files=("nn/modules/module.py",)),
    "anomaly": Case(_watched_backward, files=("autograd/engine.py",)),
    "mode's function": Case(_ask_a_mode, files=("_publish/overrides.py",)),
    "numeric gradient": Case(_numeric_gradient, files=("jacobians.py",)),
    "max_norm": Case(lambda: objects().table(torch.tensor([0, 2])), files=("nn_functional_lookup.py",)),
    "replace": Case(lambda: objects().batch._replace_(_ones(3, 2)), files=("_api/shape/copies.py",)),
    "compiler.disable": Case(torch.compiler.disable(_nothing), files=("compiler/_control.py",)),
    "family": Case(lambda: attempt(ShapeEnv(), lambda: None), files=("shape_families.py",)),
    "hub": Case(lambda: torch.hub.list(_folder()), files=("hub.py",)),
}
