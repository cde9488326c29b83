"""The attributes of tensors, and how their numbers get out."""

from __future__ import annotations

import copy as _copy
import textwrap
from sys import getrefcount
from typing import Any

import jax.core as jax_core
import numpy as np

from jaxflow._api.creation.construct import from_numpy
from jaxflow._api.shape.conjugates import is_conj, is_neg
from jaxflow._api.shape.copies import NO_DATA
from jaxflow._core import dtype as dtypes
from jaxflow._core import geometry, printing
from jaxflow._core.arguments import without_tensor
from jaxflow._core.attributes import read_only
from jaxflow._core.device import CPU
from jaxflow._core.fields import init_requires_grad, init_storage, set_grad
from jaxflow._core.layout import channels_last_3d, contiguous_format, preserve_format, strided
from jaxflow._core.levels import FORWARD
from jaxflow._core.memory_errors import check_sizes
from jaxflow._core.shared import HostValue, unshared
from jaxflow._core.size import Size
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor, ViewInfo, make, version_cell
from jaxflow._core.value import SMALL, Storage, Untracked, Value, as_number, owned
from jaxflow._core.warning import warn_once
from jaxflow._dispatch.dispatch import plan_of, strides_of
from jaxflow._dispatch.viewing import rows
from jaxflow._memory.addresses import address_of
from jaxflow._memory.lending import TEMPORARY, copied_alone, lend
from jaxflow._publish.composite import composite
from jaxflow._publish.overrides import overrides_are_installed
from jaxflow._transforms.batching import NO_NUMBERS, NO_STORAGE, Batched, refuse_batched
from jaxflow._views.chain import is_marked
from jaxflow._views.history import refresh_history
from jaxflow._views.reading import number_on_host, shown_on_host
from jaxflow._views.values import value_of

# --------------------------------------------------------------------------------------- properties


def _property(fn) -> None:
    setattr(Tensor, fn.__name__, read_only(fn.__name__, fn))


def _shape(self) -> Size:
    return Size.trusted(self._aval.shape)


Tensor.shape = read_only("shape", _shape, "The extents, as a Size.")
Tensor.dtype = read_only("dtype", lambda self: self._aval.dtype, "The dtype of the elements.")
Tensor.device = read_only("device", lambda self: self._aval.device, "Where the elements live.")
Tensor.ndim = read_only("ndim", lambda self: self._aval.ndim, "The number of dimensions.")


@_property
def layout(self):
    """The memory layout: ``torch.strided``, or that of a sparse tensor."""
    return strided


@_property
def itemsize(self) -> int:
    """Bytes of one element."""
    return self._aval.dtype.itemsize


@_property
def nbytes(self) -> int:
    """Bytes of all elements."""
    return self._aval.numel * self._aval.dtype.itemsize


@_property
def _version(self) -> int:
    """How often the tensor, its views or its base were written to."""
    cell = version_cell(self)
    if cell.__class__ is Untracked:
        raise RuntimeError("Inference tensors do not track version counter.")
    return cell[0]


@_property
def _base(self):
    """The tensor that autograd records this one as a view of; None for a base."""
    return None if self._view is None else self._view.base


def _flag(name: str, fn, doc: str) -> None:
    setattr(Tensor, name, read_only(name, fn, doc))


for _name in ("is_sparse", "is_quantized", "is_mkldnn", "is_nested", "is_sparse_csr", "is_vulkan",
              "is_mps", "is_ipu", "is_xpu", "is_maia", "is_mtia"):
    _flag(_name, lambda self: False, "Always False: there are no tensors of this kind here.")
_flag("is_cuda", lambda self: self._aval.device.type == "cuda", "Whether it lives on a GPU.")
_flag("is_cpu", lambda self: self._aval.device.type == "cpu", "Whether it lives on the host.")
_flag("is_xla", lambda self: self._aval.device.type == "xla", "Whether it lives on an XLA device.")
_flag("is_meta", lambda self: self._aval.device.type == "meta", "Whether it has no data.")


# ------------------------------------------------------------------------------------------ queries


@composite("method")
def size(self, dim: int | None = None, *, axis: int | None = None):
    """The shape, or its extent along ``dim``. Raises IndexError for a dimension that is not there.

    Args:
        dim: a dimension; negative counts from the last. None for all of them.
        axis: another name of ``dim``.

    Returns:
        A ``torch.Size``, which is a tuple; with ``dim`` an integer.

    Raises:
        IndexError: for a dimension that is not there.

    Example:
        >>> t = torch.zeros(2, 3)
        >>> t.size()
        torch.Size([2, 3])
        >>> t.size(-1)
        3
    """
    shape = self._aval.shape
    if dim is None:
        if axis is None:
            return Size.trusted(shape)
        dim = axis
    return shape[geometry.wrap_dim(dim, len(shape), wrap_scalar=False)]


