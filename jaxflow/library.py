"""Operators of one's own: Python functions that are called as ``torch.ops.<namespace>.<name>``.

An operator is one step to autograd: its derivative is what `register_autograd` was given. Its kernel may
compute with jaxflow's operations, or with NumPy on ``tensor.numpy()``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ._core import autocast as _autocast
from ._core.dtype import dtype as _dtype
from ._operators import registry as _registry
from ._operators.operator import Operator as _Operator
from ._operators.schema import infer as _infer
from ._operators.schema import parse as _parse
from .ops import OpOverload as _OpOverload
from .ops import OpOverloadPacket as _OpOverloadPacket

__all__ = ["CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "get_kernel",
           "impl", "impl_abstract", "infer_schema", "opcheck", "register_autocast", "register_autograd",
           "register_fake", "register_kernel", "register_torch_dispatch", "register_vmap", "triton_op",
           "wrap_triton"]

_RESERVED = frozenset(("prim",))
_ALL = "CompositeExplicitAutograd"


def _qualified(name: str) -> tuple[str, str]:
    namespace, two, rest = name.partition("::")
    if not two or not namespace or not rest:
        raise ValueError(
            "torch.library: expected the name to be of the form 'namespace::name', such as 'mylib::scale', "
            f"but got {name!r}")
    return namespace, rest


def _name_of(op: Any) -> str:
    """The qualified name of an operator that is given by itself or by its name."""
    if isinstance(op, str):
        _qualified(op)
        return op.removesuffix(".default")
    if isinstance(op, CustomOpDef):
        return op._qualname
    if isinstance(op, _OpOverload):
        return op.name()
    if isinstance(op, _OpOverloadPacket):
        return f"{op.namespace}::{op.__name__}"
    raise ValueError(f"torch.library: expected an operator or its name, but got {type(op)}")


class Library:
    """A set of registrations, of operators (``"DEF"``, ``"FRAGMENT"``) or of kernels for them (``"IMPL"``).

    Args:
        ns: the namespace.
        kind: ``"DEF"``, ``"IMPL"`` or ``"FRAGMENT"``.
        dispatch_key: what `impl` registers for by default: ``"CPU"``, ``"CUDA"``, ``"Meta"``, or one of the
            composite keys; empty for all devices.

    Raises:
        ValueError: for another kind, or a namespace that is PyTorch's own.

    Example:
        >>> mylib = torch.library.Library("notes", "DEF")
        >>> mylib.define("halve(Tensor x) -> Tensor")
        'halve'
        >>> mylib.impl("halve", lambda x: x / 2, "CompositeImplicitAutograd")
        >>> torch.ops.notes.halve(torch.tensor([4.0]))
        tensor([2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError("Unsupported kind: ", kind)
        if ns in _RESERVED and kind in ("DEF", "FRAGMENT"):
            raise ValueError(ns, " is a reserved namespace. Please try creating a library with another name.")
        if ns == "aten":
            raise NotImplementedError(
                "torch.library.Library('aten', ...) is not supported: PyTorch's operations cannot be "
                "replaced; register an operator in a namespace of your own")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._defined: list[str] = []

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Add the operator that ``schema`` says; its name."""
        if self.kind == "IMPL":
            raise RuntimeError("define() cannot be called in an IMPL library")
        operator = _registry.define(self.ns, _parse(schema))
        self._defined.append(operator.qualname)
        return operator.name

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False,
             allow_override: bool = True) -> None:
        """Register what computes an operator of the namespace."""
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        if with_keyset:
            raise NotImplementedError("torch.library.Library.impl(with_keyset=True) is not supported: "
                                      "jaxflow has no sets of dispatch keys to hand on")
        if fn is fallthrough_kernel:
            return
        name = op_name.partition("::")[2] or op_name if isinstance(op_name, str) else _name_of(op_name)
        name = name.rpartition("::")[2].removesuffix(".default")
        _registry.add_kernel(f"{self.ns}::{name}", dispatch_key or self.dispatch_key or _ALL, fn)

    def fallback(self, fn: Callable, dispatch_key: str = "", *, with_keyset: bool = False) -> NoReturn:
        """Raises NotImplementedError: there is nothing that all operators pass through."""
        raise NotImplementedError("torch.library.Library.fallback() is not supported: there is no "
                                  "dispatcher that all operators pass through; override functions by "
                                  "__torch_function__")

    def _register_fake(self, op_name: str, fn: Callable, _stacklevel: int = 1, *,
                       allow_override: bool = True) -> None:
        register_fake(f"{self.ns}::{op_name}", fn)

    def _destroy(self) -> None:
        """Take the operators out that this library defined."""
        for name in self._defined:
            _registry.remove(name)
        self._defined.clear()


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Any:
    """A library whose operators are there inside the block."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()


class CustomOpDef:
    """An operator that `custom_op` made: called as the function is."""

    def __init__(self, operator: _Operator, fn: Callable) -> None:
        self._operator, self._init_fn = operator, fn
        self._namespace, self._name, self._qualname = operator.namespace, operator.name, operator.qualname
        self._schema = str(operator.schema)
        self.__name__, self.__doc__ = operator.name, fn.__doc__

    @property
    def _opoverload(self) -> _OpOverload:
        return _OpOverloadPacket(self._name, self._operator, self._namespace).default

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._operator(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_fake(self, fn: Callable, /) -> Callable:
        """Give the function that makes results of the right shapes, for tensors on ``meta``; ``fn``."""
        return register_fake(self, fn)

    def register_autograd(self, backward: Callable, /, *, setup_context: Callable | None = None) -> None:
        """Give the derivative: see `jaxflow.library.register_autograd`."""
        register_autograd(self, backward, setup_context=setup_context)

    def register_kernel(self, device_types: str | Sequence[str] | None, fn: Callable | None = None, /) -> Any:
        """Give what computes it on some devices, all for None; a decorator without ``fn``."""
        return register_kernel(self, device_types, fn)

    def register_vmap(self, func: Callable | None = None) -> NoReturn:
        """Raises NotImplementedError: see `jaxflow.library.register_vmap`."""
        register_vmap(self, func)

    def register_autocast(self, device_type: str, cast_inputs: Any) -> None:
        """Cast its tensors inside autocast regions: see `jaxflow.library.register_autocast`."""
        register_autocast(self, device_type, cast_inputs)


def custom_op(name: str, fn: Callable | None = None, /, *, mutates_args: str | Iterable[str],
              device_types: str | Sequence[str] | None = None, schema: str | None = None,
              tags: Any = None) -> Any:
    """Make a function an operator, ``torch.ops.<namespace>.<name>``.

    Args:
        name: ``"namespace::name"``.
        fn: the function; without it a decorator is returned.
        mutates_args: the names of the arguments that it writes into, or ``"unknown"``.
        device_types: the types of devices it is for; all by default.
        schema: what it takes, without a name; by default what its annotations say.
        tags: accepted without effect.

    Returns:
        A ``CustomOpDef``, which is called as the function is and takes its derivative and fake function.

    Raises:
        ValueError: for another form of name, or annotations that are missing or no types of operators.

    Example:
        >>> @torch.library.custom_op("notes::plus", mutates_args=())
        ... def plus(x: torch.Tensor, n: int = 1) -> torch.Tensor:
        ...     return x + n
        >>> plus.register_autograd(lambda ctx, grad: (grad, None))
        >>> x = torch.ones(2, requires_grad=True)
        >>> torch.ops.notes.plus(x, n=3).sum().backward()
        >>> x.grad
        tensor([1., 1.])
    """
    namespace, short = _qualified(name)

    def make(fn: Callable) -> CustomOpDef:
        text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        operator = _registry.define(namespace, _parse(f"{short}{text}"), strict=True, replace=True)
        made = CustomOpDef(operator, fn)
        register_kernel(made, device_types, fn)
        return made

    return make if fn is None else make(fn)


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Add an operator without a kernel: `impl` gives that.

    Args:
        qualname: ``"namespace::name"``.
        schema: what it takes and returns: ``"(Tensor x) -> Tensor"``.
        lib: the library that it belongs to.
        tags: accepted without effect.

    Returns:
        None.

    Raises:
        ValueError: for another form of name.
        RuntimeError: for what is no schema, or a name that there is.

    Example:
        >>> torch.library.define("notes::thrice", "(Tensor x) -> Tensor")
        >>> torch.library.impl("notes::thrice", "default", lambda x: 3 * x)
        >>> torch.ops.notes.thrice(torch.tensor(2))
        tensor(6)
    """
    if not isinstance(qualname, str):
        raise ValueError("define(qualname, schema): expected qualname to be instance of str, got "
                         f"{type(qualname)}")
    namespace, name = _qualified(qualname)
    (Library(namespace, "FRAGMENT") if lib is None else lib).define(f"{name}{schema}")


def impl(qualname: Any, types: Any, func: Any = None, *, lib: Library | None = None) -> Any:
    """Register what computes an operator; a decorator without ``func``.

    Args:
        qualname: ``"namespace::name"``; or a library, whose operator ``types`` names for the key ``func``.
        types: types of devices (``"cpu"``), or dispatch keys; ``"default"`` for all devices.
        func: the kernel.
        lib: accepted without effect: what is registered stays.

    Returns:
        None, or the decorator.

    Example:
        >>> torch.library.define("notes::twice", "(Tensor x) -> Tensor")
        >>> @torch.library.impl("notes::twice", "cpu")
        ... def twice(x):
        ...     return 2 * x
        >>> torch.ops.notes.twice(torch.tensor(2, device="cpu"))
        tensor(4)
    """
    if isinstance(qualname, Library):  # the older form: a library, a name, and a key
        def in_library(fn: Callable) -> Callable:
            qualname.impl(types, fn, func or "")
            return fn

        return in_library
    keys = {types} if isinstance(types, str) else set(types)
    _qualified(qualname)

    def register(fn: Callable) -> None:
        for key in keys:
            _registry.add_kernel(qualname, _ALL if key == "default" else key, fn)

    return register if func is None else register(func)


def fallthrough_kernel() -> NoReturn:
    """What `Library.impl` takes for a key that is to be passed over; called it raises NotImplementedError."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def register_kernel(op: Any, device_types: str | Sequence[str] | None, func: Callable | None = None, /, *,
                    lib: Library | None = None) -> Any:
    """Register what computes an operator on some devices, on all for None; a decorator without ``func``."""
    types = [_ALL] if device_types is None else device_types
    types = [types] if isinstance(types, str) else types

    def register(fn: Callable) -> Callable:
        for kind in types:
            _registry.add_kernel(_name_of(op), kind, fn)
        return fn

    return register if func is None else register(func)


def register_fake(op: Any, func: Callable | None = None, /, *, lib: Library | None = None,
                  _stacklevel: int = 1, allow_override: bool = True) -> Any:
    """Keep the function that makes an operator's results without computing: it runs for tensors on ``meta``.

    Args:
        op: the operator or its name, which may be defined later.
        func: the function, of the operator's arguments.
        lib: accepted without effect.
        _stacklevel: accepted without effect.
        allow_override: whether it may take the place of another.

    Returns:
        ``func``, or a decorator without it.

    Raises:
        ValueError: for what is no operator.

    Example:
        >>> @torch.library.custom_op("notes::first", mutates_args=())
        ... def first(x: torch.Tensor) -> torch.Tensor:
        ...     return x[0].clone()
        >>> _ = first.register_fake(lambda x: x.new_empty(x.shape[1:]))
        >>> first(torch.empty(2, 3, device="meta")).shape
        torch.Size([3])
    """
    def register(fn: Callable) -> Callable:
        def keep(operator: _Operator) -> None:
            operator.fake = fn

        _registry.when_defined(_name_of(op), keep)
        return fn

    return register if func is None else register(func)


def impl_abstract(qualname: str, func: Callable | None = None, *, lib: Library | None = None,
                  _stacklevel: int = 1) -> Any:
    """The older name of `register_fake`."""
    return register_fake(qualname, func, lib=lib)


def register_autograd(op: Any, backward: Callable, /, *, setup_context: Callable | None = None,
                      lib: Library | None = None) -> None:
    """Register an operator's derivative.

    Args:
        op: the operator or its name, which may be defined later.
        backward: ``backward(ctx, *grads)``, which returns a gradient or None for each argument.
        setup_context: ``setup_context(ctx, inputs, output)``, which keeps what backward reads; with arguments
            by keyword alone it gets ``keyword_only_inputs`` too.
        lib: accepted without effect.

    Returns:
        None.

    Raises:
        RuntimeError: for an operator that writes into its arguments.

    Example:
        >>> @torch.library.custom_op("notes::square", mutates_args=())
        ... def square(x: torch.Tensor) -> torch.Tensor:
        ...     return x * x
        >>> def keep(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> torch.library.register_autograd(
        ...     "notes::square", lambda ctx, grad: 2 * grad * ctx.saved_tensors[0], setup_context=keep)
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(square(x), x)
        (tensor(6.),)
    """
    def register(operator: _Operator) -> None:
        if operator.schema.is_mutable:
            raise RuntimeError("Cannot register autograd formula for non-functional operator "
                               f"{operator.qualname} with schema {operator.schema}. Please create a "
                               "functional operator and register an autograd formula for that.")
        operator.derivative = (backward, setup_context)

    _registry.when_defined(_name_of(op), register)


def register_autocast(op: Any, device_type: str, cast_inputs: Any, /, *, lib: Library | None = None) -> None:
    """Cast an operator's tensors of floating point, but for float64, inside autocast regions.

    The operations of its kernel are not cast then.

    Args:
        op: the operator or its name, which may be defined later.
        device_type: the type of device of the regions, ``"cpu"`` or ``"cuda"``.
        cast_inputs: the dtype.
        lib: accepted without effect.

    Returns:
        None.

    Raises:
        ValueError: for what is no operator, and a type of device that is no string or has no autocasting.
        RuntimeError: for a name that is no type of device.
        TypeError: for what is no dtype.

    Example:
        >>> @torch.library.custom_op("notes::same", mutates_args=())
        ... def same(x: torch.Tensor) -> torch.Tensor:
        ...     return x.clone()
        >>> torch.library.register_autocast(same, "cpu", torch.float16)
        >>> with torch.autocast("cpu"):
        ...     same(torch.ones(2)).dtype
        torch.float16
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    kind = _autocast.type_of(device_type)
    if kind not in _autocast.LOWER:
        raise ValueError(f"Device type '{device_type}' does not support autocast.")
    if not isinstance(cast_inputs, _dtype):
        raise TypeError("register_autocast(): expected `cast_inputs` to be a torch.dtype, got "
                        f"{cast_inputs!r}")
    _registry.when_defined(_name_of(op), lambda operator: operator.cast_inputs(kind, cast_inputs))


def infer_schema(prototype_function: Callable, /, *, mutates_args: Any, op_name: str | None = None,
                 tags: Any = ()) -> str:
    """The schema that a function's annotations say.

    Args:
        prototype_function: the function, all of whose arguments are annotated.
        mutates_args: the names of those that it writes into, or ``"unknown"``.
        op_name: a name to begin with.
        tags: accepted without effect.

    Returns:
        The schema.

    Raises:
        ValueError: where annotations are missing, or no types of operators.

    Example:
        >>> def scale(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
        ...     return x * by
        >>> torch.library.infer_schema(scale, mutates_args=())
        '(Tensor x, float by=2.0) -> Tensor'
    """
    return _infer(prototype_function, mutates_args, op_name)


def get_ctx() -> NoReturn:
    """Raises RuntimeError: no fake function is ever run to find sizes that depend on data."""
    raise RuntimeError("get_ctx() can only be called while a fake function is run by a tracer, of which "
                       "jaxflow has "
                       "none: what makes sizes that depend on data cannot run on tensors on meta")


def _refused(name: str, instead: str) -> Callable[..., NoReturn]:
    def call(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.library.{name}() is not supported: {instead}")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"Raises NotImplementedError: {instead}."
    return call


register_vmap = _refused("register_vmap", "under vmap an operator's kernel runs on all examples at once, so "
                                          "write it with operations of jaxflow")
register_torch_dispatch = _refused("register_torch_dispatch", "there is no __torch_dispatch__; use "
                                                              "__torch_function__")
get_kernel = _refused("get_kernel", "call the operator, which finds its kernel")
opcheck = _refused("opcheck", "compare the operator with a reference, and gradients by "
                              "torch.autograd.gradcheck")
triton_op = _refused("triton_op", "Triton's kernels cannot be called; write the operator with jaxflow's "
                                  "operations")
wrap_triton = _refused("wrap_triton", "Triton's kernels cannot be called; write them with jaxflow's "
                                      "operations")
