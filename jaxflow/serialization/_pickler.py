"""Writing objects: Python's pickle, in which tensors go by PyTorch's names."""

from __future__ import annotations

import pickle
import types
from collections import OrderedDict
from typing import Any

from jaxflow._api.storage.typed import TypedStorage
from jaxflow._api.storage.untyped import UntypedStorage
from jaxflow._api.tensor.nested import NestedTensor
from jaxflow._core import dtype as dtypes
from jaxflow._core.device import device as Device
from jaxflow._core.dtype import dtype as DType
from jaxflow._core.hooks import warn_if_has_hooks
from jaxflow._core.layout import layout, memory_format, qscheme, sparse_coo
from jaxflow._core.layouts import handler, has_parts
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._memory.storage_bytes import storage_nbytes
from jaxflow.nn import Parameter
from jaxflow.nn.parameter import is_lazy

from ._names import STORAGE_CLASSES, UNTYPED, GlobalName
from ._storages import StorageRef


class Pickler(pickle._Pickler):
    """Pickles into ``file`` and collects the storages of the tensors among it, in ``storages``.

    Built on the pickler written in Python: the one in C writes no name that it cannot import.
    """

    dispatch = pickle._Pickler.dispatch.copy()

    def __init__(self, file: Any, protocol: int, parts: bool = False) -> None:
        super().__init__(file, protocol)
        self._whole = (None,) if parts else ()  # in the older format a storage may be a part of another one
        self.storages: list[Any] = []  # a tensor of each; its position is the key in the archive
        self._keys: dict[int, tuple[int, Any]] = {}

    def persistent_id(self, obj: Any) -> Any:
        """A storage stays out of the pickle: ("storage", class, key, location, elements)."""
        if not isinstance(obj, StorageRef | UntypedStorage | TypedStorage):
            return None
        untyped = isinstance(obj, UntypedStorage)
        if not isinstance(obj, StorageRef):
            obj = StorageRef(obj._tensor, dtypes.uint8 if untyped else obj.dtype)
        storage, dtype = obj.tensor._storage, obj.dtype
        if id(storage) not in self._keys:
            self._keys[id(storage)] = (len(self.storages), dtype)
            self.storages.append(obj.tensor)
        key, known = self._keys[id(storage)]
        if known is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different "
                "types"
            )
        old_name = None if untyped else STORAGE_CLASSES.get(dtype.name)
        name = GlobalName("torch", old_name) if old_name else GlobalName(*UNTYPED)
        nbytes = storage_nbytes(obj.tensor)
        count = nbytes // dtype.itemsize if old_name else nbytes
        return ("storage", name, str(key), str(obj.tensor.device), count, *self._whole)

    def reducer_override(self, obj: Any) -> Any:
        """How tensors and PyTorch's value types are taken apart; all else as Python does it."""
        if isinstance(obj, Tensor):
            return _reduce_tensor(obj)
        if isinstance(obj, Size):
            return GlobalName("torch", "Size"), (tuple(obj),)
        if isinstance(obj, Device):
            args = (obj.type,) if obj.index is None else (obj.type, obj.index)
            return GlobalName("torch", "device"), args
        if is_torchs(obj):
            raise refusal("save")
        if isinstance(obj, layout):
            return GlobalName("torch.serialization", "_get_layout"), (str(obj),)
        return NotImplemented

    def save_global(self, obj: Any, name: str | None = None) -> None:
        """A class or function by its name. Raises AttributeError for one that has none."""
        if "<locals>" in getattr(obj, "__qualname__", ""):
            raise AttributeError(f"Can't pickle local object {obj.__qualname__!r}")
        super().save_global(obj, name)

    dispatch[types.FunctionType] = save_global

    def _save_name(self, obj: Any) -> None:
        module, name = (obj.module, obj.name) if type(obj) is GlobalName else ("torch", obj.name)
        memo = self.memo.get(("name", module, name))
        if memo is not None:
            self.write(self.get(memo))
            return
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        # Names are equal by their text, so they have a place of their own in the memo.
        index = len(self.memo)
        self.write(self.put(index))
        self.memo[("name", module, name)] = index

    for _kind in (GlobalName, DType, memory_format, qscheme):
        dispatch[_kind] = _save_name
    del _kind


