"""What the function names in a checkpoint stand for: making tensors out of storages."""

from __future__ import annotations

import collections
from typing import Any

from jaxflow import _functions as functions
from jaxflow._api.shape.conjugates import as_marked
from jaxflow._api.tensor.nested import NestedTensor
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.layouts import handler
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.nn import Parameter, UninitializedBuffer, UninitializedParameter

from ._names import StorageType, storage_type, value_named
from ._storages import LoadedStorage


def _rebuild_tensor_v3(
    storage: LoadedStorage,
    storage_offset: int,
    size: tuple,
    stride: tuple,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    tensor = storage.tensor(dtype, storage_offset, size, stride)
    if metadata:
        unknown = sorted({*metadata} - {"conj", "neg"})
        if unknown:
            raise RuntimeError(
                f"the checkpoint holds a tensor marked {unknown}, which no jaxflow tensor can be"
            )
        tensor = as_marked(tensor, metadata.get("conj", False), metadata.get("neg", False)).detach()
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_tensor_v2(
    storage: LoadedStorage,
    storage_offset: int,
    size: tuple,
    stride: tuple,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    geometry = (storage, storage_offset, size, stride)
    return _rebuild_tensor_v3(*geometry, requires_grad, backward_hooks, storage.dtype, metadata)


def _rebuild_tensor(storage: LoadedStorage, storage_offset: int, size: tuple, stride: tuple) -> Any:
    return storage.tensor(storage.dtype, storage_offset, size, stride)


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Any, requires_grad: bool, backward_hooks: Any, state: Any
) -> Any:
    return _with_state(Parameter(data, requires_grad), state)


def _rebuild_meta_tensor_no_storage(
    dtype: Any, size: tuple, stride: tuple, requires_grad: bool
) -> Any:
    return functions.empty_strided(
        size, stride, dtype=dtype, device="meta", requires_grad=requires_grad
    )


def _rebuild_from_type_v2(function: Any, kind: Any, args: tuple, state: Any) -> Any:
    if function is _rebuild_njt and kind is NestedTensor:  # its state are its parts
        return function(*args)
    if function not in (_rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_tensor):
        raise RuntimeError(f"a tensor cannot be rebuilt by {function}")
    tensor = function(*args)
    if type(tensor) is not kind:
        tensor = tensor.as_subclass(kind)
    return _with_state(tensor, state)


def _with_state(tensor: Any, state: Any) -> Any:
    attributes, slots = state if isinstance(state, tuple) else (state, None)
    tensor.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(tensor, name, value)
    return tensor


def _get_layout(name: str) -> Any:
    found = getattr(layouts, name.removeprefix("torch."), None)
    if not isinstance(found, layouts.layout):
        raise RuntimeError(f"the checkpoint names the layout {name}, which there is not")
    return found


def _rebuild_sparse_tensor(layout: Any, data: tuple) -> Any:
    if layout is layouts.sparse_coo:
        indices, values, size, *coalesced = data
        return functions.sparse_coo_tensor(indices, values, size,
                                           is_coalesced=bool(coalesced and coalesced[0]))
    if layout is layouts.strided:
        raise RuntimeError("the checkpoint holds a sparse tensor of layout torch.strided, which there is not")
    compressed, plain, values, size = data
    return functions.sparse_compressed_tensor(compressed, plain, values, size, layout=layout)


def _rebuild_njt(given: dict) -> Any:
    return handler("nested_jagged_again")(given)


def _rebuild_nested_tensor(*parts: Any) -> Any:
    return handler("nested_pieces_again")(*parts)


def _rebuild_qtensor(storage: LoadedStorage, storage_offset: int, size: tuple, stride: tuple,
                     quantizer_params: tuple, requires_grad: bool, backward_hooks: Any) -> Any:
    if storage.dtype not in dtypes.QUANTIZED:
        raise RuntimeError(f"the checkpoint holds a quantized tensor of {storage.dtype}, which there is not")
    ints = storage.tensor(dtypes.QUANTIZED[storage.dtype], storage_offset, size, stride)
    return handler("rebuilt")(ints, storage.dtype, quantizer_params)


def _bytearray(*args: Any) -> bytearray:
    # Of bytes, or of text and an encoding, as pickle writes it; a bare length would be memory for nothing.
    if args and not isinstance(args[0], bytes | str):
        raise RuntimeError(f"a bytearray in a checkpoint is made of bytes, not of {type(args[0]).__name__}")
    return bytearray(*args)


_FUNCTIONS = {
    "torch._utils._rebuild_tensor": _rebuild_tensor,
    "torch._utils._rebuild_tensor_v2": _rebuild_tensor_v2,
    "torch._utils._rebuild_tensor_v3": _rebuild_tensor_v3,
    "torch._utils._rebuild_sparse_tensor": _rebuild_sparse_tensor,
    "torch._utils._rebuild_nested_tensor": _rebuild_nested_tensor,
    "torch.nested._internal.nested_tensor._rebuild_njt": _rebuild_njt,
    "torch.nested._internal.nested_tensor.NestedTensor": NestedTensor,
    "torch._utils._rebuild_qtensor": _rebuild_qtensor,
    "torch._utils._rebuild_parameter": _rebuild_parameter,
    "torch._utils._rebuild_parameter_with_state": _rebuild_parameter_with_state,
    "torch._utils._rebuild_meta_tensor_no_storage": _rebuild_meta_tensor_no_storage,
    "torch._tensor._rebuild_from_type_v2": _rebuild_from_type_v2,
    "torch.serialization._get_layout": _get_layout,
    "torch.nn.parameter.Parameter": Parameter,
    "torch.nn.parameter.UninitializedBuffer": UninitializedBuffer,
    "torch.nn.parameter.UninitializedParameter": UninitializedParameter,
    "torch.Tensor": Tensor,
    "torch.Size": Size,
    "torch.device": devices.device,
    "torch.storage.UntypedStorage": StorageType(None),
}
_PLAIN = {
    "collections.OrderedDict": collections.OrderedDict,
    "collections.Counter": collections.Counter,
    "builtins.set": set,
    "builtins.bytearray": _bytearray,
    "builtins.complex": complex,
}


def _encode(text: str, encoding: str) -> bytes:
    # How protocol 2 writes bytes. Only this use of codecs is allowed, not any codec by name.
    if encoding not in ("latin1", "latin-1"):
        raise RuntimeError(f"bytes in a checkpoint are latin1, not {encoding!r}")
    return text.encode("latin1")


def known(path: str) -> tuple[bool, Any]:
    """(whether jaxflow itself has the name, what it stands for); always safe to call or use."""
    if path in _FUNCTIONS:
        return True, _FUNCTIONS[path]
    if path in _PLAIN:
        return True, _PLAIN[path]
    if path == "_codecs.encode":
        return True, _encode
    module, _, name = path.rpartition(".")
    if module == "torch":
        found = storage_type(name) or value_named(name)
        return found is not None, found
    return False, None