@composite("method", aliases=("ndimension",))
def dim(self) -> int:
    """The number of dimensions.

    Returns:
        An integer, 0 for a single number.

    Example:
        >>> torch.zeros(2, 3).dim()
        2
        >>> torch.tensor(5).dim()
        0
    """
    return self._aval.ndim


@composite("function method", aliases=("nelement",))
def numel(input) -> int:
    """The number of elements.

    Args:
        input: a tensor of any shape.

    Returns:
        The product of the extents, an integer; 1 for a 0-d tensor.

    Example:
        >>> torch.zeros(2, 3).numel()
        6
        >>> torch.zeros(0, 3).numel()
        0
    """
    try:
        return input._aval.numel
    except AttributeError:
        return without_tensor(numel, input)


@composite("method")
def stride(self, dim: int | None = None, *, axis: int | None = None):
    """How many elements lie between neighbours, for every dimension or along ``dim``.

    Args:
        dim: a dimension; negative counts from the last. None for all of them.
        axis: another name of ``dim``.

    Returns:
        A tuple of integers; with ``dim`` one integer.

    Raises:
        IndexError: for a dimension that is not there.

    Example:
        >>> t = torch.zeros(2, 3)
        >>> t.stride()
        (3, 1)
        >>> t.t().stride(), t[:, ::2].stride(-1)
        ((1, 3), 2)
    """
    dim = axis if dim is None else dim
    strides = strides_of(self)
    return strides if dim is None else strides[geometry.wrap_dim(dim, len(strides), wrap_scalar=False)]


@composite("method")
def storage_offset(self) -> int:
    """Where in its storage the tensor starts, in elements."""
    return plan_of(self).offset


@composite("method")
def element_size(self) -> int:
    """Bytes of one element.

    Returns:
        An integer, such as 4 for float32.

    Example:
        >>> torch.zeros(3).element_size()
        4
        >>> t = torch.zeros(2, 3, dtype=torch.float64)
        >>> t.numel() * t.element_size()
        48
    """
    return self._aval.dtype.itemsize


@composite("method")
def data_ptr(self) -> int:
    """Where the first element lies in memory; 0 where there is none.

    What the tensor shows is computed first. Its bytes can be read there until the next write to it, and
    written there as long as NumPy shares the memory, by `numpy` or ``from_numpy``.

    Returns:
        An address, an integer; 0 for no elements, and for meta tensors.

    Example:
        >>> t = torch.zeros(2, 3)
        >>> t[1].data_ptr() - t.data_ptr()
        12
        >>> t.view(6).data_ptr() == t.data_ptr()
        True
    """
    if not self._aval.numel or self._aval.device.type == "meta":
        return 0
    return address_of(self) + plan_of(self).offset * self._aval.dtype.itemsize


@composite("method")
def is_contiguous(self, memory_format=contiguous_format) -> bool:
    """Whether the elements lie in row-major order without gaps (or in ``memory_format``).

    Args:
        memory_format: ``torch.channels_last`` (4 dimensions) or ``torch.channels_last_3d`` (5 dimensions)
            to check for that order.

    Returns:
        A bool; False for a channels-last format with another number of dimensions.

    Example:
        >>> t = torch.zeros(2, 3)
        >>> t.is_contiguous(), t.t().is_contiguous(), t[:, :2].is_contiguous()
        (True, False, False)
    """
    if memory_format in (contiguous_format, preserve_format):
        return self._stride is None or geometry.is_contiguous(self._aval.shape, self._stride)
    rank = 5 if memory_format is channels_last_3d else 4
    return self._aval.ndim == rank and geometry.is_channels_last(self._aval.shape, strides_of(self))


@composite("function method")
def is_floating_point(input) -> bool:
    """Whether the dtype is real floating point.

    Args:
        input: a tensor of any dtype.

    Returns:
        True for float64, float32, float16, bfloat16 and the float8 dtypes; False for complex numbers,
        integers and bools.

    Example:
        >>> torch.tensor([1.5]).is_floating_point(), torch.tensor([1]).is_floating_point()
        (True, False)
        >>> torch.tensor([1j]).is_floating_point()
        False
    """
    try:
        return input._aval.dtype.is_floating_point
    except AttributeError:
        return without_tensor(is_floating_point, input)


@composite("function method")
def is_complex(input) -> bool:
    """Whether the dtype is complex."""
    try:
        return input._aval.dtype.is_complex
    except AttributeError:
        return without_tensor(is_complex, input)


