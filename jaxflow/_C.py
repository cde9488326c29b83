"""Names that programs take from ``torch._C``, where PyTorch keeps what it has written in C++."""

from ._dispatch.overriding import DisableTorchFunction as DisableTorchFunction
from ._dispatch.overriding import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._dispatch.overriding import disabled as _disabled_torch_function_impl

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_disabled_torch_function_impl",
           "_get_tracing_state"]


def _get_tracing_state() -> None:
    """None: nothing is ever traced into TorchScript."""
