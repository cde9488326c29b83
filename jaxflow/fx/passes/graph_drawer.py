"""Pictures of graphs, which are not supported."""

from __future__ import annotations

import importlib.util
from typing import Any, NoReturn

__all__ = ["FxGraphDrawer"]


class FxGraphDrawer:
    """Draws a graph in PyTorch; making one raises.

    Args:
        args, kwargs: those of PyTorch.

    Raises:
        RuntimeError: where the package ``pydot`` is not installed.
        NotImplementedError: where it is.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        if importlib.util.find_spec("pydot") is None:
            raise RuntimeError("FXGraphDrawer requires the pydot package to be installed, and is not "
                               "supported then either: print(module.graph) shows the nodes")
        raise NotImplementedError("torch.fx.passes.graph_drawer.FxGraphDrawer is not supported: "
                                  "print(module.graph) shows the nodes")
