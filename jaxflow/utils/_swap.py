"""Two tensors that change places without changing who refers to them."""

from __future__ import annotations

import weakref

from jaxflow._core.fields import exchange
from jaxflow._core.tensor import Tensor
from jaxflow._exec.run import flush


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Exchange everything two tensors are: elements, class, attributes, gradients; not their identities.

    Raises:
        RuntimeError: when there is a weak reference to one of them, or a graph accumulates gradients in it.
    """
    flush()  # what is recorded may refer to them weakly: NOTE [Undoing what cannot be computed]
    for name, t in (("t1", t1), ("t2", t2)):
        if weakref.getweakrefs(t):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
        if t._accumulator is not None:
            raise RuntimeError(
                f"Expected use_count of {name} to be 1 or 2 with an AccumulateGrad node: a graph accumulates "
                "gradients in it; make sure you are not holding references to the tensor in other places."
            )
    exchange(t1, t2)
