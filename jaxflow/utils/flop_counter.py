"""``FlopCounterMode``: how many floating-point operations a block does."""

from __future__ import annotations

import math
import sys
import threading
import warnings
from collections import defaultdict
from typing import Any

from jaxflow._core.aval import Aval
from jaxflow._core.run_hooks import WATCHERS
from jaxflow.nn import Module
from jaxflow.nn.modules import _global_hooks

from ._flops import flops_of

__all__ = ["FlopCounterMode"]

_SUFFIXES = ["", "K", "M", "B", "T"]
#: The convolutions, and which tensor's elements each meet the window: the result's, or the input's.
_CONVOLUTIONS = {"_convolution": False, "_convolution_transposed": True}


def get_suffix_str(number: int) -> str:
    """The letter of the thousands that a number is written in."""
    return _SUFFIXES[max(0, min(len(_SUFFIXES) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """A number in the thousands of a letter."""
    return f"{number / 1000 ** _SUFFIXES.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: int, denom: int) -> str:
    """A part in percent."""
    return f"{num / denom:.2%}" if denom else "0%"


def _of_plan(plan: Any) -> int:
    """The operations of a plan; of convolutions and their gradients, by the terms in the sums."""
    name = plan.name.removesuffix("_vjp")
    if name not in _CONVOLUTIONS:
        return flops_of(plan.jaxpr)
    given = [kind.shape for kind in plan.kinds if isinstance(kind, Aval) and len(kind.shape) > 2]
    made = [v.aval.shape for v in plan.jaxpr.jaxpr.outvars if len(v.aval.shape) > 2]
    transposed = _CONVOLUTIONS[name]
    if name == plan.name:
        x, weight, result = *given[:2], made[0]
    else:
        result = given[-1]
        pairs = [tuple(given[:2])] if len(given) == 3 else [(given[0], made[0]), (made[0],
                                                                                  given[0])] if made else []
        if not pairs:
            return 0
        x, weight = _operands(pairs, result, transposed)
    return 2 * len(made) * math.prod(x if transposed else result) * math.prod(weight[1:])


def _operands(pairs: list, result: tuple, transposed: bool) -> tuple:
    """Which of two shapes is the input's and which the weight's; of two ways that with the smaller window."""
    fitting = [(x, w) for x, w in pairs if x[0] == result[0] and (
        x[1] == w[0] and result[1] % w[1] == 0 if transposed else w[0] == result[1] and x[1] % w[1] == 0)]
    return min(fitting, key=lambda pair: math.prod(pair[1][2:]) - math.prod(pair[0][2:]))


class FlopCounterMode:
    """Counts the floating-point operations that are recorded or run in its block by the thread that entered
    it.

    Counted are matrix products, ``2 m n k`` of ``(m, k)`` and ``(k, n)``, and convolutions, in whatever
    operation they are: also in recurrent layers and in attention, and what a backward pass computes again.
    PyTorch's counter leaves out some of them, and counts groups of convolutions more than once in backward.
    The table shows how much of it modules do in their forward passes; backward passes are in the total alone.
    No profiler may be started inside.

    Args:
        mods: without effect, as in PyTorch.
        depth: how deep the modules of the table lie.
        display: whether the table is printed at the end.
        custom_mapping: refused: operations here are not ATen's.

    Raises:
        NotImplementedError: for a ``custom_mapping``; in the block, for an operation with a loop of matrix
            products whose number of turns depends on data.

    Example:
        >>> from jaxflow.utils.flop_counter import FlopCounterMode
        >>> with FlopCounterMode(display=False) as counter:
        ...     _ = torch.ones(2, 3) @ torch.ones(3, 4)
        >>> counter.get_total_flops()
        48
    """

    def __init__(self, mods: Module | list[Module] | None = None, depth: int = 2, display: bool = True,
                 custom_mapping: dict | None = None) -> None:
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        if custom_mapping:
            raise NotImplementedError("FlopCounterMode: custom_mapping is not supported: it is by operators "
                                      "of ATen, and operations here are others.")
        self.depth, self.display = depth, display
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self._names: dict[int, str] = {}
        self._inside: list[str] = []
        self._handles: list = []
        self._watched = 0

    # ------------------------------------------------------------------------ what a watcher does

    def run(self, run: Any, plan: Any, inputs: list) -> list:
        """Run a plan and count it, unless it ran as others, which were counted."""
        before = self._watched
        at = WATCHERS.index(self)
        values = WATCHERS[at - 1].run(run, plan, inputs) if at else run(plan, inputs, True)
        if self._thread == threading.get_ident() and self._watched == before:
            self._watched += 1
            count, kind = _of_plan(plan), plan.name.strip("_").replace("_vjp", "_backward")
            for name in {"Global", *self._inside} if count else ():
                self.flop_counts[name][kind] += count
        return values

    def ran(self, name: str, seconds: float) -> None:
        """Nothing: operations were counted when they were called."""

    def compiled(self, name: str, seconds: float) -> None:
        """Nothing, likewise."""

    # ------------------------------------------------------------------------------------ modules

    def _entered(self, module: Module, args: tuple) -> None:
        if self._thread == threading.get_ident():
            if id(module) not in self._names:
                self._name(module, type(module).__name__)
            self._inside.append(self._names[id(module)])

    def _left(self, module: Module, args: tuple, result: Any) -> None:
        if self._thread == threading.get_ident() and self._names.get(id(module)) in self._inside:
            while self._inside.pop() != self._names[id(module)]:
                continue

    def _name(self, module: Module, name: str) -> None:
        self._names[id(module)] = name
        for child_name, child in module.named_children():
            if id(child) not in self._names:
                self._name(child, f"{name}.{child_name}")

    # -------------------------------------------------------------------------------------- counts

    def get_total_flops(self) -> int:
        """The operations of the block."""
        return sum(self.flop_counts["Global"].values()) if "Global" in self.flop_counts else 0

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """The operations by module and kind; all of them under ``Global``."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """The counts as text.

        Args:
            depth: how deep modules may lie; default the one that was given.
        """
        depth = self.depth if depth is None else depth
        whole = self.get_total_flops()
        rows: list[list[str]] = []
        names = [name for name in sorted(self.flop_counts) if name != "Global" and (
            depth is None or name.count(".") < depth)]
        subsumed = any(sum(self.flop_counts[name].values()) >= whole for name in names)
        if "Global" in self.flop_counts and not subsumed:
            names.insert(0, "Global")
        for name in names:
            indent = 0 if name == "Global" else name.count(".") + (not subsumed)
            counts = self.flop_counts[name]
            for label, count in ((name, sum(counts.values())), *((f" - {kind}", n) for kind,
                                                                 n in counts.items())):
                rows.append([" " * indent + label, convert_num_with_suffix(count, get_suffix_str(whole)),
                             convert_to_percent_str(count, whole)])
        return _table(rows or [["Global", "0", "0%"]])

    def __enter__(self) -> FlopCounterMode:
        self.flop_counts.clear()
        self._inside.clear()
        self._thread = threading.get_ident()
        self._handles += [_global_hooks.register_module_forward_pre_hook(self._entered),
                        _global_hooks.register_module_forward_hook(self._left, always_call=True)]
        WATCHERS.append(self)
        return self

    def __exit__(self, *exc: object) -> None:
        if self in WATCHERS:
            WATCHERS.remove(self)
        while self._handles:
            self._handles.pop().remove()
        if self.display:
            print(self.get_table(self.depth), file=sys.stdout)


def _table(rows: list[list[str]]) -> str:
    """Rows under a head: the first column to the left, the others to the right."""
    head = ("Module", "FLOP", "% Total")
    widths = [max(len(name) + 2, *(len(row[i]) for row in rows)) for i, name in enumerate(head)]
    lines = [[name.ljust(width) if i == 0 else name.rjust(width) for i, (name, width) in enumerate(zip(texts,
                                                                                                       widths))]
             for texts in (head, *rows)]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("  ".join(line) for line in lines)
