"""Activation checkpointing: forget what a part of the model saved, and run that part again in backward.

NOTE [Running again, later]
    Inside one Program the second run would be the first one: XLA finds that both compute the same and keeps
    the results until backward, which is what checkpointing was to avoid. So the second run gets its
    tensors through an operation that looks as if it might return the cotangent of the part's results:
    nothing of it can be merged with the forward, nor run before backward has come that far.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core import autocast, tree
from jaxflow._core.device import accelerator, device
from jaxflow._core.generator import Elsewhere, Positions, default_of, positions
from jaxflow._core.modes import Changed, Kept
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.user_line import user_line
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow.autograd import Function, backward, enable_grad
from jaxflow.autograd.engine import current_pass
from jaxflow.autograd.graph import saved_tensors_hooks

from ._selective import CheckpointPolicy, create_selective_checkpoint_contexts

__all__ = ["CheckpointError", "CheckpointFunction", "CheckpointPolicy", "checkpoint", "checkpoint_sequential",
           "create_selective_checkpoint_contexts", "get_device_states", "noop_context_fn",
           "set_checkpoint_debug_enabled", "set_checkpoint_early_stop", "set_device_states"]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not save what the first one did."""


def noop_context_fn() -> tuple:
    """Two contexts that do nothing: for the first run and for the second."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_DETERMINISM_CHECKS: dict[str, Callable[[Tensor], Any]] = {
    "default": lambda t: {"shape": t.shape, "dtype": t.dtype, "device": t.device},
    "none": lambda t: None,
}


def checkpoint(
    function: Callable, *args: Any, use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple] = noop_context_fn, determinism_check: str = "default",
    debug: bool = False, early_stop: bool = True, **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, saving its arguments alone; backward runs it again.

    This takes less memory and more time. Chen, Xu, Zhang and Guestrin, 2016, "Training Deep Nets with
    Sublinear Memory Cost".

    Args:
        function: a part of the model; it must compute the same when it runs again.
        args: its arguments.
        use_reentrant: True for the variant that runs a backward pass inside backward: it takes no keyword
            arguments, goes with ``backward()`` over the whole graph only, and needs an argument that
            requires grad. False is recommended. None is True, with a warning.
        context_fn: makes the contexts of the first run and of the second.
        determinism_check: ``"default"`` compares shape, dtype and device of what both runs save, ``"none"``
            compares nothing.
        debug: let errors say which lines of the program saved what.
        early_stop: end the second run as soon as everything is there again.
        preserve_rng_state: (keyword, default True) give the second run the first one's random numbers.
        kwargs: keyword arguments of ``function``.

    Returns:
        What ``function`` returns.

    Raises:
        ValueError: for options that do not go together.
        CheckpointError: in backward, when the second run saves other tensors than the first.

    Example:
        >>> from jaxflow.utils.checkpoint import checkpoint
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> y = checkpoint(lambda x: x * x * x, x, use_reentrant=False)
        >>> y.sum().backward()
        >>> x.grad
        tensor([ 3., 12.])
    """
    if use_reentrant is None:
        use_reentrant = _unnamed(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in "
            "PyTorch 2.9, calling checkpoint without use_reentrant will raise an exception."
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        _refuse(kwargs)
        if context_fn is not noop_context_fn or debug is not False:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        return CheckpointFunction.apply(function, preserve, *args)
    debug = _overrides.debug if _overrides.debug is not None else debug
    if determinism_check not in _DETERMINISM_CHECKS:
        raise ValueError(
            f"determinism_check should be one of {list(_DETERMINISM_CHECKS)}, but got {determinism_check}"
        )
    first, second = context_fn()
    early_stop = _overrides.early_stop if _overrides.early_stop is not None else early_stop
    part = _Part(function, args, kwargs, second, preserve, early_stop, determinism_check, debug)
    if not state.grad:
        return function(*args, **kwargs)
    outputs = Kept(state, "saving").run(part.run_first, first)
    part.complete = True
    part.watch(outputs)
    return outputs


def _unnamed(warning: str) -> bool:
    """Warn that the variant was not named; the one it is then."""
    warnings.warn(
        f"{warning} use_reentrant=False is recommended, but if you need to preserve the current default "
        "behavior, you can pass use_reentrant=True. Refer to docs for more details on the differences "
        "between the two variants.", UserWarning, stacklevel=3,
    )
    return True


def _refuse(kwargs: dict) -> None:
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))


class _Overrides:
    """What ``set_checkpoint_early_stop`` and ``set_checkpoint_debug_enabled`` say, if anything."""

    early_stop: bool | None = None
    debug: bool | None = None


_overrides = _Overrides()


def _overriding(name: str, value: bool | None) -> Changed:
    return Changed(_overrides, **{name: value})


def set_checkpoint_early_stop(enable: bool) -> contextlib.AbstractContextManager:
    """Inside the block, whether second runs end early, whatever was passed to ``checkpoint``."""
    return _overriding("early_stop", enable)


