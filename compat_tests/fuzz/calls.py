"""Statements that call one of PyTorch's operators, in any of its forms."""

import dataclasses
import functools

import torch

from .arguments import argument, writable
from .operators import REQUIRED, present, table
from .program import Instruction

TRIES = 6
#: What has to be sorted: of other numbers the result is not defined.
SORTED = {"sorted_sequence": ".sort()[0]"}


@functools.cache
def names():
    """The paths of the table by what they are a form of, so that each operation is as likely as another."""
    found = {}
    for path in table():
        found.setdefault(path.rpartition(".")[2].rstrip("_"), []).append(path)
    return found


def operator(d, paths=None):
    """A call that PyTorch takes, of any operator or one of ``paths``; now and then one that it refuses."""
    path = d.choice(paths or d.choice(names().values()))
    forms = table()[path]
    refused = None
    if not present(path):
        return None
    for _ in range(TRIES):
        call = _drawn(d, path, d.choice(forms))
        if call is None:
            continue
        fine, result = d.tried(call.trial)
        if fine is None:
            continue
        if fine:
            return call.statement(d, result)
        refused = call
    if refused is None or not d.chance(0.25):
        return None
    return refused.statement(d, None)


@dataclasses.dataclass(frozen=True)
class Call:
    """A call: its text, how to try it without a trace, and the operand that it writes into, if any."""

    text: str
    trial: str
    target: object = None

    def statement(self, d, result):
        """The statement that keeps what it gives; ``result`` is what it gave when it was tried."""
        if self.target is not None:
            leaf = self.target.requires_grad and self.target.is_leaf
            return Instruction(f"with T.no_grad(): {self.text}" if leaf and d.chance(0.8) else self.text)
        if isinstance(result, (tuple, list)):
            if not result or not all(isinstance(x, torch.Tensor) for x in result):
                return Instruction(self.text)
            makes = tuple(d.fresh() for _ in range(min(len(result), 3)))
            target = ", ".join(makes) + ("," if len(makes) == 1 else "")
            return Instruction(f"{target} = ({self.text})[:{len(makes)}]", makes)
        if result is not None and not isinstance(result, torch.Tensor):
            made = d.fresh_scalar()
        else:
            made = d.fresh()
        return Instruction(f"{made} = {self.text}", (made,))


def _drawn(d, path, form):
    inplace = form.writes
    method = path.startswith("Tensor.")
    name = d.name(writable if inplace else lambda t: True)
    if name is None or not form.arguments:
        return None
    first = d.pool[name]
    positional, by_name = [], []
    for k, parameter in enumerate(form.arguments):
        if k == 0 and parameter.type == "Tensor":
            positional.append(f"{name}{SORTED.get(parameter.name, '')}")
            continue
        text = argument(d, parameter, first, inplace)
        if text is None and parameter.default is REQUIRED:
            return None
        if text is None:
            by_name.append("")  # what follows is given by name
        elif parameter.by_name or by_name or (k > 1 and d.chance(0.2)):
            by_name.append(f"{parameter.name}={text}")
        else:
            positional.append(text)
    by_name = [text for text in by_name if text]
    if form.outs:
        if len(form.outs) > 1 or d.chance(0.3):
            return None
        by_name.append(f"out={_out(d, first)}")
    if method:
        if positional[0] != name:
            return None
        texts = [f"{t}.{path[7:]}({', '.join([*positional[1:], *by_name])})"
                 for t in (name, f"{name}.detach().clone()")]
    else:
        texts = [f"T.{path}({', '.join([t, *positional[1:], *by_name])})"
                 for t in (positional[0], f"{name}.detach().clone()")]
    return Call(texts[0], texts[inplace], first if inplace else None)


def _out(d, first):
    """A tensor to write into that shares no memory with the others.

    Not of a higher precision than the operands: its digits are not those of what was computed.
    """
    other = first.dtype in (torch.float64, torch.complex128) and d.chance(0.5)
    return d.leaf(tuple(first.shape), None if other else str(first.dtype).removeprefix("torch."), False)
