"""The one table of what public functions do with tensors that carry a mask, and the refusal of all else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._core.state import state
from jaxflow._sparse.dispatch import _PROPERTY_NAMES, _key
from jaxflow._sparse.dispatch import call as _sparse_call
from jaxflow._sparse.tables import entered, tensors_in

from .parts import Masked, data_of, has_parts

#: What computes a public function, by its name: given the function on ordinary tensors, and its arguments.
TABLE: dict[str, Callable] = {}

#: Functions that do with a masked tensor what they do with any other, since they read no elements.
AS_EVER = frozenset(
    "size dim ndimension numel nelement requires_grad_ backward register_hook retain_grad "
    "register_post_accumulate_grad_hook is_floating_point is_complex is_signed element_size get_device "
    "is_same_size is_tensor is_inference is_storage __hash__ __dir__ __getattribute__ typename is_conj "
    "is_neg result_type can_cast has_names _is_view autograd.grad autograd.backward grad __len__ "
    "masked.masked_tensor masked.as_masked_tensor masked.is_masked_tensor".split()
)

#: What a property of tensors is for a masked one, by its name.
PROPERTIES: dict[str, Callable] = {}

#: Properties that read no elements; what is neither here nor there is refused.
_PROPERTIES_AS_EVER = frozenset(
    "shape dtype device ndim requires_grad grad grad_fn is_leaf name names output_nr itemsize retains_grad "
    "is_cuda is_cpu is_xpu is_mps is_meta is_quantized is_nested is_mkldnn is_sparse_csr is_sparse _version "
    "_grad _backward_hooks is_inference".split()
)


def on(*names: str) -> Callable[[Callable], Callable]:
    """Let a function do what the public functions ``names`` do with masked tensors.

    It gets the function as it is for ordinary tensors, then its arguments.
    """
    return entered(TABLE, names)


def refused(name: str) -> TypeError:
    """The error of a function that masked tensors have no form of."""
    return TypeError(f"no implementation found for 'torch.{name}' on types that carry a mask: "
                     "[MaskedTensor]. get_data(), get_mask() and to_tensor(value) give ordinary tensors")


def each(x: Any, change: Callable[[Any], Any]) -> Any:
    """``x``, or each element of the list or tuple ``x``, changed."""
    return type(x)([change(t) for t in x]) if x.__class__ in (list, tuple) else change(x)


def on_parts(original: Callable, args: tuple, kwargs: dict, change: Callable[[Any], Any] = data_of) -> Any:
    """What a function gives for the data (or what ``change`` makes) of masked tensors."""
    return original(*(each(x, change) for x in args), **{k: each(x, change) for k, x in kwargs.items()})


def call(public: Callable, original: Callable, args: tuple, kwargs: dict) -> Any:
    """What a public function does with arguments among which there are tensors of other layouts, or masked.

    Raises:
        TypeError: where masked tensors have no form of it.
    """
    if not any(t._storage.parts.__class__ is Masked for t in tensors_in(args, kwargs) if has_parts(t)):
        return _sparse_call(public, original, args, kwargs)
    owner = getattr(public, "__self__", None)
    if isinstance(owner, property):  # the accessors of attributes
        name = _PROPERTY_NAMES.get(owner, "")
        if name in _PROPERTIES_AS_EVER or public.__name__ != "__get__":
            return original(*args, **kwargs)
        if name not in PROPERTIES:
            raise refused(f"Tensor.{name}")
        return PROPERTIES[name](*args[:1])
    name = _key(public)
    if state.axes:
        raise NotImplementedError("there are no MaskedTensors inside of vmap: use masks as tensors there")
    if kwargs.get("out") is not None:
        raise NotImplementedError(f"{name}(): out= is not taken together with MaskedTensors")
    found = TABLE.get(name)
    if found is not None:
        def on_ordinary(*args: Any, **kwargs: Any) -> Any:
            sparse = any(map(has_parts, tensors_in(args, kwargs)))
            return _sparse_call(public, original, args, kwargs) if sparse else original(*args, **kwargs)
        on_ordinary.__name__ = name
        return found(on_ordinary, *args, **kwargs)
    if name in AS_EVER:
        return original(*args, **kwargs)
    raise refused(name)
