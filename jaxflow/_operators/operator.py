"""One registered operator: its kernels, its derivative, and what a call of it does."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

from jaxflow._core.autocast import CASTING, settings, switched_off
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.autocasting import cast_within
from jaxflow._dispatch.dispatch import apply
from jaxflow.autograd.function import Function
from jaxflow.autograd.grad_mode import is_grad_enabled, no_grad

from .schema import Schema

#: Kernels that are for all devices, in the order in which they are looked for after that of the device.
_FOR_ALL = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "")
#: What may be registered for, beside the devices' own.
KEYS = {*_FOR_ALL, "Meta", "AutocastCPU", "AutocastCUDA", "AutocastXPU"}
DEVICES = {"cpu": "CPU", "cuda": "CUDA", "xpu": "XPU", "mps": "MPS", "meta": "Meta", "tpu": "TPU"}


class Operator:
    """An operator by its qualified name, ``namespace::name``.

    Args:
        schema: what it takes; its name has no namespace.
        namespace: the library's.
        strict: backward through it raises unless a derivative was registered (else it warns, and gives none).
    """

    def __init__(self, schema: Schema, namespace: str, strict: bool = False) -> None:
        self.schema, self.namespace, self.strict = schema, namespace, strict
        self.name = schema.name
        self.kernels: dict[str, Callable] = {}
        self.fake: Callable | None = None
        self.derivative: tuple[Callable, Callable | None] | None = None

    @property
    def qualname(self) -> str:
        """``namespace::name``."""
        return f"{self.namespace}::{self.name}"

    def kernel(self, device_type: str) -> tuple[Callable, str]:
        """The kernel for tensors on a device, and the key that it was registered by."""
        if device_type == "meta" and self.fake is not None and "Meta" not in self.kernels:
            return self.fake, "Meta"
        for key in (DEVICES.get(device_type, device_type.upper()), *_FOR_ALL):
            if key in self.kernels:
                return self.kernels[key], key
        raise NotImplementedError(
            f"Could not run '{self.qualname}' with arguments from the '{device_type.upper()}' backend. It is "
            f"registered for: {', '.join(self.kernels) or 'nothing'}"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        values, keywords = self.schema.bound(args, kwargs)
        given = list(tensors_in((*values, *keywords.values())))
        if CASTING:
            cast = self._autocast_kernel(given)
            if cast is not None:
                return cast(*values, **keywords)
        run, key = self.kernel(given[0].device.type if given else "cpu")
        if key == "CompositeImplicitAutograd" and self.derivative is None:
            return run(*values, **keywords)
        if is_grad_enabled() and any(t.requires_grad for t in given) and not self.schema.is_mutable:
            return self._differentiable(run, values, keywords)
        with no_grad():
            return run(*values, **keywords)

    def _autocast_kernel(self, given: list[Tensor]) -> Callable | None:
        """What was registered for this thread's autocasting of the tensors' device, if anything was."""
        for t in given:
            if t.device.type in settings().enabled and not state.uncast:
                found = self.kernels.get("Autocast" + DEVICES.get(t.device.type, t.device.type.upper()))
                if found is not None:
                    return found
        return None

    def cast_inputs(self, device_type: str, dtype: Any) -> None:
        """Cast tensors on a type of device to a dtype inside autocast regions, and nothing in the kernel."""
        def run(*args: Any, **kwargs: Any) -> Any:
            args, kwargs = cast_within((args, kwargs), device_type, dtype, apply)
            return switched_off(frozenset((device_type,))).run(self, *args, **kwargs)

        self.kernels["Autocast" + DEVICES.get(device_type, device_type.upper())] = run

    def _differentiable(self, run: Callable, values: tuple, keywords: dict[str, Any]) -> Any:
        """The call as one node of the graph. Tensors in lists are arguments of their own to the node."""
        names = list(keywords)
        parts = [*values, *keywords.values()]
        sizes = [len(p) if _is_tensors(p) else None for p in parts]
        flat = [t for p, n in zip(parts, sizes, strict=True) for t in (p if n is not None else [p])]

        def gathered(flat: tuple) -> tuple[tuple, dict[str, Any]]:
            rest = iter(flat)
            whole = [next(rest) if n is None else [next(rest) for _ in range(n)] for n in sizes]
            cut = len(whole) - len(names)
            return tuple(whole[:cut]), dict(zip(names, whole[cut:], strict=True))

        return _node_class(self, run, gathered, sizes).apply(*flat)


def _is_tensors(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and any(isinstance(t, Tensor) for t in x)


def tensors_in(values: tuple) -> Iterator[Tensor]:
    """The tensors among arguments and in lists of them."""
    for x in values:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from (t for t in x if isinstance(t, Tensor))


def _node_class(operator: Operator, run: Callable, gathered: Callable, sizes: list[int | None]) -> type:
    def forward(*flat: Any) -> Any:
        values, keywords = gathered(flat)
        result = run(*values, **keywords)
        return tuple(result) if isinstance(result, list) else result

    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        whole = output if isinstance(output, tuple) else (output,)
        ctx.mark_non_differentiable(
            *(t for t in whole if isinstance(t, Tensor) and not (t.is_floating_point() or t.is_complex())))
        if operator.derivative is None or operator.derivative[1] is None:
            return
        values, keywords = gathered(inputs)
        kept = {"keyword_only_inputs": keywords} if keywords else {}
        operator.derivative[1](ctx=ctx, inputs=values, output=output, **kept)

    def backward(ctx: Any, *grads: Any) -> Any:
        if operator.derivative is None:
            if operator.strict:
                raise RuntimeError(
                    f"Trying to backward through {operator.qualname}.default but no autograd formula was "
                    "registered. Please use register_autograd to add one.")
            warnings.warn(f"{operator.qualname}: an autograd kernel was not registered to the Autograd "
                          "key(s) but we are trying to backprop through it.", UserWarning, stacklevel=2)
            return (None,) * sum(1 if n is None else n for n in sizes)
        found = operator.derivative[0](ctx, *grads)
        found = list(found) if isinstance(found, (tuple, list)) and len(sizes) > 1 else [found]
        found += [None] * (len(sizes) - len(found))  # those of arguments by keyword
        flat: list = []
        for grad, n in zip(found, sizes, strict=True):
            flat += [grad] if n is None else [None] * n if grad is None else list(grad)
        return tuple(flat)

    return type(f"GeneratedBackwardFor_{operator.namespace}_{operator.name}_default", (Function,), {
        "forward": staticmethod(forward), "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward), "generate_vmap_rule": True})
