"""``autograd.profiler``: the older interface of the profiler, and ``record_function``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ._recorder import Recorder, region
from .profiler_util import DeviceType as DeviceType
from .profiler_util import EventList as EventList
from .profiler_util import FunctionEvent as FunctionEvent
from .profiler_util import FunctionEventAvg as FunctionEventAvg

__all__ = ["EventList", "FunctionEvent", "emit_itt", "emit_nvtx", "load_nvprof", "parse_nvprof_trace",
           "profile", "record_function"]

NOT_SUPPORTED = {
    "profile_memory": "operations own no memory here, compiled programs do: jax.profiler."
                      "save_device_memory_profile(path) says what is allocated",
    "with_flops": "what XLA makes of the operations is not theirs any more; jax.jit(f).lower(...).compile()."
                  "cost_analysis() counts for a whole function",
    "with_modules": "it is about TorchScript modules, which there are none of here",
}


def refuse(**asked: Any) -> None:
    """Refuse the options that nothing here could answer. NotImplementedError names the first."""
    for name, value in asked.items():
        if value:
            raise NotImplementedError(f"profile({name}=True) is not supported: {NOT_SUPPORTED[name]}")


# What a region has entered: [the last block, those around it].
_OUTSIDE: list = [None]
_OUTSIDE.append(_OUTSIDE)


class record_function:
    """Name a region of the program in profiles: a context manager, or a decorator.

    Outside of a profile it marks the region in jax's own traces only.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"record_function() wants a name of type str, not {type(name).__name__}")
        self.name, self.args = name, args
        self.open = _OUTSIDE

    def __enter__(self) -> record_function:
        block = region(self.name)
        block.__enter__()
        self.open = [block, self.open]
        return self

    def __exit__(self, *exc: Any) -> None:
        block, outer = self.open
        try:
            self.open = outer
            if block is None:
                raise AssertionError("Expected record to be set")
            block.__exit__(None, None, None)
        except BaseException:
            self.open = outer
            raise

    def __call__(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return fn(*args, **kwargs)

        return wrapped


class profile:
    """Profile a ``with`` block; see ``jaxflow.profiler.profile`` for what is measured.

    Raises:
        RuntimeError: when it is entered a second time, or while another profile runs.
        NotImplementedError: for ``profile_memory``, ``with_flops`` and ``with_modules``.
    """

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None,
                 record_shapes: bool = False, with_flops: bool = False, profile_memory: bool = False,
                 with_stack: bool = False, with_modules: bool = False, use_kineto: bool = False,
                 use_cpu: bool = True) -> None:
        refuse(profile_memory=profile_memory, with_flops=with_flops, with_modules=with_modules)
        self.enabled = enabled
        self.entered = False
        self.function_events: EventList | None = None
        self.recorder = Recorder(record_shapes=record_shapes, with_stack=with_stack, device=True)

    def __enter__(self) -> profile | None:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        try:
            self.entered = True
            self.recorder.start()
            return self
        except BaseException:
            self.recorder.give_up()
            raise

    def __exit__(self, *exc: Any) -> None:
        try:
            if self.enabled:
                self.recorder.stop()
                self.function_events = self.recorder.events
        except BaseException:
            self.recorder.give_up()
            raise

    def _finished(self) -> EventList:
        if self.function_events is None:
            raise RuntimeError("Profiler didn't finish running")
        return self.function_events

    def __repr__(self) -> str:
        if self.function_events is None:
            return "<unfinished torch.autograd.profile>"
        return self.function_events.table()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """All events as text; see ``EventList.table``."""
        return self._finished().table(sort_by, row_limit, **options)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """One average for each name; see ``EventList.key_averages``."""
        return self._finished().key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """Everything added up."""
        return self._finished().total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Host microseconds of all events, each counted once."""
        return self._finished().self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Write a file that chrome://tracing and Perfetto open."""
        self._finished().export_chrome_trace(path, self.recorder.trace_events)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write source lines for flame graphs. AssertionError without ``with_stack``."""
        events = self._finished()
        assert self.recorder.with_stack, "export_stacks() requires with_stack=True"
        events.export_stacks(path, metric)


def _refused(name: str, instead: str) -> Callable:
    def refuse_it(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"torch.autograd.profiler.{name} is not supported: its tool does not know XLA. {instead}"
        )

    refuse_it.__name__ = refuse_it.__qualname__ = name
    refuse_it.__doc__ = f"Refuse: there is no ``{name}`` for XLA. NotImplementedError says what there is."
    return refuse_it


_TRACE = (
    "record_function names regions in jax's traces: jax.profiler.trace(folder), or profile(), whose "
    "export_chrome_trace(path) writes a file to open in Perfetto"
)
emit_nvtx = _refused("emit_nvtx", _TRACE)
emit_itt = _refused("emit_itt", _TRACE)
load_nvprof = _refused("load_nvprof", _TRACE)
parse_nvprof_trace = _refused("parse_nvprof_trace", _TRACE)
