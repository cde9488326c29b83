"""Tensors that a module owns: trained (`Parameter`) or merely kept with it (`Buffer`)."""

from __future__ import annotations

from jaxflow import _functions as functions
from jaxflow._core.layout import preserve_format
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs, refusal
from jaxflow._publish.overrides import disabled


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


def is_lazy(param: object) -> bool:
    """Whether a parameter still waits for its shape: never, since every tensor here has one."""
    return False


_LAZY = (
    "{} is not supported: every jaxflow tensor has a shape from the start. Give the layer its "
    "sizes (for example nn.Linear(in_features, out_features) instead of "
    "nn.LazyLinear(out_features))."
)


class UninitializedParameter(Parameter):
    """Refuses to be made: parameters without a shape are not supported.

    Give a layer its sizes instead: ``nn.Linear(3, 2)`` for ``nn.LazyLinear(2)``. The class is there for
    programs that use ``isinstance``.

    Args:
        args, kwargs: not read.

    Raises:
        RuntimeError: always.

    Example:
        >>> isinstance(nn.Linear(3, 2).weight, nn.UninitializedParameter)
        False
        >>> nn.UninitializedParameter()
        Traceback (most recent call last):
        ...
        RuntimeError: UninitializedParameter is not supported: ...
    """

    def __new__(cls, *args: object, **kwargs: object) -> UninitializedParameter:
        raise RuntimeError(_LAZY.format(cls.__name__))


class UninitializedBuffer(Tensor):
    """Refuses to be made: buffers without a shape are not supported.

    Give a layer its sizes instead: ``nn.BatchNorm1d(3)`` for ``nn.LazyBatchNorm1d()``. The class is there
    for programs that use ``isinstance``.

    Args:
        args, kwargs: not read.

    Raises:
        RuntimeError: always.

    Example:
        >>> isinstance(nn.BatchNorm1d(3).running_mean, nn.UninitializedBuffer)
        False
    """

    __torch_function__ = disabled

    def __new__(cls, *args: object, **kwargs: object) -> UninitializedBuffer:
        raise RuntimeError(_LAZY.format(cls.__name__))
