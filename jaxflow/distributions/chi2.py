"""The chi-squared distribution."""

from __future__ import annotations

from jaxflow._core.tensor import Tensor

from . import constraints
from .gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The sum of the squares of ``df`` standard normal numbers: a gamma distribution of ``df / 2`` and 0.5.

    Args:
        df: degrees of freedom, positive; a tensor or a number.
        validate_args: whether parameters and values are checked.

    Example:
        >>> torch.distributions.Chi2(torch.tensor([2.0])).mean
        tensor([2.])
    """

    arg_constraints = {"df": constraints.positive}

    def __init__(self, df: Tensor | float, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return Gamma.expand(self, batch_shape, self._get_checked_instance(Chi2, _instance))

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2
