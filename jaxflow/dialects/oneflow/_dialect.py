"""OneFlow's tensor, its custom functions, and how the namespaces of this dialect are filled."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

import jaxflow
from jaxflow import autograd
from jaxflow._dialect import Dialect, missing
from jaxflow._publish.overrides import disabled
from jaxflow.nn import Module, functional
from jaxflow.nn.parameter import Parameter as PlainParameter

from ._names import NAMES

DIALECT = Dialect("oneflow")


class Size(tuple):
    """The tuple that a tensor's shape is."""

    __slots__ = ()

    def numel(self) -> int:
        """The number of elements of a tensor of this shape."""
        return jaxflow.Size(self).numel()

    def __repr__(self) -> str:
        return f"oneflow.Size([{', '.join(map(str, self))}])"


class Tensor(jaxflow.Tensor):
    """A tensor under OneFlow's name: jaxflow's own tensor, printed as OneFlow prints it."""

    __slots__ = ()
    __torch_function__ = disabled

    shape = property(lambda self: Size(self.shape), doc="The extents, as a Size.")
    is_global = property(lambda self: False, doc="Always False: tensors live on one device here.")
    is_lazy = property(lambda self: False, doc="Always False: what is recorded shows as any tensor.")

    def size(self, dim: int | None = None) -> Any:
        """The shape, or its extent along ``dim``."""
        return Size(self.shape) if dim is None else jaxflow.Tensor.size(self, dim)

    def backward(self, gradient: Any = None, retain_graph: bool = False, create_graph: bool = False) -> None:
        """Add the gradients of this tensor to the ``.grad`` of the leaves; see ``autograd.backward``."""
        backward(self, gradient, retain_graph, create_graph)

    def register_hook(self, hook: Callable) -> Any:
        """Call ``hook(grad)`` whenever this tensor's gradient is computed; a returned tensor replaces it."""
        return jaxflow.Tensor.register_hook(self, DIALECT.hook(hook))

    def cast(self, dtype: Any) -> Tensor:
        """The tensor in another dtype."""
        return DIALECT.wrap(self.to(DIALECT.bare(dtype)), (self,))

    def get_device(self) -> int:
        """The index of the device; -1 for the host."""
        return -1 if self.device.index is None else self.device.index

    def __repr__(self) -> str:
        return jaxflow.Tensor.__repr__(self, name="tensor", dtype_text=f"dtype=oneflow.{self.dtype.name}")

    def __getattr__(self, name: str) -> Any:
        raise missing("OneFlow", "Tensor", NAMES["Tensor"], name)


# Functions of PyTorch that OneFlow's tensor has as methods.
for _name in ("mish", "selu", "silu", "softplus", "softsign"):
    setattr(Tensor, _name, DIALECT.function(getattr(functional, _name)))
DIALECT.complete(Tensor)


class Parameter(PlainParameter, Tensor):
    """A leaf tensor that a module trains; assigning it to a module's attribute registers it."""

    __repr__ = Tensor.__repr__


DIALECT.stands_for(Parameter, PlainParameter)
module = DIALECT.module_base("Module")


def other_names(**new_of: str) -> Callable:
    """Let a function take arguments under further names: those of an older release, or OneFlow's own."""

    def decorate(fn: Callable) -> Callable:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            for old in kwargs.keys() & new_of.keys():
                new = new_of[old]
                if new in kwargs:
                    raise TypeError(f"{fn.__name__}() got both '{new}' and '{old}', which name one argument")
                kwargs[new] = kwargs.pop(old)
            return fn(*args, **kwargs)

        return call

    return decorate


@other_names(outputs="tensors", out_grads="grad_tensors")
def backward(
    tensors: Any, grad_tensors: Any = None, retain_graph: bool = False, create_graph: bool = False
) -> None:
    """Add the gradients of ``tensors`` to the ``.grad`` of the leaves they were computed from.

    Args:
        tensors: one tensor or several (older name: ``outputs``).
        grad_tensors: a cotangent for each; None where the tensor has one element or needs no gradient
            (older name: ``out_grads``).
        retain_graph: keep what backward needs for another pass. ``create_graph`` implies it.
        create_graph: record the walk, so that the gradients can be differentiated.
    """
    autograd.backward(tensors, grad_tensors, retain_graph or create_graph, create_graph)


