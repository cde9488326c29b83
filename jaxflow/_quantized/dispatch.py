"""The one table of what public functions do with quantized tensors, and the refusal of all else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.layouts import QUANTIZED, has_parts
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._nested.dispatch import call as _other_call
from jaxflow._sparse.dispatch import _PROPERTY_NAMES, _key
from jaxflow._sparse.tables import OPERATORS, entered, tensors_in

from .parts import Quantized, is_quantized

#: What computes a public function, by its name: given the function on ordinary tensors, and its arguments.
TABLE: dict[str, Callable] = {}

#: What a property of tensors is for a quantized one, by its name.
PROPERTIES: dict[str, Callable] = {}

#: Functions that do with a quantized tensor what they do with any other, since they read no elements.
AS_EVER = frozenset(
    "size dim ndimension numel nelement requires_grad_ register_hook is_floating_point is_complex is_signed "
    "element_size get_device is_same_size is_tensor is_inference is_storage __hash__ __dir__ __len__ "
    "__getattribute__ typename is_conj is_neg resolve_conj resolve_neg has_names _is_view".split()
)

#: Properties that read no elements; what is neither here nor there is refused.
_PROPERTIES_AS_EVER = frozenset(
    "shape dtype device ndim requires_grad grad grad_fn is_leaf name names output_nr itemsize nbytes "
    "retains_grad is_cuda is_cpu is_xpu is_mps is_meta is_nested is_mkldnn is_sparse_csr is_sparse is_xla "
    "is_vulkan is_ipu is_maia is_mtia layout _version _base _grad _backward_hooks is_inference".split()
)


def on(*names: str) -> Callable[[Callable], Callable]:
    """Let a function do what the public functions ``names`` do with quantized tensors.

    It gets the function as it is for ordinary tensors, then its arguments.
    """
    return entered(TABLE, names)


def refused(name: str, backend: str = QUANTIZED) -> NotImplementedError:
    """The error of a function that quantized tensors have no form of."""
    name = OPERATORS.get(name) or (name.strip("_") if name.startswith("__") else name)
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend: there is no form of it "
        "for quantized tensors. Call dequantize() first")


def each(x: Any, change: Callable[[Tensor], Any]) -> Any:
    """``x`` with each quantized tensor in it, or in the list or tuple that it is, changed."""
    if x.__class__ in (list, tuple):
        return type(x)([each(t, change) for t in x])
    return change(x) if is_quantized(x) else x


def with_parts(original: Callable, change: Callable[[Tensor], Any], args: tuple, kwargs: dict) -> Any:
    """What a function gives for what ``change`` makes of the quantized tensors among its arguments."""
    return original(*(each(x, change) for x in args), **{k: each(x, change) for k, x in kwargs.items()})


def call(public: Callable, original: Callable, args: tuple, kwargs: dict) -> Any:
    """What a public function does with arguments among which there are tensors with parts.

    Raises:
        NotImplementedError: where quantized tensors have no form of it.
    """
    if not any(t._storage.parts.__class__ is Quantized for t in tensors_in(args, kwargs) if has_parts(t)):
        return _other_call(public, original, args, kwargs)
    owner = getattr(public, "__self__", None)
    if isinstance(owner, property):  # the accessors of attributes
        name = _PROPERTY_NAMES.get(owner, "")
        found = PROPERTIES.get(name)
        if found is not None and public.__name__ == "__get__":
            return found(*args[:1])
        if name in _PROPERTIES_AS_EVER or public.__name__ != "__get__":
            return original(*args, **kwargs)
        raise refused(f"Tensor.{name}")
    name = _key(public)
    if state.axes:
        raise NotImplementedError("there are no quantized tensors inside of vmap: use fake quantization")
    if kwargs.get("out") is not None:
        raise NotImplementedError(f"{name}(): out= is not taken together with quantized tensors")
    found = TABLE.get(name)
    if found is not None:
        return found(original, *args, **kwargs)
    if name in AS_EVER:
        return original(*args, **kwargs)
    raise refused(name)