def set_checkpoint_debug_enabled(enabled: bool | None) -> contextlib.AbstractContextManager:
    """Inside the block, whether errors show lines, whatever was passed to ``checkpoint``; None leaves it."""
    return _overriding("debug", enabled)


# ------------------------------------------------------------------------------- running it again


def _random_numbers_of(found: Positions | None) -> Elsewhere:
    """Draw from these positions of the default generators inside the block; None for where they are."""
    return Elsewhere(found, enabled=found is not None)


def _positions(preserve: bool) -> Positions | None:
    return positions() if preserve else None


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The accelerators that tensors among the arguments are on, and the states of their generators.

    Args:
        args: tensors, trees of them, and other values. Those on the CPU do not count.

    Returns:
        The numbers of the devices, and as many states.

    Example:
        >>> torch.utils.checkpoint.get_device_states(torch.ones(2), [torch.ones(3)], 1.5)
        ([], [])
    """
    leaves, _ = tree.flatten(args)
    found = [x for x in leaves if isinstance(x, Tensor) and x.device.type not in ("cpu", "meta")]
    return [x.get_device() for x in found], [default_of(x.device).get_state() for x in found]


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *,
                      device_type: str | None = None) -> None:
    """Put back what `get_device_states` returned.

    Args:
        devices: numbers of devices.
        states: a state for each.
        device_type: the kind of the devices; the accelerator by default.

    Returns:
        None.

    Raises:
        RuntimeError: for devices that are not there.

    Example:
        >>> torch.utils.checkpoint.set_device_states([], [])
    """
    kind = device_type or accelerator() or "cuda"
    for index, one in zip(devices, states, strict=False):
        if kind != accelerator():
            raise RuntimeError(f"There are no {kind} devices here")
        default_of(device(kind, index)).set_state(one)


def _later(args: Any, cotangent: Tensor | None) -> Any:
    """The arguments, made to depend on ``cotangent``: see NOTE [Running again, later]."""

    def behind(x: Any) -> Any:
        if type(x) is not Tensor or cotangent is None:
            return x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x
        return apply(OPS["_not_before"], (x, cotangent)).requires_grad_(x.requires_grad)

    return tree.map_leaves(behind, args)


class _Done(Exception):
    """Everything was saved again: the rest of the second run is not needed."""


class _Slot:
    """What a node keeps in the place of a tensor: where to find it after the second run."""

    __slots__ = ("__weakref__", "number", "part")

    def __init__(self, part: _Part, number: int) -> None:
        self.part, self.number = part, number

    def unpack(self) -> Tensor:
        """The tensor. Runs the part again if this is the first one wanted."""
        if self.number not in self.part.found:
            self.part.run_again()
        return self.part.found.pop(self.number)


class _Part:
    """One call of a checkpointed function: its arguments, and what it saved, by number."""

    def __init__(self, function, args, kwargs, context, preserve, early_stop, check, debug) -> None:
        self.function, self.args, self.kwargs = function, args, kwargs
        self.context, self.early_stop = context, early_stop
        self.describe = _DETERMINISM_CHECKS[check]
        self.positions = _positions(preserve)
        self.casting = autocast.settings()
        self.versions = [(t, t._version) for t in tree.flatten((args, kwargs))[0]
                         if isinstance(t, Tensor) and not t.is_inference()]
        self.debug = debug
        self.saved: list = []  # a description of each tensor of the first run
        self.lines: tuple[list, list] = ([], [])  # where each run saved them
        self.found: dict[int, Tensor] = {}  # of the second run, until they are used
        self.count = 0
        self.complete = False
        self.cotangent: Tensor | None = None

    def run_first(self, context: contextlib.AbstractContextManager) -> Any:
        """The first run, which keeps nothing of what it saves."""
        with saved_tensors_hooks(self.pack, _Slot.unpack), context:
            return self.function(*self.args, **self.kwargs)

    def pack(self, t: Tensor) -> _Slot:
        """Forget a tensor of the first run."""
        self.saved.append(self.describe(t))
        if self.debug:
            self.lines[0].append(user_line())
        return _Slot(self, len(self.saved) - 1)

    def watch(self, outputs: Any) -> None:
        """Take note of the cotangent when it arrives at the outputs."""

        def arrived(cotangents: tuple) -> None:
            self.cotangent = next((c for c in cotangents if c is not None), None)

        for t in tree.flatten(outputs)[0]:
            if isinstance(t, Tensor) and t.grad_fn is not None:
                t.grad_fn.register_prehook(arrived)

    def run_again(self) -> None:
        """Fill ``found``. Raises CheckpointError when this run differs from the first."""
        for t, version in self.versions:
            if t._version != version:
                raise RuntimeError(
                    "one of the variables needed for gradient computation has been modified by an inplace "
                    f"operation: an argument of a checkpointed function, of shape {list(t.shape)}, is at "
                    f"version {t._version}; expected version {version} instead."
                )
        self.found.clear()
        self.lines[1].clear()
        self.count = 0
        args, kwargs = _later((self.args, self.kwargs), self.cotangent)
        self.cotangent = None
        Kept(state, "saving", "grad", "constant").run(
            _random_numbers_of(self.positions).run, autocast.within(self.casting).run, self._recompute, args,
            kwargs)
        if self.count != len(self.saved):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the original "
                f"forward and recomputation.\nNumber of tensors saved during forward: {len(self.saved)}\n"
                f"Number of tensors saved during recomputation: {self.count}.\n{self._help()}"
            )
        self._compare()

    def _recompute(self, args: tuple, kwargs: dict) -> None:
        with (contextlib.suppress(_Done), saved_tensors_hooks(self._keep, lambda t: t), enable_grad(),
              self.context):
            self.function(*args, **kwargs)

    def _keep(self, t: Tensor) -> Tensor:
        """Keep a tensor of the second run."""
        t = t.detach() if t.requires_grad else t
        number = self.count
        self.count += 1
        if self.debug:
            self.lines[1].append(user_line())
        if number >= len(self.saved):
            if not self.complete:  # backward within the function itself: it has not saved the rest yet
                return t
            raise CheckpointError(
                "torch.utils.checkpoint: trying to save more tensors during recomputation than during the "
                f"original forward pass.\n{self._help()}"
            )
        self.found[number] = t
        if self.early_stop and self.count == len(self.saved):
            raise _Done
        return t

    def _compare(self) -> None:
        different = [
            f"tensor at position {i}:\nsaved metadata: {before}\nrecomputed metadata: {now}\n"
            for i, before in enumerate(self.saved)
            if before != (now := self.describe(self.found[i]))
        ]
        if different:
            self.found.clear()
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different "
                f"metadata than during the forward pass.\n{''.join(different)}.\n{self._help()}"
            )

    def _help(self) -> str:
        if not self.debug:
            return (
                "Tip: pass `debug=True` to `torch.utils.checkpoint.checkpoint(...)`, or use "
                "`torch.utils.checkpoint.set_checkpoint_debug_enabled(True)`, to see which line saved which."
            )
        titles = "Saved during forward:", "Saved during recomputation:"
        return "\n".join("\n  ".join((title, *lines)) for title, lines in zip(titles, self.lines))


# --------------------------------------------------------------------------------------- reentrant


class CheckpointFunction(Function):
    """The variant that runs a backward pass inside backward."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        """Run the function without recording it; only its tensors are saved."""
        if not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            warn_once("None of the inputs have requires_grad=True. Gradients will be None")
        ctx.run_function = run_function
        ctx.positions = _positions(preserve_rng_state)
        ctx.casting = autocast.settings()
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.save_for_backward(*(args[i] for i in ctx.places))
        return run_function(*args)

    @staticmethod
    def backward(ctx, *cotangents):
        """Run it again, and go back through that."""
        if current_pass().needed is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing "
                "an `inputs` parameter to .backward(). To resolve this error, you can either set "
                "use_reentrant=False, or call .backward() without passing the `inputs` argument."
            )
        inputs = list(ctx.others)
        for i, t in zip(ctx.places, ctx.saved_tensors, strict=True):
            inputs[i] = t
        arrived = next((c for c in cotangents if c is not None), None)
        inputs, outputs = _random_numbers_of(ctx.positions).run(
            autocast.within(ctx.casting).run, _run_again, ctx.run_function, inputs, arrived)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [(t, c) for t, c in zip(outputs, cotangents, strict=True)
                 if isinstance(t, Tensor) and t.requires_grad]
        if not pairs:
            raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
        backward(*zip(*pairs, strict=True))
        return (None, None, *(t.grad if isinstance(t, Tensor) else None for t in inputs))


@enable_grad()
def _run_again(function: Callable, inputs: list, arrived: Tensor | None) -> tuple[tuple, Any]:
    """The inputs, made to depend on a cotangent that ``arrived``, and what the function makes of them."""
    later = _later(tuple(inputs), arrived)
    return later, function(*later)


# -------------------------------------------------------------------------------------- sequential


def checkpoint_sequential(functions: Any, segments: int, input: Any, use_reentrant: bool | None = None,
                          **kwargs: Any) -> Any:
    """Run a chain of functions in ``segments`` parts, all but the last checkpointed.

    Args:
        functions: a Sequential, or functions each of which takes what the one before returned.
        segments: how many parts.
        input: what the first function takes.
        use_reentrant, preserve_rng_state: as of `checkpoint`.

    Raises:
        ValueError: for other keyword arguments.
    """
    if use_reentrant is None:
        use_reentrant = _unnamed(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed "
            "explicitly. In version 2.9 we will raise an exception if use_reentrant is not passed."
        )
    preserve = kwargs.pop("preserve_rng_state", True)
    _refuse(kwargs)
    chain = list(functions)

    def part(start: int, end: int) -> Callable:
        def run(x: Any) -> Any:
            for function in chain[start:end]:
                x = function(x)
            return x

        return run

    size = len(chain) // segments
    for k in range(segments - 1):
        input = checkpoint(part(k * size, (k + 1) * size), input, use_reentrant=use_reentrant,
                           preserve_rng_state=preserve)
    return part((segments - 1) * size, len(chain))(input)
