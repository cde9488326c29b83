"""The one table of what public functions do with sparse tensors, and the refusal of all else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from jaxflow._core.layouts import PartsStorage, backend_of
from jaxflow._core.levels import LEVELS
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._publish.overrides import name_of

from .tables import OPERATORS, entered, tensors_in

#: What computes a public function, by its name, for each family of layouts.
COO: dict[str, Callable] = {}
COMPRESSED: dict[str, Callable] = {}

#: Functions that do with a sparse tensor what they do with any other, since they read no elements; those
#: of ``torch.sparse`` call functions of this folder themselves.
AS_EVER = frozenset(
    "size dim ndimension numel nelement requires_grad_ backward register_hook retain_grad "
    "register_post_accumulate_grad_hook is_floating_point is_complex is_signed element_size get_device "
    "is_same_size is_tensor is_inference is_storage __hash__ "
    "__dir__ __getattribute__ typename is_conj is_neg resolve_conj "
    "resolve_neg to result_type can_cast has_names rename cpu cuda float double half bfloat16 long int "
    "short char byte bool cfloat cdouble sparse_mm "
    "_is_view _make_subclass as_subclass sparse.mm spmm dsmm sparse.addmm sparse.sum sparse.softmax "
    "sparse.log_softmax "
    "sparse.sampled_addmm sparse.spsolve sparse.as_sparse_gradcheck sparse_coo_tensor sparse_csr_tensor "
    "sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor sparse_compressed_tensor hsmm saddmm embedding "
    "embedding_bag autograd.grad autograd.backward grad masked.masked_tensor masked.as_masked_tensor "
    "masked.is_masked_tensor".split()
)

#: Names under which a namespace's functions are those of the top namespace.
_SAME = ("", "Tensor", "special", "nn.functional")

#: What a property of tensors is for a sparse one, by its name; other properties are as ever.
PROPERTIES: dict[str, Callable] = {}


def on(*names: str, table: dict[str, Callable] = COO) -> Callable[[Callable], Callable]:
    """Let a function do what the public functions ``names`` do with tensors in coordinates."""
    return entered(table, names)


def refused(name: str, backend: str) -> NotImplementedError:
    """The error of an operation that a layout has no form of."""
    name = OPERATORS.get(name) or (name.strip("_") if name.startswith("__") else name)
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend: there is no form of it "
        "for this layout. Convert the sparse tensor with to_dense() first")


def _key(public: Callable) -> str:
    """``add`` of ``torch.add`` and ``Tensor.add``, ``sparse.mm`` of ``torch.sparse.mm``."""
    place, _, name = name_of(public).removeprefix("torch.").rpartition(".")
    return name if place in _SAME or place == "torch" else f"{place}.{name}"


def _sparse_ones(args: tuple, kwargs: dict) -> Iterator[Any]:
    return (t._storage.parts for t in tensors_in(args, kwargs) if t._storage.__class__ is PartsStorage)


def _refuse_transforms(args: tuple, kwargs: dict) -> None:
    """Refuse tangents and the examples of ``vmap``, which sparse tensors have no form of."""
    tensors = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
    if state.axes or any(t._tangents for t in tensors):
        raise NotImplementedError(
            "sparse tensors take no part in vmap and forward mode: use to_dense() first")


def call(public: Callable, original: Callable, args: tuple, kwargs: dict) -> Any:
    """What a public function does with arguments among which there are tensors of other layouts.

    Raises:
        NotImplementedError: where their layouts have no form of it.
    """
    owner = getattr(public, "__self__", None)
    if isinstance(owner, property):  # the accessors of attributes
        name = _PROPERTY_NAMES.get(owner, "")
        found = PROPERTIES.get(name) if public.__name__ == "__get__" else None
        return original(*args, **kwargs) if found is None else found(*args[:1])
    name = _key(public)
    if kwargs.get("out") is not None:
        raise NotImplementedError(
            f"{name}(): out= is not taken together with sparse tensors; copy_() the result")
    if LEVELS or state.axes:
        _refuse_transforms(args, kwargs)
    parts = list(_sparse_ones(args, kwargs))
    other = next((p for p in parts if p.layout.name != "sparse_coo"), None)
    found = (COO if other is None else COMPRESSED).get(name)
    if found is None and name in AS_EVER:
        return original(*args, **kwargs)
    if found is None:
        raise refused(name, backend_of(other or parts[0]))
    return found(*args, **kwargs)


_PROPERTY_NAMES = {x: name for name, x in vars(Tensor).items() if isinstance(x, property)}
