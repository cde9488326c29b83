"""The base class of all distributions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.size import Size
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad

from . import constraints
from ._checking import fulfilled
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """What all distributions have: shapes, checks of arguments, names of methods.

    A sample has the shape ``sample_shape + batch_shape + event_shape``: independent draws, then
    distributions of other parameters, then what one draw is.

    Args:
        batch_shape: the shape that the parameters broadcast to.
        event_shape: the shape of one draw.
        validate_args: whether parameters and values are checked; None for what was set by
            `set_default_validate_args`, which is True unless Python runs with ``-O``.

    Raises:
        ValueError: for a parameter outside its constraint.

    Example:
        >>> torch.distributions.Normal(torch.zeros(3), 1.0).batch_shape
        torch.Size([3])
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions that are made from now on check their arguments.

        Args:
            value: True or False.

        Raises:
            ValueError: for anything else.
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Sequence[int] = (), event_shape: Sequence[int] = (),
                 validate_args: bool | None = None) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        """Hold each parameter against its constraint. ValueError."""
        try:
            wanted = self.arg_constraints
        except NotImplementedError:
            wanted = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` "
                "or initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4)
        for name, constraint in wanted.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # the other parameter determines it
            value = getattr(self, name)
            if not fulfilled(constraint, value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to satisfy the constraint {constraint!r}, but found invalid "
                    f"values:\n{value}")

    # ----- shapes ---------------------------------------------------------------------------------

    def expand(self, batch_shape: Sequence[int], _instance: Any = None) -> Any:
        """The same distribution with its batch dimensions expanded.

        Args:
            batch_shape: the new batch shape.

        Returns:
            A distribution whose parameters are expanded views.
        """
        raise NotImplementedError

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        """An empty object of this class, for ``expand`` of ``cls``; NotImplementedError where a subclass
        has a constructor of its own, and so may have attributes that ``cls`` does not set.
        """
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method "
                "must also define a custom .expand() method.")
        return self.__new__(type(self))

    def _expanded(self, cls: type, batch_shape: Sequence[int], _instance: Any,
                  also: Sequence[str] = ()) -> Any:
        """What ``cls.expand`` returns, where the constraints say how many dimensions each parameter has
        beside the batch's. Attributes named in ``also`` are taken over as they are.
        """
        new = self._get_checked_instance(cls, _instance)
        batch_shape = Size(batch_shape)
        own = cls.arg_constraints  # type: ignore[attr-defined]
        for name, constraint in (own if isinstance(own, dict) else self.arg_constraints).items():
            if (value := self.__dict__.get(name)) is not None:
                inner = value.dim() - constraint.event_dim
                setattr(new, name, value.expand(batch_shape + value.shape[inner:]))
        for name in also:
            if name in self.__dict__:
                setattr(new, name, self.__dict__[name])
        super(cls, new).__init__(batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Size:
        """The shape that the parameters broadcast to."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """By the name of each parameter, which values it may have."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that describes which values can be drawn."""
        raise NotImplementedError

    def _extended_shape(self, sample_shape: Sequence[int] = ()) -> Size:
        """The shape of a sample."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    # ----- moments --------------------------------------------------------------------------------

    @property
    def mean(self) -> Tensor:
        """The mean, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The value of the highest density, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    # ----- samples --------------------------------------------------------------------------------

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw without gradients.

        Args:
            sample_shape: the shape of independent draws.

        Returns:
            A tensor of shape ``sample_shape + batch_shape + event_shape``.
        """
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Draw so that gradients pass to the parameters, where ``has_rsample``.

        Args:
            sample_shape: the shape of independent draws.

        Returns:
            A tensor of shape ``sample_shape + batch_shape + event_shape``.

        Raises:
            NotImplementedError: where there is no reparametrization.
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """``n`` independent draws. Deprecated: ``sample((n,))``."""
        warnings.warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning,
                      stacklevel=2)
        return self.sample(Size((n,)))

    # ----- densities ------------------------------------------------------------------------------

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at ``value``.

        Args:
            value: of a shape that broadcasts with ``batch_shape + event_shape``.

        Returns:
            A tensor of the shape of the broadcast batch.

        Raises:
            ValueError: for a value of another shape or outside the support.
        """
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of values up to ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The number up to which values have the probability ``value``."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values that can be drawn, along a new first dimension.

        Args:
            expand: whether the batch dimensions are expanded; otherwise they have the extent 1.

        Returns:
            A tensor of shape ``(number of values,) + batch_shape + event_shape``.

        Raises:
            NotImplementedError: where there are not finitely many, or not the same number in a batch.
        """
        raise NotImplementedError

    def _enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Numbers in one dimension as the values of each distribution of the batch."""
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    def entropy(self) -> Tensor:
        """The mean of ``-log_prob``, of shape ``batch_shape``, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """``exp`` of the entropy, of shape ``batch_shape``."""
        return fn.exp(self.entropy())

    def _validate_sample(self, value: Tensor) -> None:
        """Refuse what is no value of this distribution. ValueError."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        shape, events, batch = value.shape, self._event_shape, self._batch_shape
        if events and shape[max(len(shape) - len(events), 0):] != events:
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{shape} vs {events}.")
        expected = batch + events
        if shape != expected:
            for extent, wanted in zip(reversed(shape), reversed(expected), strict=False):
                if wanted != 1 and extent not in (wanted, 1):
                    raise ValueError("Value is not broadcastable with batch_shape+event_shape: "
                                     f"{shape} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize "
                "the distribution with `validate_args=False` to turn off validation.", stacklevel=3)
            return
        assert support is not None
        if not fulfilled(support, value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def __repr__(self) -> str:
        given = {name: self.__dict__[name] for name in self.arg_constraints if name in self.__dict__}
        shown = [f"{k}: {v if v.numel() == 1 else v.size()}" for k, v in given.items()]
        return f"{self.__class__.__name__}({', '.join(shown)})"
