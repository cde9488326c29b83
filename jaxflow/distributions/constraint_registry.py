"""From a constraint to a transform of all numbers onto it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow.types import _Number

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table of functions that make transforms onto constraints, by the constraint's class.

    `biject_to` has bijections, whose volume change is known; `transform_to` has maps that suit
    optimization, and need not be one to one.

    Example:
        >>> D = torch.distributions
        >>> D.transform_to(D.constraints.positive)(torch.zeros(2))
        tensor([1., 1.])
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Callable | None = None) -> Any:
        """Set the function for a class of constraints.

        Args:
            constraint: the class, or an object of it.
            factory: a function of a constraint that returns a transform; without it, a decorator.

        Returns:
            The function.

        Raises:
            TypeError: for what is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, constraints.Constraint):
            raise TypeError("Expected constraint to be either a Constraint subclass or instance, "
                            f"but got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> transforms.Transform:
        """A transform onto a constraint. NotImplementedError where none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _in_both(*kinds: Any) -> Callable:
    def register(factory: Callable) -> Callable:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory
    return register


@_in_both(constraints.real)
def _transform_to_real(constraint):
    return transforms.identity_transform


@_in_both(constraints.greater_than, constraints.greater_than_eq)
def _transform_to_greater_than(constraint):
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)])


@_in_both(constraints.less_than)
def _transform_to_less_than(constraint):
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)])


@_in_both(constraints.interval, constraints.half_open_interval)
def _transform_to_interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, _Number) and isinstance(high, _Number) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)])


@_in_both(constraints.corr_cholesky)
def _transform_to_corr_cholesky(constraint):
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)
def _biject_to_simplex(constraint):
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _transform_to_simplex(constraint):
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _transform_to_lower_cholesky(constraint):
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _transform_to_positive_definite(constraint):
    return transforms.PositiveDefiniteTransform()


def _of_parts(registry: ConstraintRegistry) -> None:
    """The functions for constraints that are made of others, whose transforms are from the same table."""

    @registry.register(constraints.independent)
    def independent(constraint):
        return transforms.IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims)

    @registry.register(constraints.cat)
    def cat(constraint):
        parts = [registry(c) for c in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    @registry.register(constraints.stack)
    def stack(constraint):
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)


_of_parts(biject_to)
_of_parts(transform_to)
