"""`ShapeProp`: runs a graph, and notes at each node what its result looks like."""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxflow._core.dtype import dtype as Dtype
from jaxflow._core.layout import channels_last, channels_last_3d, contiguous_format, memory_format
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.fx.graph_module import GraphModule
from jaxflow.fx.interpreter import Interpreter
from jaxflow.fx.node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """What a tensor looks like."""

    shape: Size
    dtype: Dtype
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format | None
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """The `TensorMetadata` of a tensor."""
    found = None
    if include_contiguity:
        formats = (contiguous_format, *((channels_last,) if result.ndim == 4 else ()),
                   *((channels_last_3d,) if result.ndim == 5 else ()))
        found = next((f for f in formats if result.is_contiguous(memory_format=f)), None)
    return TensorMetadata(result.shape, result.dtype, result.requires_grad, result.stride(), found, False, {})


class ShapeProp(Interpreter):
    """Runs a graph, and notes shape, dtype and type of each result in ``node.meta``.

    The entries are ``tensor_meta``, with a `TensorMetadata` for each tensor, and ``type``.

    Args:
        gm: the module with the graph.
        fake_mode: not supported; None.

    Raises:
        NotImplementedError: for a ``fake_mode``.

    Example:
        >>> from jaxflow.fx.passes.shape_prop import ShapeProp
        >>> traced = torch.fx.symbolic_trace(nn.Linear(2, 3))
        >>> _ = ShapeProp(traced).propagate(torch.ones(5, 2))
        >>> [list(node.meta["tensor_meta"].shape) for node in traced.graph.nodes][-1]
        [5, 3]
    """

    def __init__(self, gm: GraphModule, fake_mode: Any = None) -> None:
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp(fake_mode=...) is not supported: there are no fake "
                                      "tensors. Give propagate() tensors of the shapes that are meant")

    def run_node(self, n: Node) -> Any:
        """The result of a node, which is noted.

        Raises:
            RuntimeError: when the node cannot be run.
        """
        try:
            result = super().run_node(n)
        except Exception as error:
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def look(x: Any) -> Any:
            nonlocal found
            if not isinstance(x, Tensor):
                return x
            found = True
            return _extract_tensor_metadata(x)

        meta = map_aggregate(result, look)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run the graph with these arguments, and return its result."""
        return self.run(*args)
