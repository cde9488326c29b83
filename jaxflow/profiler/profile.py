"""``profile``: what ran between two points of a program, step by step or as a whole."""

from __future__ import annotations

import contextlib
import enum
import gzip
import json
import os
import pathlib
import socket
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from jaxflow import cuda
from jaxflow.autograd._recorder import Recorder, region
from jaxflow.autograd.profiler import refuse
from jaxflow.autograd.profiler_util import EventList
from jaxflow.autograd.profiler_util import ProfilerActivity as ProfilerActivity


class ProfilerAction(enum.Enum):
    """What a profile does at a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """The activities that this machine has."""
    found = {ProfilerActivity.CPU}
    if cuda.is_available():
        found.add(ProfilerActivity.CUDA)
    return found


def kineto_available() -> bool:
    """False: jax's profiler does its work."""
    return False


def schedule(*, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0,
             skip_first_wait: int = 0) -> Callable[[int], ProfilerAction]:
    """What to do at each step: ``skip_first`` steps nothing, then cycles of wait, warm-up and recording.

    Args:
        wait: steps at the beginning of a cycle in which nothing is done.
        warmup: steps after them (nothing is recorded either; compilations fall into them).
        active: steps that are recorded.
        repeat: how many cycles; 0 for no end.
        skip_first: steps before the first cycle.
        skip_first_wait: not 0 leaves the first cycle's wait out.

    Raises:
        AssertionError: for negative numbers, or no active step.
    """
    assert wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0, (
        f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
        f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
    )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    cycle = wait + warmup + active

    def action_of(step: int) -> ProfilerAction:
        assert step >= 0, f"Step must be non-negative. Got {step}."
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        if repeat > 0 and step >= repeat * cycle:
            return ProfilerAction.NONE
        at = step % cycle
        if at < wait:
            return ProfilerAction.NONE
        if at < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if at < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action_of


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False,
                              use_python_export: bool = False) -> Callable[[profile], None]:
    """For ``on_trace_ready``: writes each trace to a file of its own in ``dir_name``.

    Raises:
        RuntimeError: by what is returned, where the folder cannot be made.
    """

    def write(prof: profile) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError("Can't create directory: " + dir_name) from error
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}{ending}"))

    return write


