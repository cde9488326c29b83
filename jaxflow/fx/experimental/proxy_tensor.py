"""`make_fx`: the graph of a function, by calling it with proxies that have shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.fx._placeholders import PH
from jaxflow.fx._tracer import Tracer
from jaxflow.fx.graph_module import GraphModule
from jaxflow.nn.modules.module import Module
from jaxflow.utils import _pytree

__all__ = ["make_fx"]

_OPTIONS = {
    "decomposition_table": "there are no decompositions: operations are recorded as they are called",
    "pre_dispatch": "there is no dispatcher; operations are recorded as they are called",
    "record_module_stack": "use torch.fx.Tracer, whose nodes have meta['nn_module_stack']",
    "record_stack_traces": "use torch.fx.Tracer with record_stack_traces = True",
    "proxy_module_inputs": "give it functions of tensors",
    "_allow_non_fake_inputs": "there are no fake tensors",
    "_allow_fake_constant": "there are no fake tensors",
}


class _AllThrough(Tracer):
    """Goes into modules, whose parameters become attributes of the graph's module."""

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return False

    def path_of_module(self, mod: Module) -> str:
        return ""

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, Tensor):
            path = self.tensor_attrs.get(a)
            if path is None:
                path = self._constant("_tensor_constant" if not a.requires_grad else "_param_constant", a)
                self.tensor_attrs[a] = path
            return self.create_node("get_attr", path, (), {})
        return super().create_arg(a)


def make_fx(f: Callable[..., Any], decomposition_table: Any = None, tracing_mode: str = "real",
            _allow_non_fake_inputs: bool = False, *, pre_dispatch: bool = False,
            record_module_stack: bool = False,
            _allow_fake_constant: bool = False, _error_on_data_dependent_ops: bool = True,
            record_stack_traces: bool = False, proxy_module_inputs: bool = False,
            _disable_torch_fn_metadata_mode: bool = False) -> Callable[..., GraphModule]:
    """A function that returns the graph of ``f`` for arguments like those that it is given.

    The functions and methods that ``f`` calls are the graph's nodes; PyTorch's are the operations below them
    (``torch.ops.aten``). The module that results takes the same arguments; those that are no tensors are
    constants of the graph. What
    needs values or shapes of tensors is refused, as in `torch.fx.symbolic_trace`.

    Args:
        f: the function.
        decomposition_table, pre_dispatch, record_module_stack, record_stack_traces, proxy_module_inputs,
            _allow_non_fake_inputs, _allow_fake_constant: not supported.
        tracing_mode: ``"real"``.
        _error_on_data_dependent_ops, _disable_torch_fn_metadata_mode: kept for their names.

    Raises:
        NotImplementedError: for what is not supported.

    Example:
        >>> from jaxflow.fx.experimental.proxy_tensor import make_fx
        >>> print(make_fx(lambda x: torch.relu(x) + 1)(torch.ones(2)).code.strip())
        def forward(self, x_1):
            relu = torch.relu(x_1);  x_1 = None
            add = relu + 1;  relu = None
            return add
    """
    given = dict(decomposition_table=decomposition_table, pre_dispatch=pre_dispatch,
                 record_module_stack=record_module_stack, record_stack_traces=record_stack_traces,
                 proxy_module_inputs=proxy_module_inputs, _allow_non_fake_inputs=_allow_non_fake_inputs,
                 _allow_fake_constant=_allow_fake_constant)
    for name, value in given.items():
        if value:
            raise NotImplementedError(f"make_fx({name}=...) is not supported: {_OPTIONS[name]}")
    if tracing_mode != "real":
        raise NotImplementedError(f"make_fx(tracing_mode={tracing_mode!r}) is not supported: there are no "
                                  "fake tensors, and graphs hold for all shapes")

    @functools.wraps(f)
    def traced(*args: Any) -> GraphModule:
        leaves, spec = _pytree.tree_flatten(args)

        def run(*given):  # without annotations, which would be the graph's
            values = [p if isinstance(leaf, Tensor) else leaf
                      for p, leaf in zip(_pytree.tree_leaves(given), leaves, strict=True)]
            return f(*_pytree.tree_unflatten(values, spec))

        tracer = _AllThrough()
        graph = tracer.trace(_with_parameters(run, _parameters(f, len(args))),
                             _pytree.tree_map(lambda _: PH, args))
        return GraphModule(tracer.root, graph, getattr(f, "__name__", type(f).__name__))

    return traced


def _parameters(f: Callable, count: int) -> list[str]:
    """The names of the parameters, where they are known."""
    code = getattr(f, "__code__", None)
    known = list(code.co_varnames[: code.co_argcount]) if code is not None else []
    return known[:count] if len(known) >= count else [f"arg{i}" for i in range(count)]


def _with_parameters(run: Callable, names: list[str]) -> Callable:
    """A function with these parameters that calls another one with them."""
    space: dict[str, Any] = {"run": run}
    text = ", ".join(names)
    exec(f"def traced({text}):\n    return run({text})\n", space)
    return space["traced"]


def get_proxy_mode() -> None:
    """None: no mode records operations."""
