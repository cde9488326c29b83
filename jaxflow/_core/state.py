"""What belongs to a thread: grad mode, inference mode, the executor, and its open Programs."""

from __future__ import annotations

import functools
import threading

from jaxflow._core import flags

#: What ``on_host`` says: small operations run in NumPy (`making_data`); those of any size do until what they
#: took would have paid for compiling them (`filling`).
SMALL, UNTIL_PAID = "small", "until paid"


class ThreadState(threading.local):
    """One instance, seen differently by each thread; class attributes are what a thread starts with."""

    grad = True
    inference = False
    constant = False  # whether the user switched grad off: NOTE [What jax may not differentiate]
    eager = flags.default_executor() == "eager"
    on_host: str = ""  # what runs in NumPy of what runs eagerly: what is `SMALL`, or `UNTIL_PAID`
    saving = None  # the saved-tensor hooks in force (saving.Hooks)
    multithreading = True  # what set_multithreading_enabled says
    mutation = False  # inside allow_mutation_on_saved_tensors
    evaluating = None  # in anomaly mode, the node whose backward runs
    no_saving: str | None = None  # why saved-tensor hooks are refused
    axes: tuple = ()  # of the vmaps under way, outermost first
    autocast: tuple | None = None  # autocasting, where it was set (autocast.Settings)
    casts: dict | None = None  # casts of weights that are kept until the outermost autocast region ends
    uncast = False  # inside a function whose operands were cast: its own operations are not
    captors: tuple = ()  # the reverse transforms whose functions run, outermost first
    pinned = False  # whether what is interpreted stays so (policy.pinned)
    streak = 0  # how many cold, cheap programs in a row: NOTE [Run at once]
    tried = None  # what is recorded since it seemed to be a loop's, while nothing of it runs compiled
    programs: dict | None = None  # device -> the open Program of this thread
    spares: list | None = None  # NOTE [Spare arrays]

    def __init__(self) -> None:
        self.programs = {}
        self.spares = []


state = ThreadState()


class execution:
    """Choose the executor inside a ``with`` block (or a decorated function): ``deferred`` or ``eager``.

    ``deferred`` records operations and runs them as compiled programs when somebody needs a number;
    ``eager`` runs each at once, one kernel an operation. The environment variable
    ``JAXFLOW_EXECUTION`` chooses what a thread starts with. Results are the same. Inside a call that
    :func:`jaxflow.compile` captures it changes nothing.

    Raises:
        ValueError: for any other name.
    """

    def __init__(self, executor: str) -> None:
        if executor not in flags.EXECUTORS:
            raise ValueError(f"execution() takes one of {flags.EXECUTORS}, not {executor!r}")
        self.eager = executor == "eager"
        self._before: tuple | None = None

    def _values(self) -> dict[str, bool | str]:
        # A call that is captured has to record all of it: the numbers drawn now would be those of every call.
        return {"eager": self.eager and state.programs.__class__ is dict}

    def __enter__(self) -> execution:
        before, values = {"eager": state.eager, "on_host": state.on_host}, self._values()
        self._before = before, self._before
        try:
            state.__dict__.update(values)
            return self
        except BaseException:
            state.__dict__.update(before)
            raise

    def __exit__(self, *exc) -> None:
        before, outer = self._before
        try:
            state.__dict__.update(before)
            self._before = outer
        except BaseException:
            state.__dict__.update(before)
            self._before = outer
            raise

    def __call__(self, fn):
        @functools.wraps(fn)
        def wrapped(*args, **kwargs):
            before = {"eager": state.eager, "on_host": state.on_host}
            try:
                with execution("eager" if self.eager else "deferred"):
                    return fn(*args, **kwargs)
            except BaseException:
                state.__dict__.update(before)
                raise

        return wrapped


class making_data(execution):  # noqa: N801 - reads like the context manager that it extends
    """The eager executor for small and ever changing work: see NOTE [Run at once]."""

    def __init__(self) -> None:
        super().__init__("eager")

    def _values(self) -> dict[str, bool | str]:
        return {**super()._values(), "on_host": SMALL}


class filling(execution):  # noqa: N801 - reads like the context manager that it extends
    """The eager executor for draws of one tensor each: see NOTE [Draws that fill]."""

    def __init__(self) -> None:
        super().__init__("eager")

    def _values(self) -> dict[str, bool | str]:
        return {**super()._values(), "on_host": UNTIL_PAID}