@composite("function method")
def is_signed(input) -> bool:
    """Whether the dtype can hold negative numbers."""
    try:
        return input._aval.dtype.is_signed
    except AttributeError:
        return without_tensor(is_signed, input)


@composite("function")
def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor.

    Args:
        obj: anything.

    Returns:
        A bool: the same as ``isinstance(obj, torch.Tensor)``.

    Example:
        >>> torch.is_tensor(nn.Parameter(torch.zeros(1)))
        True
        >>> torch.is_tensor(np.zeros(1))
        False
    """
    return isinstance(obj, Tensor)


@composite("function method")
def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not zero. Raises RuntimeError for another number of elements."""
    if input._aval.numel != 1:
        raise RuntimeError(_ambiguous(input))
    return bool(input.item())


@composite("method")
def is_set_to(self, tensor) -> bool:
    """Whether both show the same storage in the same layout, neither conjugated nor negated."""
    return (self._storage is tensor._storage and self._aval is tensor._aval
            and strides_of(self) == strides_of(tensor)
            and plan_of(self).offset == plan_of(tensor).offset
            and not (is_marked(self) or is_marked(tensor)))


@composite("method")
def _is_view(self) -> bool:
    return self._view is not None and self._view.base is not None


# ------------------------------------------------------------------------------------ numbers out


@composite("method")
def _value_array(self):
    """The jax array of what the tensor shows; runs what is pending."""
    value = value_of(self)
    array = value.get()
    value.shared = True
    return array


@composite("method")
def jax(self):
    """The tensor's elements as a jax array, shared and never changed by later writes to the tensor."""
    return self._value_array()


def host(t: Tensor, *, spread: bool = True) -> np.ndarray:
    """The elements as a read-only NumPy array, without copying where the device is the host.

    What is computed of them needs memory for all: with ``spread`` those of a view that no memory holds are
    refused. OutOfMemoryError.
    """
    if t._view is not None:
        if spread and t._view.plan.spread:
            check_sizes("clone", (t._aval,))
        found = _as_it_lies(t)
        if found is not None and found.nbytes <= SMALL:
            return owned(found)
        if found is not None:
            base = t._storage.value
            base.shared = True  # before it is read for good: from now on nobody gives its memory away
            found = shown_on_host(t)
            if found is not None and base is t._storage.value:
                return found
    value = value_of(t)
    value.shared = True
    return value.host()


def _as_it_lies(t: Tensor) -> np.ndarray | None:
    """What a view shows, in its storage's memory; None where it has to be computed.

    Of a view that memory does not hold the storage is waited for.
    """
    if t._view.plan.spread and t._storage.value.__class__ is Value:
        t._storage.value.settled()
    return shown_on_host(t)


@composite("method", checks=False)  # a frame in between would hold a temporary, and it counts who does
def numpy(self, *, force: bool = False) -> np.ndarray:
    """The tensor as a NumPy array of the same memory: what is written to either shows in the other.

    With ``force`` a tensor that has to be computed first, or lies elsewhere, is copied.

    Args:
        force: True to detach, to copy to the host and to resolve views first where that is needed; the
            array need not share memory then.

    Returns:
        A NumPy array of the same shape and dtype.

    Raises:
        RuntimeError: when the tensor requires grad (use ``detach()`` or ``force=True``), or is a conjugate
            or a negative view (use ``resolve_conj()``, ``resolve_neg()`` or ``force=True``).
        TypeError: for a dtype NumPy does not have, or a tensor on an accelerator.

    Example:
        >>> t = torch.zeros(3)
        >>> array = t.numpy()
        >>> array[0] = 5
        >>> t
        tensor([5., 0., 0.])
        >>> torch.ones(2, requires_grad=True).numpy(force=True).tolist()
        [1.0, 1.0]
    """
    _history(self)
    refuse_batched(NO_STORAGE, self)
    if self._requires_grad and not force and state.grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if self._aval.device.type != "cpu" and not force:
        raise TypeError(
            f"can't convert {self._aval.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            "the tensor to host memory first."
        )
    if self._view is not None and not force:
        _check_resolved(self)
    if self._aval.dtype is dtypes.bfloat16 or self._aval.dtype.itemsize == 1 and (
        self._aval.dtype.is_floating_point
    ):
        raise TypeError(f"Got unsupported ScalarType {self._aval.dtype.scalar_name}")
    if self._aval.device is CPU and not is_marked(self):
        found = copied_alone(self) if getrefcount(self) <= TEMPORARY else None
        if found is None:
            found = lend(self, fixed=True)
        if found is not None:
            return found
    return np.array(host(self, spread=False))


