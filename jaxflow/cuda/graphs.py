"""CUDA's graphs, which jaxflow does not record: programs are compiled as a whole."""

from __future__ import annotations

from typing import Any, NoReturn

_INSTEAD = " is not supported: XLA runs a whole program at once; use torch.compile"


def is_current_stream_capturing() -> bool:
    """False: nothing is ever captured into a graph of CUDA's."""
    return False


class CUDAGraph:
    """A recorded graph of CUDA's; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    def __new__(cls, keep_graph: bool = False) -> NoReturn:
        raise NotImplementedError(f"torch.cuda.CUDAGraph{_INSTEAD}")


class graph:  # noqa: N801 - PyTorch's name
    """A block captured into a graph of CUDA's; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"torch.cuda.graph(){_INSTEAD}")
