"""How PyTorch's autograd errors call nodes and tensors, and the longest of those errors."""

from __future__ import annotations

from jaxflow._core import dtype as dtypes
from jaxflow._core.graph import short_name
from jaxflow._dispatch.saved_tensors import FREED as FREED
from jaxflow._ops.views import VIEWS

from . import anomaly_mode

#: Said of a saved tensor that `detach_` was called on: PyTorch, which keeps the tensor, has lost its node.
CUT_OFF = ("Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
           "This is not supported, please use out-of-place `.detach()` instead")


def type_name(aval) -> str:
    """An aval's type as errors say it: ``torch.FloatTensor``, ``CPUBFloat16Type``."""
    return dtypes.type_name(aval.dtype, aval.device.type)


def written(cls: type) -> str:
    """A Python type as CPython prints it in errors: with its module only when it is written in C."""
    in_c = not cls.__flags__ & (1 << 9)  # Py_TPFLAGS_HEAPTYPE
    return f"{cls.__module__}.{cls.__name__}" if in_c and cls.__module__ != "builtins" else cls.__name__


def overwritten(aval, maker: str | None, number: int, cell: list, expected: int) -> RuntimeError:
    """The error for a saved tensor whose version is not the expected one; ``maker`` names its node."""
    where = "" if maker is None else f", which is output {number} of {short_name(maker)},"
    hint = (
        "the backtrace further above shows the operation that failed to compute its gradient. The "
        "variable in question was changed in there or anywhere later. Good luck!"
        if anomaly_mode.is_anomaly_enabled() else
        "enable anomaly detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True, check_nan=False)."
    )
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{type_name(aval)} {list(aval.shape)}]{where} is at version {cell[0]}; expected "
        f"version {expected} instead. Hint: {hint}"
    )


def current_maker(cell: list, edge: tuple | None) -> str | None:
    """The node a saved input comes from now: the last recorded write, or the node it had when saved.

    A write leaves the name of its node behind the version in ``cell``. A view finds itself, after a
    write of its base, read from the new base.
    """
    node = None if edge is None else edge[0]
    if _reads_a_base(node):
        return "AsStridedBackward0"
    if len(cell) > 1 and cell[1] is not None:
        return cell[1]
    return None if node is None or node.name().endswith("AccumulateGrad") else node.name()


def _reads_a_base(node) -> bool:
    plan = getattr(node, "_plan", None)
    return plan is not None and (
        plan.name in VIEWS or plan.name == "split" or plan.name.startswith("read_")
    )
