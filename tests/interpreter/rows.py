"""The gradient rows, run with the interpreter held against XLA."""

from gradient_rows import ROWS, VIEW_ROWS

import jaxflow as torch

from .held import held_against_xla

ALL = {**ROWS, **VIEW_ROWS}


def hold(names):
    """Run the rows eagerly, forward and backward; what was seen."""
    with torch.execution("eager"), held_against_xla() as held:
        for name in names:
            row = ALL[name]
            inputs = row.inputs()
            outputs = row.call(*inputs)
            outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
            outputs = [t for t in outputs if t.requires_grad]
            if outputs:
                ones = [torch.ones_like(t) for t in outputs]
                torch.autograd.grad(outputs, inputs, ones, allow_unused=True)
    return held
