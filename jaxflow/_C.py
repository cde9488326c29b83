"""Names that programs take from ``torch._C``, where PyTorch keeps what it has written in C++."""

from __future__ import annotations

import enum
import sys as _sys

from ._core import autocast as _autocast
from ._core.autocast import is_any_enabled as _is_any_autocast_enabled
from ._core.autocast import switched_off as _switched_off
from ._core.device import accelerator, device
from ._core.linalg_error import _LinAlgError as _LinAlgError
from ._core.tensor import Tensor
from ._publish.overrides import DisableTorchFunction as DisableTorchFunction
from ._publish.overrides import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from ._publish.overrides import disabled as _disabled_torch_function_impl

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "DispatchKey", "DispatchKeySet",
           "_DisableAutocast", "_LinAlgError", "_TensorMeta",
           "_autocast_supported_devices", "_disabled_torch_function_impl", "_is_any_autocast_enabled",
           "_is_autocast_available", "_get_accelerator", "_get_tracing_state", "_log_api_usage_once"]

_TensorMeta = type(Tensor)


def _get_tracing_state() -> None:
    """None: nothing is ever traced into TorchScript."""


def _get_accelerator(check: bool | None = None) -> device:
    """The accelerator as a device, or the CPU where there is none."""
    return device(accelerator() or "cpu")


def _log_api_usage_once(event: str) -> None:
    """Nothing: jaxflow keeps no log of what is used."""


class _Functions(type):
    """A namespace of functions that a module of jaxflow has; their names may have another beginning there.

    Code that is generated from graphs names them so, as PyTorch's does.
    """

    _module: str
    _prefix = ""

    def __getattr__(cls, name: str) -> object:
        module = _sys.modules.get(f"jaxflow.{cls._module}")
        own = "logsigmoid" if name == "log_sigmoid" else name.removeprefix(cls._prefix)
        fits = name.startswith(cls._prefix) and not name.startswith("__")
        if module is None or not fits or not hasattr(module, own):
            raise AttributeError(f"torch._C.{cls.__name__} has no {name}")
        return getattr(module, own)


class _linalg(metaclass=_Functions):  # noqa: N801 - PyTorch's name of a module
    """``linalg_norm`` and all others of ``torch.linalg``."""

    _module, _prefix = "linalg", "linalg_"


class _fft(metaclass=_Functions):  # noqa: N801 - PyTorch's name of a module
    """``fft_rfft`` and all others of ``torch.fft``."""

    _module, _prefix = "fft", "fft_"


class _special(metaclass=_Functions):  # noqa: N801 - PyTorch's name of a module
    """``special_erf`` and all others of ``torch.special``."""

    _module, _prefix = "special", "special_"


class _nn(metaclass=_Functions):  # noqa: N801 - PyTorch's name of a module
    """What PyTorch's layers take from C++, and ``nn.functional``."""

    _module, _prefix = "nn.functional", ""

    @staticmethod
    def _parse_to(*args: object, **kwargs: object) -> tuple:
        """Device, dtype, non_blocking and memory format that the arguments of ``Module.to`` give."""
        from .nn.modules._convert import _parse_to  # which stands above

        return _parse_to(args, kwargs)


class _DisableAutocast(_switched_off):
    """A block in which nothing is cast, on no type of device."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(frozenset(_autocast.LOWER))


def _autocast_supported_devices() -> list[str]:
    """The types of devices that there is autocasting for."""
    return [name for name in _autocast.LOWER if name != "tpu"]


def _is_autocast_available(device_type: str) -> bool:
    """Whether there is autocasting for a type of device."""
    return _autocast.type_of(device_type) in _autocast.LOWER


class DispatchKey(enum.Enum):
    """Keys that kernels are registered for in `library`, of PyTorch's those that programs name."""

    CPU = enum.auto()
    CUDA = enum.auto()
    Meta = enum.auto()
    CompositeExplicitAutograd = enum.auto()
    CompositeImplicitAutograd = enum.auto()
    AutocastCPU = enum.auto()
    AutocastCUDA = enum.auto()
    AutocastXPU = enum.auto()


class DispatchKeySet:
    """A set of dispatch keys.

    Args:
        key: the first of them.
    """

    def __init__(self, key: DispatchKey) -> None:
        self._keys = frozenset((key,))

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        joined = DispatchKeySet(next(iter(self._keys)))
        joined._keys = self._keys | other._keys
        return joined

    def has(self, key: DispatchKey) -> bool:
        """Whether ``key`` is among them."""
        return key in self._keys

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)


class _ExcludeDispatchKeyGuard(_switched_off):
    """A block in which the autocasting that some keys stand for is off.

    Args:
        keys: keys of autocasting.

    Raises:
        NotImplementedError: for other keys.
    """

    __slots__ = ()

    def __init__(self, keys: DispatchKeySet) -> None:
        if not all(key.name.startswith("Autocast") for key in keys._keys):
            raise NotImplementedError("torch._C._ExcludeDispatchKeyGuard is supported for keys of "
                                      "autocasting only: jaxflow has no others that could be left out; call "
                                      "the kernel that is meant")
        super().__init__(frozenset(key.name.removeprefix("Autocast").lower() for key in keys._keys))
