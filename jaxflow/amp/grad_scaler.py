"""``GradScaler``: gradients of a loss that is scaled, so that float16 does not round them to zero."""

from __future__ import annotations

import enum
import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from jaxflow import _functions as functions
from jaxflow import cuda
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow.autograd import no_grad

__all__ = ["GradScaler", "OptState"]


class OptState(enum.Enum):
    """What was done with an optimizer since the last ``update``."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    """What is kept of an optimizer between two calls of ``update``, at first."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scales a loss, and takes the scale off the gradients again before the optimizer's step.

    A step whose gradients are not all finite is skipped and the scale becomes smaller; after a number of
    steps without such a one it becomes larger. Micikevicius et al., 2018, "Mixed Precision Training".

    Args:
        device: where the gradients are: ``"cuda"`` or ``"cpu"``.
        init_scale: the first scale.
        growth_factor: what it is multiplied by to grow, more than 1.
        backoff_factor: what it is multiplied by after infinite gradients, less than 1.
        growth_interval: how many steps in a row without infinite gradients make it grow.
        enabled: False for one that does nothing.

    Raises:
        AssertionError: for factors out of range.

    Example:
        >>> model, scaler = torch.nn.Linear(1, 1), torch.amp.GradScaler("cpu", init_scale=8.0)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> scaler.scale(model(torch.ones(1, 1)).sum()).backward()
        >>> model.bias.grad
        tensor([8.])
        >>> scaler.step(optimizer)
        >>> scaler.update()
        >>> model.bias.grad, scaler.get_scale()
        (tensor([1.]), 8.0)
    """

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                          stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if not growth_factor > 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if not backoff_factor < 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker, self._growth_tracker = 0, None
        self._per_optimizer_states: dict = defaultdict(_refresh_per_optimizer_state)

    # ------------------------------------------------------------------------------------- the scale

    def _lazy_init_scale_growth_tracker(self, dev: Any) -> None:
        self._growth_tracker = functions.full((), self._init_growth_tracker, dtype=dtypes.int32, device=dev)
        self._scale = functions.full((), self._init_scale, dtype=dtypes.float32, device=dev)

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        why = ("This may indicate your script did not use scaler.scale(loss or outputs) earlier in the "
               "iteration.")
        for name in ("_scale", "_growth_tracker"):
            if getattr(self, name) is None:
                raise AssertionError(f"Attempted {funcname} but {name} is None.  {why}")
        return self._scale, self._growth_tracker

    def scale(self, outputs: Any) -> Any:
        """The outputs times the scale.

        Args:
            outputs: a tensor, or an iterable of them, which may hold further ones.

        Returns:
            The same in the same form: new tensors of the outputs' shapes and dtypes.

        Raises:
            ValueError: for what is neither.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._lazy_init_scale_growth_tracker(outputs.device)
            return outputs * self._scale.to(device=outputs.device, non_blocking=True)
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    # ------------------------------------------------------------------------------------- gradients

    def _unscale_grads_(self, optimizer: Any, inv_scale: Tensor, found_inf: Tensor,
                        allow_fp16: bool) -> dict:
        """Multiply an optimizer's gradients by ``inv_scale``; by device, whether one was not finite."""
        by_device: dict = {}
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    if param.grad is None:
                        continue
                    if not allow_fp16 and param.grad.dtype is dtypes.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    by_device.setdefault(param.grad.device, []).append(param.grad)
            found = {}
            for device, grads in by_device.items():
                found[device] = found_inf.to(device, copy=True)
                functions._amp_foreach_non_finite_check_and_unscale_(grads, found[device],
                                                                     inv_scale.to(device))
        return found

    def unscale_(self, optimizer: Any) -> None:
        """Take the scale off an optimizer's gradients, to clip or look at them before `step`.

        Args:
            optimizer: the optimizer whose parameters have the gradients.

        Raises:
            RuntimeError: the second time since the last `update`, and after `step`.
            ValueError: for gradients in float16: the weights should be float32.
        """
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        found_inf = functions.full((), 0.0, dtype=dtypes.float32, device=self._scale.device)
        # In float64 the reciprocal of a scale that is no power of two is rounded once.
        inv_scale = self._scale.double().reciprocal().float()
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inv_scale, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _check_inf_per_device(self, optimizer: Any) -> dict:
        """By device, whether an optimizer's gradients are not all finite, and keep that for the step."""
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = functions.full((), 1.0, dtype=dtypes.float32, device=scale.device)
        found_inf = functions.full((), 0.0, dtype=dtypes.float32, device=scale.device)
        found = self._unscale_grads_(optimizer, one, found_inf, True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = found
        return found

    def _found_inf_per_device(self, optimizer: Any) -> dict:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]

    # ------------------------------------------------------------------------------------------ steps

    def _maybe_opt_step(self, optimizer: Any, optimizer_state: dict, *args: Any, **kwargs: Any) -> Any:
        """What the optimizer's step returns; None where it is skipped."""
        if sum(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """Take the scale off the gradients, if that was not done, and step unless one is not finite.

        Args:
            optimizer: the optimizer.
            args: what its ``step`` gets.
            kwargs: likewise.

        Returns:
            What its ``step`` returns; None where it was skipped.

        Raises:
            RuntimeError: for a closure, and the second time since the last `update`.
            AssertionError: where nothing was scaled, or no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._step_with_scale(optimizer, state, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError("No inf checks were recorded for this optimizer.")
            result = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _step_with_scale(self, optimizer: Any, state: dict, args: tuple, kwargs: dict) -> Any:
        """The step of an optimizer that takes the scale off by itself, and skips steps."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword argument to the passed optimizer. "
                "An optimizer is given the attributes `grad_scale` and `found_inf`, two tensors, instead.",
                FutureWarning, stacklevel=3)
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale, _ = self._check_scale_growth_tracker("step")
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else scale.clone()
        optimizer.found_inf = sum(found.to(scale.device) for found in state["found_inf_per_device"].values())
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def update(self, new_scale: Any = None) -> None:
        """Choose the next scale, after the steps of all optimizers.

        Args:
            new_scale: a scale to set instead: a number, or a float32 tensor of one element.

        Raises:
            AssertionError: where no gradients were looked at since the last time, or for another tensor.
        """
        if not self._enabled:
            return
        scale, growth_tracker = self._check_scale_growth_tracker("update")
        with no_grad():
            if new_scale is not None:
                self._set_scale(scale, new_scale)
            else:
                found = [f.to(scale.device) for state in self._per_optimizer_states.values()
                         for f in state["found_inf_per_device"].values()]
                if not found:
                    raise AssertionError("No inf checks were recorded prior to update.")
                functions._amp_update_scale_(scale, growth_tracker, sum(found[1:], found[0]),
                                             self._growth_factor, self._backoff_factor, self._growth_interval)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    @staticmethod
    def _set_scale(scale: Tensor, new_scale: Any) -> None:
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
            return
        if new_scale.device.type != scale.device.type or new_scale.numel() != 1 or new_scale.requires_grad:
            raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                                 "torch.FloatTensor with requires_grad=False.")
        scale.copy_(new_scale.reshape(()))

    # --------------------------------------------------------------------------- what is read and set

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The scale as a number, for which the programs that compute it run; 1.0 where disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by to grow."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by to grow."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after infinite gradients."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by after infinite gradients."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many steps in a row without infinite gradients make the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many steps in a row without infinite gradients make the scale grow."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def is_enabled(self) -> bool:
        """Whether it does anything."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale, the factors, and how many steps had no overflow, as numbers; empty where disabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned.

        Raises:
            RuntimeError: for an empty one, of a scaler that was disabled.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a "
                               "disabled instance of GradScaler.")
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an "
                                     "iteration, or at the end after scaler.update().")
            state |= {"_init_scale": self.get_scale(), "_init_growth_tracker": self._get_growth_tracker(),
                      "_scale": None, "_growth_tracker": None}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
