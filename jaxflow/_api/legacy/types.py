"""Constructors from before `tensor` and `empty`: ``Tensor(2, 3)``, ``LongTensor([1, 2])``, ``new``.

They take either lengths, which make an uninitialised tensor, or data of one fixed dtype. An array of NumPy's
with that dtype, or another tensor, and what is made of it are one memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._api.creation.construct import as_tensor
from jaxflow._api.creation.creation import empty
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core.layout import strided
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.viewing import apply_view
from jaxflow._publish.composite import composite

_EXPECTED = """
 * (*, torch.device device = None)
 * (tuple of ints size, *, torch.device device = None)
 * (object data, *, torch.device device = None)
"""


def _construct(dtype: dtypes.dtype, place: str, args: tuple, kwargs: dict) -> Tensor:
    """What a constructor of this dtype on this type of device makes of its arguments."""
    device = kwargs.pop("device", None)
    where = devices.device(place if device is None else device)
    if where.type != place:
        raise RuntimeError(
            f"legacy constructor expects device type: {place} "
            f"but device type: {where.type} was passed"
        )
    if "data" in kwargs or "size" in kwargs:
        key = "data" if "data" in kwargs else "size"
        data = kwargs.pop(key)
        args = (*args, data if key == "data" else Size(data))
    if kwargs:
        got = [type(value).__name__ for value in args]
        got += [f"{name}={_type_name(value)}" for name, value in kwargs.items()]
        raise TypeError(
            f"new() received an invalid combination of arguments - got ({', '.join(got)}), "
            f"but expected one of:{_EXPECTED}"
        )
    if not args:
        return empty((0,), dtype=dtype, device=where)
    if _is_length(args[0]):
        return empty(_lengths(args), dtype=dtype, device=where)
    if isinstance(args[0], Size):
        return empty(args[0], dtype=dtype, device=where)
    return _from_data(args[0], dtype, where)


def _type_name(value: Any) -> str:
    return "torch.dtype" if isinstance(value, dtypes.dtype) else type(value).__name__


def _is_length(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _lengths(args: tuple) -> tuple:
    for position, value in enumerate(args, 1):
        if not _is_length(value):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {position} with error "
                f'"type must be tuple of ints,but got {type(value).__name__}"'
            )
    return args


def _from_data(data: Any, dtype: dtypes.dtype, where: devices.device) -> Tensor:
    if isinstance(data, str):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, Tensor):
        return _same(data, dtype, where)
    if isinstance(data, dict) or not hasattr(data, "__len__") or not hasattr(data, "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
    return as_tensor(data, dtype=dtype, device=where)


def _same(t: Tensor, dtype: dtypes.dtype, where: devices.device) -> Tensor:
    """A tensor on the memory of ``t``. TypeError where that has another dtype, or lies elsewhere."""
    if t.dtype is not dtype or t.device.type != where.type:
        raise TypeError(
            f"expected a tensor of {dtype} on {where.type} (got one of {t.dtype} on {t.device.type}): "
            "convert the tensor with its method to()"
        )
    return t.view_as(t)


def _new(cls: type, *args: Any, **kwargs: Any) -> Tensor:
    """``Tensor(...)``: of the default dtype, or the same elements as another tensor's."""
    if len(args) == 1 and not kwargs and isinstance(args[0], Tensor):
        made = args[0].view_as(args[0])
    else:
        made = _construct(dtypes.get_default_dtype(), "cpu", args, kwargs)
    made.__class__ = cls
    return made


Tensor.__new__ = staticmethod(_new)


@composite("method")
def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """A tensor of this one's dtype and device, of the given lengths or data; by default empty.

    An old form of `new_empty` and `new_tensor`.

    Args:
        *args: lengths as ints or one ``torch.Size``; or data: a list, another sequence, an array, or a
            tensor of the same dtype on the same device.
        **kwargs: ``size``, ``data`` or ``device`` by name.

    Returns:
        A new tensor. Of lengths its elements may be any numbers; of a tensor it is a view; without
        arguments it has the shape ``(0,)``.

    Raises:
        TypeError: for data that is no sequence, a tensor of another dtype, and other arguments.
        RuntimeError: for another type of device than this tensor's.

    Example:
        >>> x = torch.ones(2, dtype=torch.float64)
        >>> x.new([1, 2])
        tensor([1., 2.], dtype=torch.float64)
        >>> x.new(2, 3).shape
        torch.Size([2, 3])
        >>> x.new().shape
        torch.Size([0])
    """
    return _construct(self.dtype, self.device.type, args, kwargs)


@composite("method")
def as_subclass(self: Tensor, cls: type) -> Tensor:
    """The same tensor, history included, as an instance of a subclass of Tensor; else TypeError."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    made = apply_view("alias", self)
    made.__class__ = cls
    return made


class tensortype(type):
    """What ``FloatTensor`` and its like are: a dtype on a type of device.

    Each is a class, so that annotations may join it with others (``LongTensor | None``), but has no instances
    of its own: it is called to make tensors, and used in ``isinstance``.
    """

    def __new__(cls, name: str, bases: tuple = (), members: dict | None = None, **place: Any) -> tensortype:
        for base in bases:
            raise TypeError(f"type '{base._shown}' is not an acceptable base type")
        return super().__new__(cls, name, bases, members or {})

    def __init__(self, name: str, bases: tuple = (), members: dict | None = None, *,
                 dtype: dtypes.dtype, place: str) -> None:
        super().__init__(name, bases, members or {})
        self.__module__ = "jaxflow" if place == "cpu" else f"jaxflow.{place}"
        self.layout, self.dtype, self._place, self.is_cuda = strided, dtype, place, place == "cuda"

    @property
    def _shown(self) -> str:
        return f"torch.{'' if self._place == 'cpu' else self._place + '.'}{self.__name__}"

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        if self.is_cuda and devices.accelerator() != "cuda":
            raise TypeError(f"type {self._shown} not available. Torch not compiled with CUDA enabled.")
        if len(args) == 1 and isinstance(args[0], Tensor):
            if not isinstance(args[0], self):
                raise TypeError(
                    f"expected a {self._shown} (got {args[0].type()}): "
                    "convert the tensor with its method to()"
                )
            return args[0].view_as(args[0])
        return _construct(self.dtype, self._place, args, kwargs)

    def __instancecheck__(self, value: Any) -> bool:
        return (
            isinstance(value, Tensor)
            and value.dtype is self.dtype
            and value.device.type == self._place
        )

    def __repr__(self) -> str:
        return f"<class '{self._shown}'>"


_WORDS = "Byte Char Short Int Long Half BFloat16 Float Double Bool"


def of_each_dtype(cls: Callable, ending: str, place: str, words: str = _WORDS) -> dict[str, Any]:
    """The classes that ``cls`` makes for these dtypes, each by its name: the dtype's word and ``ending``."""
    found = {dtype.scalar_name: dtype for dtype in dtypes.ALL.values()}
    return {w + ending: cls(w + ending, dtype=found[w], place=place) for w in words.split()}


def _types(place: str) -> dict[str, tensortype]:
    return of_each_dtype(tensortype, "Tensor", place)


for _name, _type in _types("cpu").items():
    composite("function", name=_name)(_type)

#: The types published in ``jaxflow.cuda``.
CUDA_TYPES = _types("cuda")
