"""The one table of what public functions do with nested tensors, and the refusal of all else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.state import state
from jaxflow._masked.dispatch import call as _masked_call
from jaxflow._sparse.dispatch import _PROPERTY_NAMES, _key
from jaxflow._sparse.tables import entered, tensors_in

from .parts import is_jagged, is_nested

#: What computes a public function, by its name, for each layout: given the function on ordinary tensors, and
#: its arguments.
JAGGED: dict[str, Callable] = {}
STRIDED: dict[str, Callable] = {}

#: Functions that do with a nested tensor what they do with any other, since they read no elements.
AS_EVER = frozenset(
    "dim ndimension requires_grad_ backward register_hook retain_grad register_post_accumulate_grad_hook "
    "is_floating_point is_complex is_signed element_size get_device is_tensor is_inference is_storage "
    "__hash__ __dir__ __getattribute__ typename is_conj is_neg result_type can_cast has_names _is_view "
    "autograd.grad autograd.backward grad masked.is_masked_tensor".split()
)

#: What a property of tensors is for a nested one, by its name.
PROPERTIES: dict[str, Callable] = {}

#: Properties that read no elements; what is neither here nor there is refused.
_PROPERTIES_AS_EVER = frozenset(
    "dtype device ndim requires_grad grad grad_fn is_leaf name names output_nr itemsize retains_grad is_cuda "
    "is_cpu is_xpu is_mps is_meta is_quantized is_mkldnn is_sparse_csr is_sparse _version _grad "
    "_backward_hooks is_inference".split()
)


#: What PyTorch's operators are called where Python's name is another one.
_OPERATORS = dict(__floordiv__="floor_divide", __rfloordiv__="floor_divide", __rtruediv__="reciprocal")


def on(*names: str, table: dict[str, Callable] = JAGGED) -> Callable[[Callable], Callable]:
    """Let a function do what the public functions ``names`` do with nested tensors of one layout.

    It gets the function as it is for ordinary tensors, then its arguments.
    """
    return entered(table, names)


def on_both(*names: str) -> Callable[[Callable], Callable]:
    """`on`, for both layouts."""
    def declare(fn: Callable) -> Callable:
        return on(*names)(on(*names, table=STRIDED)(fn))
    return declare


def refused(name: str, jagged: bool) -> NotImplementedError:
    """The error of a function that a layout has no form of."""
    name = _OPERATORS.get(name) or (name.strip("_") if name.startswith("__") else name)
    if jagged:
        return NotImplementedError(
            f"aten.{name}.default: nested tensors of the jagged layout have no form of {name}(). unbind() or "
            "to_padded_tensor(padding) give ordinary tensors")
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the 'NestedTensorCPU' backend: nested tensors of "
        f"the strided layout have no form of {name}(). unbind() or to_padded_tensor(padding) give ordinary "
        "tensors")


def call(public: Callable, original: Callable, args: tuple, kwargs: dict) -> Any:
    """What a public function does with arguments among which there are tensors of other layouts.

    Raises:
        NotImplementedError: where nested tensors have no form of it.
    """
    ours = [t for t in tensors_in(args, kwargs) if is_nested(t)]
    if not ours:
        return _masked_call(public, original, args, kwargs)
    jagged = is_jagged(ours[0])
    owner = getattr(public, "__self__", None)
    if isinstance(owner, property):  # the accessors of attributes
        name = _PROPERTY_NAMES.get(owner, "")
        if name in PROPERTIES and public.__name__ == "__get__":
            return PROPERTIES[name](*args[:1])
        if name in _PROPERTIES_AS_EVER or public.__name__ != "__get__":
            return original(*args, **kwargs)
        raise refused(name, jagged)
    name = _key(public)
    if state.axes:
        raise NotImplementedError("there are no nested tensors inside of vmap: use padded ones there")
    if kwargs.get("out") is not None:
        raise NotImplementedError(f"{name}(): out= is not taken together with nested tensors")
    if any(is_jagged(t) != jagged for t in ours):
        raise RuntimeError(f"{name}(): one nested tensor has the strided layout, another the jagged one; "
                           "both have to have the same")
    found = (JAGGED if jagged else STRIDED).get(name)
    if found is not None:
        def on_ordinary(*args: Any, **kwargs: Any) -> Any:
            return original(*args, **kwargs)
        on_ordinary.__name__ = name
        return found(on_ordinary, *args, **kwargs)
    if name in AS_EVER:
        return original(*args, **kwargs)
    raise refused(name, jagged)
