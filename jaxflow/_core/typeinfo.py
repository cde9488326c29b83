"""``finfo`` and ``iinfo``: the numeric limits of a dtype."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from jaxflow._core.dtype import INTEGER, QUANTIZED, dtype, float8_e5m2fnuz, get_default_dtype, given_dtype

# PyTorch's answer for this type is half the distance from 1 to the next number.
_EPS = {float8_e5m2fnuz: 0.125}


class _TypeInfo:
    """Read-only limits of one dtype; equal to those of the same dtype, and not hashable."""

    __slots__ = ("dtype", "bits", "min", "max")
    __hash__ = None

    def _set(self, **values):
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(
            f"attribute '{name}' of 'torch.{type(self).__name__}' objects is not writable"
        )

    def __eq__(self, other):
        return type(self) is type(other) and self.dtype == other.dtype


class finfo(_TypeInfo):
    """Limits of a floating or complex dtype, by default the default dtype; else TypeError."""

    __slots__ = ("eps", "resolution", "smallest_normal", "tiny")

    def __init__(self, *args, **kwargs):
        found = _argument("finfo", args, kwargs, get_default_dtype)
        if not (found.is_floating_point or found.is_complex):
            raise TypeError(
                "torch.finfo() requires a floating point input type. "
                "Use torch.iinfo to handle 'torch.finfo'"
            )
        real = found.to_real()
        limits = _limits(real.np)
        eps = _EPS.get(real, float(limits.eps))
        normal = float(limits.smallest_normal)
        # The decimal digits that always survive, by the count of binary ones.
        digits = math.floor(-math.log2(eps) * math.log10(2))
        self._set(
            dtype=real.name,
            bits=8 * real.itemsize,
            min=float(limits.min),
            max=float(limits.max),
            eps=eps,
            resolution=float(f"1e-{digits}"),
            smallest_normal=normal,
            tiny=normal,
        )

    def __repr__(self):
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )


class iinfo(_TypeInfo):
    """Limits of an integer dtype; TypeError for any other."""

    __slots__ = ()

    def __init__(self, *args, **kwargs):
        found = _argument("iinfo", args, kwargs)
        if found.is_floating_point or found.is_complex:
            raise TypeError(
                "torch.iinfo() requires an integer input type. "
                "Use torch.finfo to handle 'torch.iinfo'"
            )
        if found.category != INTEGER:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        limits = np.iinfo(QUANTIZED.get(found, found).np)
        self._set(
            dtype=found.name, bits=8 * found.itemsize, min=int(limits.min), max=int(limits.max)
        )

    def __repr__(self):
        if self.dtype.startswith("q"):
            named = next(d.scalar_name for d in QUANTIZED if d.name == self.dtype)
            raise NotImplementedError(f"\"dtype\" not implemented for '{named}'")
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def _limits(np_dtype):
    return np.finfo(np_dtype) if np_dtype.type.__module__ == "numpy" else ml_dtypes.finfo(np_dtype)


def _argument(function, args, kwargs, default=None):
    if len(args) > 1:
        if default is None:
            raise TypeError(f"{function}() takes 1 positional argument but {len(args)} were given")
        raise TypeError(
            f"{function}() received an invalid combination of arguments - "
            f"got ({', '.join(map(_type_name, args))}), but expected one of:\n"
            " * (torch.dtype type)\n * ()\n"
        )
    if not args and "type" not in kwargs:
        if default is None or kwargs:
            raise TypeError(f'{function}() missing 1 required positional arguments: "type"')
        return default()
    value = given_dtype(args[0] if args else kwargs["type"])
    if type(value) is not dtype:
        raise TypeError(
            f"{function}(): argument 'type' (position 1) must be torch.dtype, "
            f"not {_type_name(value)}"
        )
    for name in kwargs:
        if args or name != "type":
            raise TypeError(f"{function}() got an unexpected keyword argument '{name}'")
    return value


def _type_name(value):
    return "torch.dtype" if type(value) is dtype else type(value).__name__