@other_names(out_grads="grad_outputs")
def grad(
    outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool = False,
    create_graph: bool = False, allow_unused: bool = False, is_grads_batched: bool = False,
) -> tuple[Tensor, ...]:
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple; no ``.grad`` changes.

    The arguments are those of :func:`backward`; ``allow_unused`` gives None for an input that the outputs
    do not depend on, and ``is_grads_batched`` maps over a leading dimension of ``grad_outputs``.
    """
    found = autograd.grad(
        outputs, inputs, grad_outputs, retain_graph or create_graph, create_graph,
        allow_unused=allow_unused, is_grads_batched=is_grads_batched,
    )
    return DIALECT.wrap(found)


class Function(autograd.Function):
    """Base of custom differentiable functions: static ``forward(ctx, ...)`` and ``backward(ctx, ...)``.

    Call one as ``MyFunction.apply(...)`` or as ``MyFunction()(...)``.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        DIALECT.custom_function(cls)

    def __init__(self) -> None:
        """Nothing is kept: an instance is another way to write the class."""

    def __call__(self, *inputs: Any) -> Any:
        """See :meth:`apply`."""
        return self.apply(*inputs)

    @classmethod
    def apply(cls, *inputs: Any) -> Any:
        """Run forward and, with grad on, record this function as a node."""
        return DIALECT.wrap(super().apply(*inputs), inputs)


def offered(value: Any, arguments: Callable | None = None) -> Any:
    """``value`` of jaxflow as this dialect offers it."""
    if isinstance(value, type):
        if issubclass(value, Module) and value is not Module:
            return DIALECT.layer(value, arguments)
        return value if arguments is None else type(value.__name__, (value,), {
            "__init__": lambda self, *args, **kwargs: value.__init__(self, **arguments(*args, **kwargs)),
            "__doc__": value.__doc__, "__module__": "jaxflow.oneflow",
        })
    if isinstance(value, jaxflow.dtype):
        return DIALECT.dtypes[value]
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return DIALECT.function(value)
    return value


def first_is_x(fn: Callable) -> dict[str, str]:
    """``{"x": first}`` for a function whose first argument is a tensor by another name."""
    names = [p.name for p in inspect.signature(fn).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return {"x": names[0]} if names and names[0] in ("input", "tensor") and "x" not in names else {}


def fill(namespace: str, where: dict[str, Any], source: Any) -> Callable[[str], Any]:
    """Put OneFlow's names of ``namespace`` that jaxflow has into a module; returns its ``__getattr__``.

    What the module defines itself stays. ``DIFFERENCES`` says what behaves in OneFlow's way.
    """
    from ._differences import ARGUMENTS, DIFFERENCES

    rows = {row.name: row for row in DIFFERENCES if row.namespace == namespace}
    for name in {*NAMES.get(namespace, ()), *rows} - where.keys():
        row = rows.get(name)
        if row is not None and row.function is not None:
            where[name] = DIALECT.function(row.function) if callable(row.function) and not isinstance(
                row.function, type) else row.function
        elif hasattr(source, name) and not isinstance(getattr(source, name), types.ModuleType):
            value = getattr(source, name)
            if isinstance(value, types.FunctionType):
                names = ARGUMENTS.get(f"{namespace}.{name}" if namespace else name, {})
                value = other_names(**first_is_x(value) | names)(value)
            where[name] = offered(value, row and row.arguments)
            if where[name] is value:
                continue
        if name in where and isinstance(where[name], (type, types.FunctionType)):
            where[name].__module__, where[name].__qualname__ = where["__name__"], name
    module_name = f"oneflow.{namespace}" if namespace else "oneflow"

    def __getattr__(name: str) -> Any:
        raise missing("OneFlow", module_name, NAMES.get(namespace, ()), name)

    return __getattr__
