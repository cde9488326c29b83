"""``wrap_jax``: a JAX function as an operation of the recorded graph.

A wrapped function is traced once for each structure, aval and static argument it is called with, as under
``jax.jit``. The jaxpr becomes a Plan, and that is dispatched like any other: so the function is
recorded, run, differentiated (its ``custom_vjp`` and ``custom_jvp`` stay in the jaxpr) and batched by
what does that for every operation. Numbers are traced as JAX traces them, weakly typed: a new
value compiles nothing, and ``x * 0.5`` keeps the dtype of ``x``.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxflow._api.creation.construct import from_array
from jaxflow._api.creation.host_arrays import put
from jaxflow._core.jax_compat import jaxpr_as_fun
from jaxflow._core.state import state
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Untracked
from jaxflow._dispatch.dispatch import apply_plan
from jaxflow._plans.op import camel
from jaxflow._plans.plan import Plan, Traced, struct_of
from jaxflow._plans.planning import common_device
from jaxflow._publish.pytree import array_of, refusing_history

_NUMBERS = (bool, int, float, complex)


def wrap_jax(
    fn: Callable | None = None, *, name: str | None = None,
    static_argnums: int | Sequence[int] = (), static_argnames: str | Sequence[str] = (),
) -> Callable:
    """A function of tensors that computes what the JAX function ``fn`` does, and has its gradient.

    Arguments and results may be any pytrees; tensors, arrays and numbers in them are traced, and arrays
    among the results come back as tensors. The gradient is ``jax.vjp`` of ``fn``, with the rules of a
    ``custom_vjp`` or ``custom_jvp``; with ``create_graph`` it has a gradient itself. Integer and bool
    arguments and results have none. Also usable as a decorator, with or without options.

    Args:
        fn: a pure function on jax arrays. What it reads beside its arguments is a constant.
        name: how its node is called: ``"soft_clip"`` gives ``<SoftClipBackward0>``. Default: the function's.
        static_argnums: positions of arguments that are no data (an axis, a string, a flag); hashable.
        static_argnames: names of such arguments.

    Raises:
        TypeError: at the call, for arguments or results that are no data.
        ValueError: at the call, for static arguments that cannot be hashed.
        RuntimeError: at the call, when ``fn`` reads a tensor that requires grad, or a tracer, which it was
            not given as an argument.
        Whatever ``fn`` raises of shapes and dtypes, at the call.
    """
    if fn is None:
        return functools.partial(wrap_jax, name=name, static_argnums=static_argnums,
                                 static_argnames=static_argnames)
    wrapped = _Wrapped(fn, name, static_argnums, static_argnames)

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        return wrapped(*args, **kwargs)

    return call


class _Wrapped:
    """One wrapped function, and the plans made for the calls it has seen."""

    def __init__(self, fn, name, static_argnums, static_argnames) -> None:
        self.fn = fn
        self.name = name or _name_of(fn)
        self.static = _Static(fn, static_argnums, static_argnames)
        self.traced: dict[tuple, tuple[Plan, Any]] = {}
        self.lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        dynamic, static = self.static.split(self.name, args, kwargs)
        leaves, tree = jax.tree.flatten(dynamic, is_leaf=_is_tensor)
        inputs, keys = [], []
        for i, leaf in enumerate(leaves):
            x, key = _input(leaf)
            if x is None:
                raise self._no_data(dynamic, i, leaf)
            inputs.append(x)
            keys.append(key)
        kinds = tuple(x._aval if isinstance(x, Tensor) else x.__class__ for x in inputs)
        signature = (tree, static, kinds, tuple(keys))
        found = self.traced.get(signature)
        if found is None:
            with self.lock:
                found = self.traced[signature] = self._trace(*signature)
        plan, out_tree = found
        results = apply_plan(plan, inputs)
        if state.inference:
            for t in results:
                t._storage.version = Untracked((0,))
        return jax.tree.unflatten(out_tree, results)

    def _trace(self, tree, static, kinds: tuple, keys: tuple) -> tuple[Plan, Any]:
        out_tree = []

        def flat(*leaves):
            leaves = [
                x if key is None else jax.random.wrap_key_data(x, impl=key)
                for x, key in zip(leaves, keys, strict=True)
            ]
            args, kwargs = self.static.join(jax.tree.unflatten(tree, leaves), static)
            outs, found = jax.tree.flatten(self.fn(*args, **kwargs), is_leaf=_is_tensor)
            out_tree[:] = [found]
            return [self._output(x) for x in outs]

        # A Python number in its place makes jax trace one that is weakly typed.
        like = [struct_of(kind) if kind not in _NUMBERS else kind(1) for kind in kinds]
        with refusing_history(self.name):
            closed = jax.make_jaxpr(flat)(*like)
        if any(isinstance(c, jax.core.Tracer) for c in closed.consts):
            raise RuntimeError(
                f"wrap_jax: {self.name} reads an array of the jax transformation around it (a tracer) "
                "that is not among its arguments: pass it as one"
            )
        run = jaxpr_as_fun(closed)
        weak = tuple(a.dtype for a in closed.in_avals)

        def body(*inputs):
            return tuple(run(*(jnp.asarray(x, d) for x, d in zip(inputs, weak, strict=True))))

        device = common_device(kinds)
        traced = Traced(f"jax_{self.name}", body, kinds, device)
        plan = Plan(f"jax_{self.name}", body, kinds, traced.out_avals, device=device,
                    grad_name=camel(self.name) + "Backward0", single=False, traced=traced)
        return plan, out_tree[0]

    def _output(self, x: Any):
        if isinstance(x, Tensor):
            return array_of(x)
        if isinstance(x, (jax.Array, np.ndarray, np.generic, *_NUMBERS)):
            if not isinstance(x, _NUMBERS) and jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
                raise TypeError(
                    f"wrap_jax: {self.name} returned a random key, which no tensor can hold; return "
                    "jax.random.key_data(key)"
                )
            return jnp.asarray(x)
        raise TypeError(
            f"wrap_jax: {self.name} returned a {type(x).__name__}: results are pytrees of arrays and numbers"
        )

    def _no_data(self, dynamic: tuple, at: int, leaf: Any) -> TypeError:
        paths, _ = jax.tree_util.tree_flatten_with_path(dynamic, is_leaf=_is_tensor)
        (group, *path), _ = paths[at]
        where = ("args", "kwargs")[group.idx] + jax.tree_util.keystr(tuple(path))
        return TypeError(
            f"wrap_jax: {where} of {self.name} is a {type(leaf).__name__}, which is no data; say in "
            "static_argnums or static_argnames that it is static"
        )


def _is_tensor(x: Any) -> bool:
    return isinstance(x, Tensor)


def _input(x: Any) -> tuple[Any, str | None]:
    """A leaf as an input of a plan, and the implementation of the random key if it is one."""
    if isinstance(x, Tensor):
        return x, None
    if isinstance(x, jax.Array):
        if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            return from_array(jax.random.key_data(x)), str(jax.random.key_impl(x))
        return from_array(x, shared=True), None
    if isinstance(x, (np.ndarray, np.generic)) and np.asarray(x).dtype.kind != "O":
        return put(np.asarray(x), "cpu"), None
    for kind in _NUMBERS:
        if isinstance(x, kind):
            return kind(x), None
    return None, None


def _name_of(fn: Callable) -> str:
    inner = fn
    while isinstance(inner, functools.partial):
        inner = inner.func
    name = getattr(inner, "__name__", None) or type(inner).__name__
    return name if name.isidentifier() else "jax_function"


class _Static:
    """Which arguments are static, by position and by name, as ``jax.jit`` finds them out."""

    def __init__(self, fn, argnums, argnames) -> None:
        self.nums = {argnums} if isinstance(argnums, int) else set(argnums)
        self.names = {argnames} if isinstance(argnames, str) else set(argnames)
        if not self.nums and not self.names:
            return
        positional = [
            p.name for p in inspect.signature(fn).parameters.values()
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        for n in list(self.nums):
            if -len(positional) <= n < len(positional):
                self.names.add(positional[n])
        self.nums |= {i for i, p in enumerate(positional) if p in self.names}

    def split(self, name: str, args: tuple, kwargs: dict) -> tuple[tuple, tuple]:
        """``(dynamic args, dynamic kwargs)``, and what is static, to be hashed."""
        if not self.nums and not self.names:
            return (args, kwargs), ()
        at = {n % len(args) for n in self.nums if -len(args) <= n < len(args)} if args else set()
        static = (
            tuple((i, args[i]) for i in sorted(at)),
            tuple((k, kwargs[k]) for k in sorted(kwargs) if k in self.names),
        )
        try:
            hash(static)
        except TypeError as error:
            raise ValueError(f"wrap_jax: a static argument of {name} is not hashable: {error}") from error
        # The types too: 1, 1.0 and True are equal, and not the same to the function.
        types = tuple(type(x) for group in static for _, x in group)
        dynamic = (
            tuple(a for i, a in enumerate(args) if i not in at),
            {k: a for k, a in kwargs.items() if k not in self.names},
        )
        return dynamic, (*static, types)

    def join(self, dynamic: tuple, static: tuple) -> tuple[list, dict]:
        """The arguments of the call again."""
        args, kwargs = list(dynamic[0]), dict(dynamic[1])
        if static:
            for i, x in static[0]:
                args.insert(i, x)
            kwargs.update(static[1])
        return args, kwargs
