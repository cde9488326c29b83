"""What types promote to, and the process-wide defaults: type and device of new tensors."""

from __future__ import annotations

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import promotion
from jaxflow._core.dtype import set_default_dtype
from jaxflow._core.promotion import SCALAR, TENSOR, ZERODIM, can_cast, promote_types
from jaxflow._core.tensor import Tensor
from jaxflow._core.warning import is_warn_always_enabled, set_warn_always, warn_once
from jaxflow._publish.composite import composite

for _fn in (
    can_cast,
    promote_types,
    set_default_dtype,
    set_warn_always,
    is_warn_always_enabled,
    devices.get_default_device,
    devices.set_default_device,
):
    composite("function")(_fn)

_OPERAND_NAMES = (("tensor", "other"), ("scalar", "tensor"), ("scalar1", "scalar2"))
_SIGNATURES = """
 * (Tensor tensor, Tensor other)
 * (Number scalar, Tensor tensor)
 * (Tensor tensor, Number other)
 * (Number scalar1, Number scalar2)
"""


@composite("function")
def result_type(*args, **kwargs):
    """Return the dtype of arithmetic on two tensors or Python numbers; TypeError for others."""
    given = list(args)
    for names in _OPERAND_NAMES:
        if kwargs and kwargs.keys() == set(names[len(args) :]):
            given += [kwargs[name] for name in names[len(args) :]]
    operands = [_operand(value) for value in given]
    if len(operands) != 2 or None in operands:
        got = [type(value).__name__ for value in args]
        got += [f"{name}={type(value).__name__}, " for name, value in kwargs.items()]
        raise TypeError(
            "result_type() received an invalid combination of arguments - "
            f"got ({', '.join(got)}), but expected one of:{_SIGNATURES}"
        )
    return promotion.result_type(operands)


def _operand(value):
    if isinstance(value, Tensor):
        return value.dtype, TENSOR if value.ndim else ZERODIM
    try:
        return promotion.scalar_dtype(value), SCALAR
    except TypeError:
        return None


_TENSOR_TYPES = {
    "torch.HalfTensor": dtypes.float16,
    "torch.BFloat16Tensor": dtypes.bfloat16,
    "torch.FloatTensor": dtypes.float32,
    "torch.DoubleTensor": dtypes.float64,
}


@composite("function")
def set_default_tensor_type(t, /) -> None:
    """Set the default dtype by the name of a legacy CPU tensor type; TypeError for other names."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
        "torch.set_default_dtype() and torch.set_default_device() as alternatives.",
    )
    found = _TENSOR_TYPES.get(t if isinstance(t, str) else f"torch.{getattr(t, '__name__', '')}")
    if found is None:
        what = "" if isinstance(t, str) else "invalid type object: "
        raise TypeError(f"{what}only floating-point types are supported as the default type")
    set_default_dtype(found)
