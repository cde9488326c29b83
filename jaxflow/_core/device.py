"""``device``: where a tensor lives, and which jax.Device that is."""

from __future__ import annotations

import contextlib
import functools
import re
import threading

import jax

# In PyTorch's order, which its message for an unknown type lists.
_TORCH_TYPES = (
    "cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps meta hpu "
    "mtia privateuseone"
).split()
_KNOWN_TYPES = frozenset(_TORCH_TYPES) | {"tpu"}
_INDEX = re.compile(r"0|[1-9][0-9]*")

_EXPECTED = """
 * (torch.device device)
 * (str type, int index = None)
 * (int index)
"""


class device:
    """A device type with an optional index, given as ``"cuda:0"``, ``("cuda", 0)`` or ``0``."""

    __slots__ = ("type", "index")

    def __new__(cls, *args, **kwargs):
        if len(args) == 1 and not kwargs:
            return _from_one(args[0])
        return _from_call(args, kwargs)

    def __init_subclass__(cls, **kwargs):
        raise TypeError("type 'torch.device' is not an acceptable base type")

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def _no_order(self, other):
        raise TypeError("comparison not implemented")

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self):
        if self.index is None:
            return f"device(type='{self.type}')"
        return f"device(type='{self.type}', index={self.index})"

    def __reduce__(self):
        return device, (self.type,) if self.index is None else (self.type, self.index)

    def __enter__(self):
        # NOTE [Modes and interrupts]: a tuple, which one store replaces.
        before = _local.stack
        try:
            _local.stack = (*before, self)
            return self
        except BaseException:
            _local.stack = before
            raise

    def __exit__(self, *exc):
        _local.stack = _local.stack[:-1]


_made: dict[tuple[str, int | None], device] = {}


def _make(type_, index):
    """Return the one device of this type and index, so that equality and hashing are identity."""
    found = _made.get((type_, index))
    if found is None:
        found = object.__new__(device)
        object.__setattr__(found, "type", type_)
        object.__setattr__(found, "index", index)
        found = _made.setdefault((type_, index), found)
    return found


@functools.lru_cache(maxsize=256)
def _from_string(text):
    if not text:
        raise RuntimeError("Device string must not be empty")
    type_, colon, index = text.partition(":")
    if colon and not _INDEX.fullmatch(index):
        raise RuntimeError(f"Invalid device string: '{text}'")
    if type_ not in _KNOWN_TYPES:
        raise RuntimeError(
            f"Expected one of {', '.join(_TORCH_TYPES)} device type at start of device string: "
            f"{type_}"
        )
    return _make(type_, int(index) if colon else None)


def _from_one(value):
    kind = type(value)
    if kind is device:
        return value
    if isinstance(value, str):
        return _from_string(str(value))
    if isinstance(value, int) and kind is not bool:
        return _from_index(value)
    raise TypeError(
        "device() received an invalid combination of arguments - "
        f"got ({kind.__name__}), but expected one of:{_EXPECTED}"
    )


def _from_index(index):
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    found = accelerator()
    if found is None:
        raise RuntimeError("Cannot access accelerator device when none is available.")
    return _make(found, index)


def _from_call(args, kwargs):
    given = dict(zip(("type", "index"), args, strict=False)) | kwargs
    if len(args) > 2 or "type" not in given or given.keys() - {"type", "index"}:
        if set(kwargs) == {"device"} and not args:
            return _from_one(kwargs["device"])
        got = [type(a).__name__ for a in args]
        got += [f"{name}={type(value).__name__}, " for name, value in kwargs.items()]
        raise TypeError(
            "device() received an invalid combination of arguments - "
            f"got ({', '.join(got)}), but expected one of:{_EXPECTED}"
        )
    type_, index = given["type"], given.get("index")
    if index is None and len(given) == 1:
        return _from_one(type_)
    if not isinstance(type_, str):
        name = "torch.device" if type(type_) is device else type(type_).__name__
        raise TypeError(f"device(): argument 'type' (position 1) must be str, not {name}")
    found = _from_string(type_)
    if index is None:
        return found
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError(
            f"device(): argument 'index' (position 2) must be int, not {type(index).__name__}"
        )
    if found.index is not None:
        raise RuntimeError(
            f"type (string) must not include an index because index was passed explicitly: {type_}"
        )
    if index < 0:
        raise RuntimeError("Device index must not be negative")
    return _make(found.type, index)


