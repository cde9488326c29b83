"""Watching the gradients that flow into and out of one call of a module."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.autograd import Function
from jaxflow.autograd.grad_mode import is_grad_enabled


class BackwardHookFunction(Function):
    """The identity, whose backward hands the gradients to a callback and passes its answer on.

    Its name is what users of PyTorch see as the ``grad_fn`` of a hooked module's output.
    """

    @staticmethod
    def forward(ctx: Any, callback: Callable, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.callback = callback
        ctx.set_materialize_grads(False)
        passed_on = tuple(t.view_as(t) for t in tensors)
        ctx.mark_non_differentiable(
            *(out for out, t in zip(passed_on, tensors) if not t.requires_grad)
        )
        return passed_on

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        return None, *ctx.callback(grads)


class GradientWatch:
    """Calls the full backward hooks of ``module`` for one call of it.

    The gradients of the outputs arrive first and are kept until those of the inputs are known.
    """

    def __init__(self, module: Any, hooks: Sequence[Callable], pre_hooks: Sequence[Callable]):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_output: tuple | None = None
        self.input_slots: list[int] | None = None
        self.n_inputs = 0

    def watch_inputs(self, args: tuple) -> tuple:
        """``args`` with their tensors passed through the identity that reports gradients."""
        self.n_inputs = len(args)
        slots = _tensor_slots(args)
        if not _needs_grad(args, slots):
            return args
        self.input_slots = slots
        return self._watch(args, slots, self._inputs_done)

    def watch_outputs(self, result: Any) -> Any:
        """``result`` with its tensors passed through the identity that reports gradients."""
        if not isinstance(result, (Tensor, tuple)):
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=2,
            )
            return result
        outputs = result if isinstance(result, tuple) else (result,)
        slots = _tensor_slots(outputs)
        if not _needs_grad(outputs, slots):
            return result

        def arrived(grads: tuple) -> tuple:
            return self._outputs_arrived(grads, slots, len(outputs))

        watched = self._watch(outputs, slots, arrived)
        return watched if isinstance(result, tuple) else watched[0]

    def _watch(self, values: tuple, slots: list[int], callback: Callable) -> tuple:
        tensors = BackwardHookFunction.apply(callback, *(values[i] for i in slots))
        watched = list(values)
        for i, tensor in zip(slots, tensors):
            watched[i] = tensor
        if hasattr(values, "_fields"):
            return type(values)(*watched)
        return tuple(watched)

    def _outputs_arrived(self, grads: tuple, slots: list[int], n_outputs: int) -> tuple:
        grad_output = _spread(grads, slots, n_outputs)
        for hook in self.pre_hooks:
            answer = hook(self.module, grad_output)
            if answer is None:
                continue
            _check_length("pre hook", "grad_output", answer, grad_output)
            grad_output = answer
        self.grad_output = grad_output
        if self.input_slots is None:
            self._no_inputs_to_wait_for()
        return tuple(grad_output[i] for i in slots)

    def _no_inputs_to_wait_for(self) -> None:
        warnings.warn(_NO_INPUT_GRADS, stacklevel=2)
        grad_input = (None,) * self.n_inputs
        for hook in self.hooks:
            answer = hook(self.module, grad_input, self.grad_output)
            if answer is None or (isinstance(answer, tuple) and all(g is None for g in answer)):
                continue
            raise RuntimeError(
                "Backward hook for Modules where no input requires gradient should always return "
                "None or None for all gradients."
            )
        self.grad_output = None

    def _inputs_done(self, grads: tuple) -> tuple:
        if self.grad_output is None:
            # These gradients reached the inputs by another way than through the outputs.
            return grads
        grad_input = _spread(grads, self.input_slots, self.n_inputs)
        for hook in self.hooks:
            answer = hook(self.module, grad_input, self.grad_output)
            if answer is None:
                continue
            _check_length("hook", "grad_input", answer, grad_input)
            grad_input = answer
        self.grad_output = None
        return tuple(grad_input[i] for i in self.input_slots)


def _tensor_slots(values: tuple) -> list[int]:
    return [i for i, value in enumerate(values) if isinstance(value, Tensor)]


def _needs_grad(values: tuple, slots: list[int]) -> bool:
    return is_grad_enabled() and any(values[i].requires_grad for i in slots)


def _spread(grads: tuple, slots: list[int], length: int) -> tuple:
    places: list[Tensor | None] = [None] * length
    for i, grad in zip(slots, grads):
        places[i] = grad
    return tuple(places)


def _check_length(which: str, what: str, answer: tuple, expected: tuple) -> None:
    if len(answer) != len(expected):
        raise RuntimeError(
            f"Backward {which} returned an invalid number of {what}, got {len(answer)}, "
            f"but expected {len(expected)}"
        )


_NO_INPUT_GRADS = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since "
    "no inputs require gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


def watch_last_node(module: Any, hooks: Sequence[Callable], args: tuple, result: Any) -> None:
    """Put hooks of the older kind on the node that made ``result``, which is all they see."""
    output = result
    while not isinstance(output, Tensor):
        if isinstance(output, dict):
            output = next(value for value in output.values() if isinstance(value, Tensor))
        else:
            output = output[0]
    node = output.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(
            lambda grad_input, grad_output, hook=hook: hook(module, grad_input, grad_output)
        )
    _warn_what_they_miss(args, result, node)


def _warn_what_they_miss(args: tuple, result: Any, node: Any) -> None:
    results = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(r, Tensor) for r in results):
        _warn_old_kind(
            "on a Module that does not return a single Tensor or a tuple of Tensors",
            "some of the grad_output",
            plural=True,
        )
    elif not all(isinstance(a, Tensor) for a in args):
        _warn_old_kind(
            "on a Module that does not take as input a single Tensor or a tuple of Tensors",
            "some of the grad_input",
            plural=True,
        )
    elif len({r.grad_fn for r in results if r.grad_fn is not None}) > 1:
        _warn_old_kind("when outputs are generated by different autograd Nodes", "some grad_output")
    else:
        inputs = {a.grad_fn for a in args if a.grad_fn is not None}
        if inputs != {n for n, _ in node.next_functions}:
            _warn_old_kind("when the forward contains multiple autograd Nodes", "some grad_input")


def _warn_old_kind(when: str, missing: str, plural: bool = False) -> None:
    subject = "non-full backward hooks" if plural else "a non-full backward hook"
    warnings.warn(
        f"Using {subject} {when} is deprecated and will be removed in future versions. This hook "
        f"will be missing {missing}. Please use register_full_backward_hook to get the documented "
        "behavior.",
        FutureWarning,
        stacklevel=2,
    )
