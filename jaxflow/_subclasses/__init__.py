"""Classes that libraries test for by ``torch._subclasses``: tensors without numbers, made by a tracer."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow._core.tensor import Tensor
from jaxflow._publish.overrides import disabled


class FakeTensor(Tensor):
    """A tensor without numbers inside PyTorch's tracer; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    __torch_function__ = disabled  # so that no public function needs to look for overrides

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "torch._subclasses.FakeTensor is not supported: make tensors on the device 'meta', which have a "
            "shape and a dtype and no numbers")


class FakeTensorMode:
    """A mode in which tensors have no numbers; it cannot be made.

    Raises:
        NotImplementedError: when one is made.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "torch._subclasses.FakeTensorMode is not supported: use `with torch.device('meta')`")