CPU = _make("cpu", None)
META = _make("meta", None)

# PyTorch keeps `with torch.device(...)` per thread and starts each thread on the CPU.
class _Local(threading.local):
    """The devices of the blocks that a thread is in, innermost last; the first is its default device."""

    stack: tuple[device, ...] = (CPU,)


_local = _Local()


def get_default_device() -> device:
    """Return the device of a tensor made without naming one."""
    return _canonical(_local.stack[-1])


def innermost() -> device:
    """The device as it was named last: of the innermost block, or the default."""
    return _local.stack[-1]


def set_default_device(device) -> None:
    """Set the device of tensors made without naming one; None goes back to the CPU."""
    _local.stack = (*_local.stack[:-1], CPU if device is None else _from_one(device))


def _canonical(where):
    """Return the device as tensors name it: the CPU without an index, accelerators with one."""
    if where.type in ("cpu", "meta"):
        # There is one host memory, so as in PyTorch an index on the CPU means nothing.
        return _make(where.type, None)
    if where.index is None and where.type in ("cuda", "xla", "tpu"):
        return _make(where.type, 0)
    return where


@functools.cache
def _jax_devices(platform):
    """Return jax's devices of a platform, or an empty tuple where it has none."""
    try:
        return tuple(jax.devices(platform))
    except RuntimeError:
        # The only way to find out whether jax has a platform is to try it.
        return ()


def accelerator() -> str | None:
    """Return the type name of this process's accelerator, or None on a CPU-only machine."""
    return {"gpu": "cuda", "cuda": "cuda", "rocm": "cuda", "tpu": "tpu", "cpu": None}.get(
        jax.default_backend(), "xla"
    )


def resolve(where) -> tuple[device, jax.Device | None]:
    """Return the tensor device and jax.Device that ``where`` (None, str, int or device) names.

    The jax.Device is None for ``meta``. A device that this machine lacks raises PyTorch's error.
    """
    where = _local.stack[-1] if where is None else _from_one(where)
    kind = where.type
    if kind == "cpu":
        return CPU, _jax_devices("cpu")[0]
    if kind == "meta":
        return META, None
    if kind not in ("cuda", "xla", "tpu"):
        raise NotImplementedError(
            f"jaxflow has no backend for the '{kind}' device type; use cpu, cuda, xla, tpu or meta"
        )
    where = _canonical(where)
    # "xla" is whatever XLA runs on by default here, as in torch_xla.
    devices = _jax_devices({"cuda": "gpu", "tpu": "tpu", "xla": None}[kind])
    if not devices:
        if kind == "cuda":
            raise AssertionError("Torch not compiled with CUDA enabled")
        raise RuntimeError(f"no {kind} device is visible to jax on this machine")
    if where.index >= len(devices):
        raise RuntimeError(
            f"CUDA error: invalid device ordinal\n{where} was asked for; jax sees {len(devices)}"
            if kind == "cuda"
            else f"invalid device ordinal: {where} was asked for; jax sees {len(devices)}"
        )
    return where, devices[where.index]


def placed(where: device) -> contextlib.AbstractContextManager:
    """A context in which jax puts on this device what nobody placed; no change where it does so anyway.

    A default device is part of what jax finds its traces by: naming the usual one would trace all anew.
    """
    target = resolve(where)[1]
    if jax.config.jax_default_device is None and target is jax.local_devices()[0]:
        return contextlib.nullcontext()
    return jax.default_device(target)


def named(where) -> device:
    """Return the tensor device of `resolve`; for the CPU and meta without starting jax."""
    where = _local.stack[-1] if where is None else _from_one(where)
    return _canonical(where) if where.type in ("cpu", "meta") else resolve(where)[0]


def from_jax(where: jax.Device) -> device:
    """Return the tensor device of a jax.Device."""
    return _of_jax(where.platform, where.id)


@functools.cache
def _of_jax(platform, index):
    if platform == "cpu":
        return CPU
    return _make({"gpu": "cuda", "cuda": "cuda", "rocm": "cuda"}.get(platform, platform), index)