def _check_resolved(t: Tensor) -> None:
    """Refuse to show as a NumPy array what no strides can show. RuntimeError."""
    for name, kind, marked in (("conj", "conjugate", is_conj(t)), ("neg", "negative", is_neg(t))):
        if marked:
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {kind} bit set. Use tensor.resolve_{name}().numpy() "
                "instead."
            )


def _array(self, dtype=None, copy=None):
    array = self.numpy()
    if copy:
        return np.array(array, dtype)  # one that may be written to
    return np.asarray(array, dtype, copy=copy)


def _array_wrap(self, array, context=None, return_scalar=False):
    """What NumPy's functions make of a result: a tensor; bools as uint8, as in PyTorch."""
    return from_numpy(array.astype(np.uint8) if array.dtype == np.bool_ else array)


Tensor.__array__ = _array
Tensor.__array_wrap__ = _array_wrap
Tensor.__array_priority__ = 1000


@composite("method")
def item(self):
    """The one element as a Python number. Raises RuntimeError for another number of elements.

    It waits until the element is computed. There is no gradient through a Python number.

    Returns:
        A bool, int, float or complex number.

    Raises:
        RuntimeError: for another number of elements, and for a meta tensor, which has no data.

    Example:
        >>> torch.tensor([[2.5]]).item()
        2.5
        >>> torch.tensor([1, 2, 3]).sum().item()
        6
    """
    if self._aval.numel != 1:
        refuse_batched(NO_NUMBERS, self)
        raise RuntimeError(
            f"a Tensor with {self._aval.numel} elements cannot be converted to Scalar"
        )
    if self._aval.device.type == "meta":
        raise RuntimeError("Tensor.item() cannot be called on meta tensors")
    if self._view is not None:
        found = number_on_host(self)
        if found is not None:
            return found
    value = value_of(self)
    producer = value.producer if value.__class__ is Value else None
    if producer is not None:
        followed = producer[0].program.number(value, producer[1])
        if followed is not None:
            return followed
    return as_number(value.host())


@composite("method")
def tolist(self):
    """The elements as nested lists of Python numbers; a number for a 0-d tensor.

    It waits until the elements are computed.

    Returns:
        A list, nested as deep as there are dimensions, of bools, ints, floats or complex numbers.

    Raises:
        NotImplementedError: for a meta tensor, which has no data.

    Example:
        >>> torch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        >>> torch.tensor(0.5).tolist()
        0.5
    """
    if self._aval.device.type == "meta":
        raise NotImplementedError(NO_DATA)
    refuse_batched(NO_STORAGE, self)
    array = None if self._view is None else shown_on_host(self)
    if array is None:
        array = value_of(self).host()
    return (array if array.dtype.kind in "biufc" else array.astype(np.float32)).tolist()


def _ambiguous(t: Tensor) -> str:
    if t._aval.numel == 0:
        return "Boolean value of Tensor with no values is ambiguous"
    return "Boolean value of Tensor with more than one value is ambiguous"


def _bool(self) -> bool:
    if self._aval.numel != 1:
        raise RuntimeError(_ambiguous(self))
    if self._view is not None:
        found = number_on_host(self)
        if found is not None:
            return bool(found)
    if value_of(self).__class__ is Batched:
        raise RuntimeError(
            "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We "
            "don't support that yet: the examples may want different branches. Compute both and choose "
            "with torch.where."
        )
    return bool(self.item())


def _index(self) -> int:
    if self._aval.numel != 1 or self._aval.dtype.category > dtypes.INTEGER:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


def _len(self) -> int:
    if not self._aval.shape:
        raise TypeError("len() of a 0-d tensor")
    return self._aval.shape[0]


def _iter(self):
    plain = self.__class__ is Tensor and not overrides_are_installed()
    if not (self._aval.ndim if plain else self.dim()):  # overrides are called
        raise TypeError("iteration over a 0-d tensor")
    found = rows(self) if plain else None
    return iter(self.unbind(0)) if found is None else found


def _contains(self, element) -> bool:
    if isinstance(element, (Tensor, int, float, complex, bool)):
        return bool((element == self).any().item())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


def _reversed(self) -> Tensor:
    return self.flip(0) if self._aval.shape else self


def _to_number(kind, c_name: str = ""):
    def convert(self):
        if kind is not int and self.requires_grad:
            warn_once(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected "
                "behavior.\nConsider using tensor.detach() first."
            )
        if self._aval.numel != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        number = self.item()
        if c_name and isinstance(number, complex):
            if number.imag:
                raise RuntimeError(f"value cannot be converted to type {c_name} without overflow")
            number = number.real
        return kind(number)

    convert.__name__ = f"__{kind.__name__}__"
    convert.__module__, convert.__qualname__ = "jaxflow", f"Tensor.{convert.__name__}"
    return convert


