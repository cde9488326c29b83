"""Tensors that a module owns: trained (`Parameter`) or merely kept with it (`Buffer`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from jaxflow import _functions as functions
from jaxflow._core.layout import preserve_format
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._publish.overrides import DisableTorchFunctionSubclass, disabled, install_overrides


class _IsMarked(type(Tensor)):
    """Lets ``isinstance`` see parameters and buffers that are tensors of another subclass.

    Wrapping a tensor of a user's own subclass must keep that subclass, so such an object cannot
    also be an instance of Parameter; it carries a mark instead.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        if type.__instancecheck__(cls, instance):
            return True
        mark = cls.__dict__.get("_mark")
        return mark is not None and isinstance(instance, Tensor) and getattr(instance, mark, False)


class Parameter(Tensor, metaclass=_IsMarked):
    """A leaf tensor that a module trains: assigning it to a module attribute registers it.

    Args:
        data: values of the parameter, a tensor of any shape, shared with this tensor (default: an empty
            one). A subclass of Tensor is kept, and ``isinstance`` still says that it is a Parameter.
        requires_grad: whether gradients accumulate in ``.grad``.

    Raises:
        RuntimeError: for ``requires_grad`` with a dtype that is neither floating point nor complex.

    Example:
        >>> layer = nn.Module()
        >>> layer.scale = nn.Parameter(torch.ones(2))
        >>> layer.plain = torch.ones(2)
        >>> [name for name, p in layer.named_parameters()]
        ['scale']
        >>> layer.scale
        Parameter containing:
        tensor([1., 1.], requires_grad=True)
    """

    __torch_function__ = disabled
    _mark = "_is_param"
    _is_param = True
    _repr_name = "tensor"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = functions.empty(0)
        # A dialect's class is no subclass of the user's: see NOTE [Dialect tensors].
        if getattr(type(data), "_stored_as", type(data)) in (Tensor, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        if is_torchs(data):
            raise refusal(cls.__name__)
        marked = data.detach().requires_grad_(requires_grad)
        if type(marked) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires "
                "that detach() returns an instance of the same type, but it returned "
                f"{type(marked).__name__}: return that type from detach()."
            )
        marked._is_param = True
        return marked

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            copy = type(self)(
                self.data.clone(memory_format=preserve_format), self.requires_grad
            )
            memo[id(self)] = copy
        return memo[id(self)]

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return "Parameter containing:\n" + Tensor.__repr__(self, tensor_contents=tensor_contents)


class Buffer(Tensor, metaclass=_IsMarked):
    """A tensor that is not trained: assigning it to a module attribute registers it as a buffer.

    A buffer moves with its module's ``to`` and is saved in its ``state_dict``.

    Args:
        data: values of the buffer, a tensor of any shape and dtype, shared with this tensor (default: an
            empty one).
        persistent: whether the buffer is part of the module's ``state_dict``.

    Example:
        >>> layer = nn.Module()
        >>> layer.mean = nn.Buffer(torch.zeros(2))
        >>> layer.cache = nn.Buffer(torch.zeros(3), persistent=False)
        >>> [name for name, b in layer.named_buffers()], list(layer.state_dict())
        (['mean', 'cache'], ['mean'])
    """

    __torch_function__ = disabled
    _mark = "_is_buffer"

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:
        if data is None:
            data = functions.empty(0)
        if is_torchs(data):
            raise refusal(cls.__name__)
        marked = data.detach().requires_grad_(data.requires_grad)
        marked.persistent = persistent
        marked._is_buffer = True
        return marked


