"""Names that programs take from ``torch._C``, where PyTorch keeps what it has written in C++."""

from ._core.device import accelerator, device
from ._core.linalg_error import _LinAlgError as _LinAlgError
from ._publish.overrides import DisableTorchFunction as DisableTorchFunction
from ._publish.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._publish.overrides import disabled as _disabled_torch_function_impl

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_LinAlgError",
           "_disabled_torch_function_impl", "_get_accelerator", "_get_tracing_state", "_log_api_usage_once"]


def _get_tracing_state() -> None:
    """None: nothing is ever traced into TorchScript."""


def _get_accelerator(check: bool | None = None) -> device:
    """The accelerator as a device, or the CPU where there is none."""
    return device(accelerator() or "cpu")


def _log_api_usage_once(event: str) -> None:
    """Nothing: jaxflow keeps no log of what is used."""


class _nn:  # noqa: N801 - PyTorch's name of a module
    """What PyTorch's layers take from C++."""

    @staticmethod
    def _parse_to(*args: object, **kwargs: object) -> tuple:
        """Device, dtype, non_blocking and memory format that the arguments of ``Module.to`` give."""
        from .nn.modules._convert import _parse_to  # which stands above

        return _parse_to(args, kwargs)
