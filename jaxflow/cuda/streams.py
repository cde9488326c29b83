"""Streams and events of GPUs, for programs that order their work by hand."""

from __future__ import annotations

from typing import Any

from jaxflow import _streams
from jaxflow._core.device import device as _device

from ._gpus import gpus, index_of, needed


class Stream(_streams.Stream):
    """The order of a GPU's work. RuntimeError where there is no GPU.

    Args:
        device: the GPU; default the current one.
        priority: of no consequence.
    """

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        if not gpus():
            raise RuntimeError("torch.cuda.Stream requires CUDA support")
        super().__init__(_device("cuda", index_of(device)), priority=priority)

    @property
    def cuda_stream(self) -> int:
        """The handle of the stream: 0, which is CUDA's for the one that all work goes to."""
        return 0

    def __repr__(self) -> str:
        return f"<torch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event(_streams.Event):
    """A point in a GPU's work, recorded by waiting for it. RuntimeError where there is no GPU.

    Args:
        enable_timing: whether `elapsed_time` may be called.
        blocking: of no consequence.
        interprocess: of no consequence.
        external: of no consequence.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False,
                 external: bool = False) -> None:
        if not gpus():
            raise RuntimeError("torch.cuda.Event requires CUDA support")
        super().__init__(_device("cuda", index_of()), enable_timing=enable_timing)

    def __repr__(self) -> str:
        return f"<torch.cuda.Event {'uninitialized' if self._at is None else hex(id(self))}>"


class StreamContext:
    """Inside, work is handed to ``stream``, as everywhere."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        pass


def stream(stream: Stream | None) -> StreamContext:
    """A context in which work is handed to ``stream``: of no consequence, since all are one.

    Args:
        stream: a `Stream`, or None.

    Returns:
        A context manager that changes nothing.

    Example:
        >>> with torch.cuda.stream(None):
        ...     torch.ones(2) + 1
        tensor([2., 2.])
    """
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Hand work to ``stream`` from now on: of no consequence, since all are one.

    Args:
        stream: a `Stream`, or None.
    """


def current_stream(device: Any = None) -> Stream:
    """The order of a GPU's work. AssertionError where there is no GPU.

    Args:
        device: a number, a ``torch.device`` or a string such as ``"cuda:1"``; None for the current GPU.

    Returns:
        A new `Stream`; all streams of a GPU are one.

    Raises:
        AssertionError: where there is no GPU, or none of that number.
        ValueError: for a device that is no GPU.

    Example:
        >>> torch.cuda.current_stream().query() if torch.cuda.is_available() else True
        True
    """
    needed()
    return Stream(device)


default_stream = current_stream
