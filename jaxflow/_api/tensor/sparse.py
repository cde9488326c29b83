"""What concerns sparse layouts: their functions on dense tensors, and the refusal of all else.

Tensors here are ``torch.strided``. What PyTorch does with a dense tensor is done; what it refuses is refused
in its words; what would make a sparse tensor says so and what to do instead.
"""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

_INSTEAD = (
    "jaxflow has torch.strided tensors only. Keep the tensor dense, or put the values where their indices "
    "say: zeros(size).index_put((rows, columns), values, accumulate=True)"
)


def unsupported(name: str) -> NotImplementedError:
    """The error of the function ``name``, which would need a sparse layout."""
    return NotImplementedError(f"{name}() needs a sparse layout, and {_INSTEAD}")


# ----------------------------------------------------------------------------- what dense tensors do


@composite("method")
def to_dense(self: Tensor, dtype: Any = None, *, masked_grad: bool | None = None) -> Tensor:
    """The tensor itself, or converted to ``dtype``: it is dense already.

    Args:
        dtype: of the result; None for that of ``self``.
        masked_grad: accepted, and of no effect: it concerns sparse layouts.

    Returns:
        ``self`` without another ``dtype``, else a converted copy.

    Example:
        >>> t = torch.tensor([1, 2])
        >>> t.to_dense() is t
        True
        >>> t.to_dense(torch.float32)
        tensor([1., 2.])
    """
    return self if dtype is None else self.to(dtype)


@composite("method")
def sparse_dim(self: Tensor) -> int:
    """0: no dimension of a dense tensor is sparse."""
    return 0


@composite("method")
def dense_dim(self: Tensor) -> int:
    """The number of dimensions, all dense."""
    return self._aval.ndim


@composite("function", namespace="sparse", name="mm", aliases=(".spmm", ".dsmm"))
def product(mat1: Tensor, mat2: Tensor) -> Tensor:
    """The product of two (dense) matrices."""
    return apply(OPS["mm"], (mat1, mat2))


@composite("function", namespace="sparse", name="addmm")
def sum_with_product(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1,
                     alpha: float = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)`` of dense matrices."""
    return input.addmm(mat1, mat2, beta=beta, alpha=alpha)


# ----------------------------------------------------------------------- what PyTorch refuses as well


_OF_LAYOUT_DOC = """RuntimeError: only tensors of {layout} layout have this.

Returns:
    Nothing: there is no tensor of that layout, so each call is refused.

Raises:
    RuntimeError: always.

Example:
    >>> torch.ones(2).{name}()
    Traceback (most recent call last):
        ...
    RuntimeError: {name} expected {layout} tensor layout but got Strided
"""


def _of_layout(name: str, layout: str) -> None:
    def method(self: Tensor) -> Tensor:
        raise RuntimeError(f"{name} expected {layout} tensor layout but got Strided")

    method.__name__ = name
    method.__doc__ = _OF_LAYOUT_DOC.format(name=name, layout=layout)
    composite("method")(method)


for _name, _layout in (
    ("coalesce", "sparse coordinate"), ("is_coalesced", "sparse coordinate"),
    ("indices", "sparse coordinate"), ("values", "sparse"),
    ("crow_indices", "sparse row compressed"), ("col_indices", "sparse row compressed"),
    ("ccol_indices", "sparse column compressed"), ("row_indices", "sparse column compressed"),
):
    _of_layout(_name, _layout)


# ------------------------------------------------------------------------------ what has no layout here


_REFUSED_DOC = """NotImplementedError: there are no sparse layouts here.

Keep tensors dense. A tensor of a few values is zeros with the values put where their indices say.

Args:
    args: not looked at.
    kwargs: not looked at.

Returns:
    Nothing: each call is refused.

Raises:
    NotImplementedError: always. The message says what to do instead.

Example:
    >>> torch{name}()
    Traceback (most recent call last):
        ...
    NotImplementedError: ...() needs a sparse layout, and jaxflow has torch.strided tensors only. ...
    >>> rows, columns = torch.tensor([0, 1]), torch.tensor([2, 0])
    >>> torch.zeros(2, 3).index_put((rows, columns), torch.tensor([3.0, 4.0]), accumulate=True)
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
"""


def _refused(name: str, variants: str, namespace: str = "") -> None:
    shown = f"{namespace}.{name}" if namespace else name

    def function(*args: Any, **kwargs: Any) -> Tensor:
        raise unsupported(shown)

    function.__name__ = name
    function.__doc__ = _REFUSED_DOC.format(name=f".{shown}" if "function" in variants else f".ones(2).{name}")
    composite(variants, namespace=namespace)(function)


for _name in ("to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr",
              "to_sparse_bsc", "sparse_mask", "sparse_resize_", "sparse_resize_and_clear_", "_indices",
              "_values", "_nnz", "_coalesced_"):
    _refused(_name, "method")
for _name in ("sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor", "sparse_bsr_tensor",
              "sparse_bsc_tensor", "sparse_compressed_tensor", "hspmm", "hsmm", "saddmm"):
    _refused(_name, "function")
for _name in ("smm", "sspaddmm"):
    _refused(_name, "function method")
for _name in ("sum", "softmax", "log_softmax", "sampled_addmm", "spdiags", "spsolve"):
    _refused(_name, "function", "sparse")