class UninitializedTensorMixin:
    """What tensors have in common whose shape is not known yet.

    Nothing but the functions in `_allowed` takes them: all others refuse them by name.
    """

    __slots__ = ()
    #: What a tensor of this class becomes when it is given a shape.
    cls_to_become: type

    def materialize(self, shape: Sequence[int], device: Any = None, dtype: Any = None) -> None:
        """Give the tensor a shape, and with it elements, which have any values.

        Args:
            shape: the shape.
            device: where to put it; default: the device it was made for.
            dtype: its dtype; default: the one it was made for.
        """
        with DisableTorchFunctionSubclass():
            empty = functions.empty(shape, device=self.device if device is None else device,
                                    dtype=self.dtype if dtype is None else dtype)
            self.data = empty
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Size:
        """RuntimeError: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. Its module's forward gives it "
            "one: call that first. load_state_dict copies it into no module that is initialized.")

    def share_memory_(self) -> NoReturn:
        """RuntimeError: there is no memory yet."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` before "
            "`module.share_memory()`.")

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return type(self), (self.requires_grad,)

    def __deepcopy__(self, memo: dict) -> UninitializedTensorMixin:
        if id(self) not in memo:
            copy = memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
            copy.__dict__.update(self.__dict__)
        return memo[id(self)]


_ALLOWED = ("__hash__ size copy_ is_complex is_floating_point half float double char short int long cuda "
            "cpu to get_device").split()


def _refuse(cls: type, func: Callable, types: Sequence[type], args: tuple = (),
            kwargs: dict | None = None) -> Any:
    """Refuse a function of a tensor without a shape; its attributes and casts are let through."""
    if type(func).__name__ == "method-wrapper" or any(func is getattr(Tensor, name) for name in _ALLOWED):
        return super(UninitializedTensorMixin, cls).__torch_function__(func, types, args, kwargs)
    raise ValueError(
        f"Attempted to use an uninitialized parameter in {func}. A module whose class begins with `Lazy` "
        "gives its parameters shapes when it is called: call it with a batch first. The object is a "
        f"`torch.nn.parameter.{cls.__name__}`.")


def is_lazy(param: object) -> bool:
    """Whether a parameter or buffer still waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


def made_lazy_again(tensor: Tensor, cls: type) -> None:
    """Take the shape from a tensor that was of the class ``cls`` before it was given one."""
    if type(tensor) is not cls:
        tensor.data = functions.empty(0, device=tensor.device, dtype=tensor.dtype)
        tensor.__class__ = cls


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet: layers such as `LazyLinear` have them until they are called.

    Args:
        requires_grad: whether gradients accumulate in ``.grad``.
        device: where it will be.
        dtype: what its dtype will be.

    Raises:
        RuntimeError: for ``requires_grad`` with a dtype that is neither floating point nor complex; later,
            where its shape is looked at.
        ValueError: later, where a function is given it that needs its elements.

    Example:
        >>> weight = nn.UninitializedParameter()
        >>> weight
        <UninitializedParameter>
        >>> weight.materialize((2, 3))
        >>> type(weight).__name__, weight.shape
        ('Parameter', torch.Size([2, 3]))
    """

    # Until there is one, functions look for no overrides: NOTE [Overrides are installed late].
    __torch_function__ = disabled
    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None,
                dtype: Any = None) -> UninitializedParameter:
        install_overrides()
        return Tensor._make_subclass(cls, functions.empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet: layers such as `LazyBatchNorm1d` have them until they are
    called.

    Args:
        requires_grad: whether gradients accumulate in ``.grad``.
        device: where it will be.
        dtype: what its dtype will be.
        persistent: whether the buffer is part of the module's ``state_dict``.

    Raises:
        RuntimeError: as of an `UninitializedParameter`.
        ValueError: likewise.

    Example:
        >>> mean = nn.UninitializedBuffer()
        >>> mean.materialize((2,))
        >>> type(mean).__name__, mean.shape
        ('Tensor', torch.Size([2]))
    """

    __torch_function__ = disabled
    cls_to_become = Tensor

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None,
                persistent: bool = True) -> UninitializedBuffer:
        install_overrides()
        made = Tensor._make_subclass(cls, functions.empty(0, device=device, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made


for _class in (UninitializedParameter, UninitializedBuffer):
    _class.__torch_function__ = classmethod(_refuse)
del _class