Tensor.__bool__ = _bool
Tensor.__index__ = _index
Tensor.__int__ = _to_number(int, "int64_t")
Tensor.__float__ = _to_number(float, "double")
Tensor.__complex__ = _to_number(complex)
Tensor.__len__ = _len
Tensor.__reversed__ = _reversed
Tensor.__iter__ = _iter
Tensor.__contains__ = _contains


# ------------------------------------------------------------------------------------------ printing


def _history(t: Tensor) -> None:
    """Bring ``grad_fn`` and ``requires_grad`` of a view up to date."""
    if t._view is not None and t._view.seen_version != t._view.version[0]:
        refresh_history(t)


def _repr(
    self, *, tensor_contents: str | None = None, name: str | None = None, dtype_text: str | None = None
) -> str:
    held = self._storage.value
    if held.__class__ is Batched:
        return _batched_repr(value_of(self))
    if self._aval is None or held.__class__ is not HostValue and isinstance(held.array, jax_core.Tracer):
        # Inside a jax transformation, or in a message of jax's about one.
        return f"tensor(<{held.array!r}>)"
    _history(self)
    node, device = self._grad_fn, self._aval.device
    # Tensor and Parameter print as "tensor", every other class under its own name.
    name = name or type(self).__dict__.get("_repr_name", type(self).__name__)
    text = printing.tensor_repr(
        None if device.type == "meta" else array_to_print(self),
        self._aval.dtype,
        shape=self._aval.shape,
        requires_grad=self._requires_grad,
        grad_fn_name=None if node is None else node.name().rpartition(":")[2],
        tangent=next((repr(t) for t in FORWARD.tangents_of(self).values() if t is not None), None),
        device=device,
        type_name=name,
        contents=tensor_contents,
        dtype_text=dtype_text,
    )
    # Set on parameters, and on tensors of other classes that a module took as its parameters.
    is_parameter = getattr(self, "_is_param", False)
    return f"Parameter({text})" if is_parameter and name != "tensor" else text


def _batched_repr(value: Batched) -> str:
    text = repr(make(value.inner))
    for i in range(len(value.axes)):
        text = f"BatchedTensor(lvl={i + 1}, bdim=0, value=\n{textwrap.indent(text, '    ')}\n)"
    return text


def array_to_print(t: Tensor):
    found = None if t._view is None else _as_it_lies(t)
    if found is not None:
        return found
    array = value_of(t).get()
    # The host sees a CPU array without copying; of another device's only the shown part travels.
    return np.asarray(array) if t._aval.device.type == "cpu" else array


def _format(self, spec: str) -> str:
    if type(self) is Tensor and self._aval.ndim == 0 and self._aval.device.type != "meta":
        return format(self.item(), spec)
    # Takes the empty spec only, and names the class when it refuses another.
    return object.__format__(self, spec)


Tensor._repr_name = "tensor"
Tensor.__repr__ = _repr
Tensor.__format__ = _format


# ------------------------------------------------------------------------------------- copying


def _deepcopy(self, memo: dict):
    if id(self) in memo:
        return memo[id(self)]
    _history(self)
    if self._grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
            "the moment.  If you were attempting to deepcopy a module, this may be because of a "
            "torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    source = self.detach().clone() if is_marked(self) else self
    value, plan = value_of(source), plan_of(source)
    new = make(value, type(self))
    storage = _copied_storage(source._storage, memo)
    view = None if plan.identity else ViewInfo(plan, None, None, [0])
    if view is not None and storage.value is source._storage.value:  # it shows what was read just now
        view.shown = storage.epoch, value
    init_storage(new, storage, source._stride, view)
    init_requires_grad(new, self._requires_grad)
    memo[id(self)] = new
    if self._grad is not None:
        set_grad(new, _copy.deepcopy(self._grad, memo))
    if self.__dict__:
        new.__dict__.update(_copy.deepcopy(self.__dict__, memo))
    return new


def _copied_storage(storage: Storage, memo: dict) -> Storage:
    """The copy of a whole storage, one for all tensors on it; values are immutable, so nothing is copied.

    The old one is kept, and with it its id.
    """
    copies = memo.setdefault("torch", {})
    if id(storage) not in copies:
        copies[id(storage)] = storage, Storage(unshared(storage.value))
    return copies[id(storage)][1]


def _hash(self) -> int:
    return id(self)


Tensor.__deepcopy__ = _deepcopy
Tensor.__hash__ = _hash