def _reduce_tensor(t: Any) -> tuple:
    """The function and arguments that make the tensor again."""
    if t.is_leaf:
        warn_if_has_hooks(t)
    if is_lazy(t):
        return GlobalName("torch.nn.parameter", type(t).__name__), (t.requires_grad,)
    state = dict(t.__dict__)
    cls = getattr(type(t), "_stored_as", type(t))  # a class that only shows a tensor differently says so
    if isinstance(t, Parameter) and cls is Parameter:
        data = _reduce_data(t.data, False)
        args = (_Made(data), t.requires_grad, OrderedDict())
        if state:
            return GlobalName("torch._utils", "_rebuild_parameter_with_state"), (*args, state)
        return GlobalName("torch._utils", "_rebuild_parameter"), args
    made = _reduce_data(t, t.requires_grad)
    if cls is NestedTensor:
        cls = GlobalName("torch.nested._internal.nested_tensor", "NestedTensor")
    if cls is Tensor and not state:
        return made
    function, args = made
    kind = GlobalName("torch", "Tensor") if cls is Tensor else cls
    return GlobalName("torch._tensor", "_rebuild_from_type_v2"), (function, kind, args, state)


class _Made:
    """Something that is pickled as the call given here."""

    def __init__(self, reduced: tuple) -> None:
        self._reduced = reduced

    def __reduce_ex__(self, protocol: int) -> tuple:
        return self._reduced


def _reduce_data(t: Any, requires_grad: bool) -> tuple:
    if has_parts(t):
        return _reduce_parts(t)
    dtype, size, stride = t.dtype, tuple(t.size()), tuple(t.stride())
    if t.is_meta:
        name = "_rebuild_meta_tensor_no_storage"
        return GlobalName("torch._utils", name), (dtype, size, stride, requires_grad)
    args = (StorageRef(t, dtype), t.storage_offset(), size, stride, requires_grad, OrderedDict())
    marked = {name: True for name, so in (("neg", t.is_neg()), ("conj", t.is_conj())) if so}
    marks = (marked,) if marked else ()
    if dtype.name in STORAGE_CLASSES:
        return GlobalName("torch._utils", "_rebuild_tensor_v2"), (*args, *marks)
    return GlobalName("torch._utils", "_rebuild_tensor_v3"), (*args, dtype, *marks)


def _reduce_parts(t: Any) -> tuple:
    """A sparse tensor: its layout, its parts, its size and whether it is coalesced."""
    parts = t._storage.parts
    if hasattr(parts, "instead"):
        name, args = handler("nested_stored")(t)
        return GlobalName(*name.rsplit(".", 1)), args
    size = Size(t._aval.shape)
    if hasattr(parts, "mask"):
        raise NotImplementedError("a MaskedTensor is not saved: save its get_data() and its get_mask()")
    if hasattr(parts, "ints"):
        return _reduce_quantized(parts)
    tensors = tuple(_Made(_reduce_data(p, False)) for p in parts if isinstance(p, Tensor))
    last = (t.is_coalesced(),) if parts.layout is sparse_coo else ()
    return GlobalName("torch._utils", "_rebuild_sparse_tensor"), (parts.layout, (*tensors, size, *last))


def _reduce_quantized(parts: Any) -> tuple:
    """A quantized tensor: the storage of its integers under its own type, and what they stand for."""
    ints, params = parts.ints, (parts.qscheme, parts.scale, parts.zero_point)
    if parts.axis is not None:
        tensors = (_Made(_reduce_data(t, False)) for t in (parts.scale, parts.zero_point))
        params = (parts.qscheme, *tensors, parts.axis)
    args = (StorageRef(ints, parts.dtype), ints.storage_offset(), tuple(ints.size()), tuple(ints.stride()))
    return GlobalName("torch._utils", "_rebuild_qtensor"), (*args, params, False, OrderedDict())
