"""Anomaly mode: backward names the function that failed or made a NaN, and the line that recorded it.

It holds for the whole process. Every node made in it keeps the call stack (``metadata["traceback_"]``)
and, when a pass with ``create_graph`` made it, the node whose backward that was (``parent_``). With
``check_nan`` each gradient is read as soon as it is computed, so nothing stays deferred: it is for
finding faults.
"""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Any

import jax
import numpy as np

from jaxflow._core import graph
from jaxflow._core.state import state
from jaxflow._transforms.batching import Batched
from jaxflow._views.values import value_of

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_enabled = False
_check_nan = True


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return _enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for NaN; it need not be on for that."""
    return _check_nan


def _set(mode: Any, check_nan: Any) -> None:
    """Switch, or change nothing: NOTE [Modes and interrupts]."""
    for position, (name, value) in enumerate((("enabled", mode), ("check_nan", check_nan)), 1):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {position}) must be bool, not "
                f"{type(value).__name__}"
            )
    before = _enabled, _check_nan
    try:
        _switch(mode, check_nan)
    except BaseException:
        _switch(*before)
        raise


def _switch(mode: bool, check_nan: bool) -> None:
    global _enabled, _check_nan
    _enabled, _check_nan = mode, check_nan
    graph.watch_nodes(_remember if mode else None)


def _remember(node) -> None:
    """Note on a new node where it was recorded, and by whose backward."""
    frames = traceback.extract_stack(sys._getframe(1))
    users = [f for f in frames if not f.filename.startswith(_PACKAGE)]
    node._dict = {"traceback_": traceback.format_list(users)}
    if state.evaluating is not None:
        node._dict["parent_"] = state.evaluating


class detect_anomaly:
    """``with detect_anomaly():`` turns anomaly mode on, with a warning that it is slow.

    Args:
        check_nan: raise RuntimeError when backward makes a NaN.
    """

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = _enabled
        self.check_nan = check_nan
        self.prev_check_nan = _check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
            "enabled for debugging.", UserWarning, stacklevel=2,
        )

    def __enter__(self) -> None:
        try:
            return _set(True, self.check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise

    def __exit__(self, *exc: object) -> None:
        try:
            _switch(self.prev, self.prev_check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise


class set_detect_anomaly:
    """Turn anomaly mode on or off: at once when called, until the end of the block as a context manager."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = _enabled
        self.prev_check_nan = _check_nan
        try:
            _set(mode, check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise

    def __enter__(self) -> None:
        """Nothing: it was set when made."""

    def __exit__(self, *exc: object) -> None:
        try:
            _switch(self.prev, self.prev_check_nan)
        except BaseException:
            _switch(self.prev, self.prev_check_nan)
            raise


# ------------------------------------------------------------------------------- for the engine


def check(node, grads) -> None:
    """Read the gradients a node computed. RuntimeError, with its name, if one has a NaN."""
    edge_inputs = range(len(grads)) if node._is_python else node._plan.edge_inputs
    for number, i in enumerate(edge_inputs):
        grad = grads[i]
        if grad is not None and _has_nan(grad):
            raise RuntimeError(
                f"Function '{node.name()}' returned nan values in its {number}th output."
            )


def _has_nan(grad) -> bool:
    if grad._aval.dtype.category < 2:
        return False
    value = value_of(grad)
    if isinstance(value, Batched):  # any of the examples
        value = value.inner
    array = value.get()
    return not isinstance(array, jax.core.Tracer) and bool(np.isnan(np.asarray(array)).any())


def report(node) -> None:
    """Warn about the node whose backward failed: where it was recorded, and what induced that."""
    notes = node._dict or {}
    if "traceback_" not in notes:
        warnings.warn(
            f"Error detected in {node.name()}. No forward pass information available. Enable detect "
            "anomaly during forward pass for more information.", UserWarning, stacklevel=2,
        )
        return
    warnings.warn(
        f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n"
        + "".join(notes["traceback_"]), UserWarning, stacklevel=2,
    )
    parent = notes.get("parent_")
    while parent is not None:
        notes = parent._dict or {}
        if "traceback_" not in notes:
            warnings.warn(
                f"\n\nPrevious calculation was induced by {parent.name()}. No forward pass information "
                "available. Enable detect anomaly during forward pass for more information.",
                UserWarning, stacklevel=2,
            )
            return
        warnings.warn(
            f"\n\nPrevious calculation was induced by {parent.name()}. Traceback of forward call that "
            "induced the previous calculation:\n" + "".join(notes["traceback_"]),
            UserWarning, stacklevel=2,
        )
        parent = notes.get("parent_")