class profile:
    """Take the time of operations, programs and named regions.

    Under the deferred executor an operation runs when its program does: the host time of ``mul`` is the time
    of recording it, and each compiled program is a row of its own (``program [mul*3 sum]``), with the
    time XLA was busy with it as its device time. Under the eager executor operations have device time
    themselves. A profile runs what was recorded before it begins, and again before it ends, so that what
    happened inside is in it.

    Args:
        activities: of ``ProfilerActivity``. Device time is measured on CPUs too.
        schedule: what to do at which step (see `schedule`); by default everything is recorded.
        on_trace_ready: called with the profile whenever a recording is complete.
        record_shapes: note the shapes of the operands.
        with_stack: note the source line that called each operation.
        acc_events: keep the events of earlier cycles.

    Raises:
        NotImplementedError: for ``profile_memory``, ``with_flops``, ``with_modules``, and options of Kineto.
        AssertionError: for activities that do not exist.
        RuntimeError: when it starts while another profile runs.
    """

    def __init__(self, *, activities: Iterable[ProfilerActivity] | None = None,
                 schedule: Callable[[int], ProfilerAction] | None = None,
                 on_trace_ready: Callable[[profile], Any] | None = None, record_shapes: bool = False,
                 profile_memory: bool = False, with_stack: bool = False, with_flops: bool = False,
                 with_modules: bool = False, experimental_config: Any = None,
                 execution_trace_observer: Any = None, acc_events: bool = False,
                 use_cuda: bool | None = None, custom_trace_id_callback: Any = None,
                 post_processing_timeout_s: float | None = None) -> None:
        refuse(profile_memory=profile_memory, with_flops=with_flops, with_modules=with_modules)
        for name, given in (("experimental_config", experimental_config),
                            ("execution_trace_observer", execution_trace_observer),
                            ("custom_trace_id_callback", custom_trace_id_callback)):
            if given is not None:
                raise NotImplementedError(f"profile({name}=...) is not supported: it configures Kineto")
        self.activities = supported_activities() if activities is None else set(activities)
        assert self.activities and self.activities <= set(ProfilerActivity), (
            "No valid profiler activities found"
        )
        if ProfilerActivity.CUDA in self.activities - supported_activities():
            warnings.warn("CUDA is not available, disabling CUDA profiling", stacklevel=2)
        self.schedule = schedule or _always
        self.record_steps = schedule is not None
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.with_stack, self.acc_events = record_shapes, with_stack, acc_events
        self.step_num = 0
        self.current_action = self.schedule(0)
        self.recorder: Recorder | None = None  # the last one that was started
        self.recording = False
        self.metadata: dict[str, Any] = {}
        self._step: contextlib.AbstractContextManager | None = None
        self._earlier = EventList()
        self._saved = False

    def __enter__(self) -> profile:
        try:
            self.start()
            return self
        except BaseException:
            self._give_up()
            raise

    def __exit__(self, *exc: Any) -> None:
        try:
            self.stop()
        except BaseException:
            self._give_up()
            raise

    def _give_up(self) -> None:
        """After an interrupt: record no more, or no other profile could be started."""
        if self.recorder is not None:
            self.recorder.give_up()

    def start(self) -> None:
        """Begin, at step 0."""
        self._begin(self.current_action)
        self._open_step()

    def stop(self) -> None:
        """End; what was recorded and not yet handed to ``on_trace_ready`` is now."""
        self._close_step()
        assert self.recorder is not None or self.current_action not in _RECORDING, (
            "Profiler must be initialized before stopping trace"
        )
        if self.recording:
            self._complete()

    def step(self) -> None:
        """Say that the next step of the program begins."""
        self._close_step()
        before = self.current_action
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        if self.recording and (
            before is ProfilerAction.RECORD_AND_SAVE or self.current_action not in _RECORDING
        ):
            self._complete()
        self._begin(self.current_action)
        self._open_step()

    def _begin(self, action: ProfilerAction) -> None:
        if action in _RECORDING and not self.recording:
            if self.acc_events and self.recorder is not None:
                self._earlier += self.recorder.events
            self.recorder = Recorder(
                record_shapes=self.record_shapes, with_stack=self.with_stack, device=True
            )
            self.recorder.start()
            self.recording, self._saved = True, False

    def _complete(self) -> None:
        self.recorder.stop()
        self.recording = False
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _open_step(self) -> None:
        if self.record_steps and self.recording:
            self._step = region(f"ProfilerStep#{self.step_num}", "step")
            self._step.__enter__()

    def _close_step(self) -> None:
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def _found(self, purpose: str) -> EventList:
        assert self.recorder is not None, f"Profiler must be initialized before {purpose}"
        return EventList([*self._earlier, *self.recorder.events])

    def events(self) -> EventList:
        """Everything that was recorded (in the last cycle, without ``acc_events``), event by event."""
        return self._found("accessing events")

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> EventList:
        """One average for each name; ``print(prof.key_averages().table(sort_by="cpu_time_total"))``.

        Raises:
            AssertionError: before anything was recorded.
        """
        return self._found("getting key averages").key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """Write a file that chrome://tracing and Perfetto open; compressed if its name ends on ``.gz``.

        Raises:
            AssertionError: before anything was recorded.
            RuntimeError: for a second time.
        """
        events = self._found("exporting chrome trace")
        if self._saved:
            raise RuntimeError("Trace is already saved.")
        self._saved = True
        more = [*self.recorder.trace_events, *(
            {"ph": "M", "pid": 0, "name": name, "args": {"value": value}}
            for name, value in self.metadata.items()
        )]
        if not str(path).endswith(".gz"):
            events.export_chrome_trace(path, more)
            return
        with tempfile.TemporaryDirectory() as folder:
            plain = pathlib.Path(folder) / "trace.json"
            events.export_chrome_trace(str(plain), more)
            with gzip.open(path, "wb") as file:
                file.write(plain.read_bytes())

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Write source lines for flame graphs. AssertionError without ``with_stack``."""
        events = self._found("exporting stacks")
        assert self.with_stack, "export_stacks() requires with_stack=True"
        events.export_stacks(path, metric)

    def add_metadata(self, key: str, value: str) -> None:
        """Note a string in the trace file."""
        self.metadata[key] = value

    def add_metadata_json(self, key: str, value: str) -> None:
        """Note a JSON text in the trace file. ValueError for what is none."""
        self.metadata[key] = json.loads(value)

    preset_metadata_json = add_metadata_json

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Refuse. NotImplementedError says what there is."""
        refuse(profile_memory=True)

    def toggle_collection_dynamic(self, enable: bool, activities: Iterable[ProfilerActivity]) -> None:
        """Refuse. NotImplementedError says what there is."""
        raise NotImplementedError(
            "toggle_collection_dynamic() is not supported: use a schedule, or start() and stop()"
        )
