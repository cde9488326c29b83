"""Sets of values: of what parameters may be, and of what distributions give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from jaxflow import _functions as fn
from jaxflow import linalg
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow._core.typeinfo import finfo

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
    "greater_than_eq", "independent", "integer_interval", "interval", "half_open_interval", "is_dependent",
    "less_than", "lower_cholesky", "lower_triangular", "MixtureSameFamilyConstraint", "multinomial",
    "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_semidefinite",
    "positive_definite", "positive_integer", "real", "real_vector", "simplex", "square", "stack",
    "symmetric", "unit_interval",
]


class Constraint:
    """A set of values, elementwise or of whole events.

    ``is_discrete`` says whether its values are isolated points, ``event_dim`` how many of the last
    dimensions belong to one event.

    Example:
        >>> torch.distributions.constraints.positive.check(torch.tensor([-1.0, 2.0]))
        tensor([False,  True])
    """

    is_discrete = False
    event_dim = 0
    #: Whether `check` takes NumPy arrays as well: see `_checking.py`. Where it is replaced, it is said anew.
    on_arrays = False
    #: Whether it has bounds that are tensors.
    of_tensors = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "check" in vars(cls) and "on_arrays" not in vars(cls):
            cls.on_arrays = False

    def check(self, value: Tensor) -> Tensor:
        """Whether each event of ``value`` is in the set.

        Args:
            value: of shape ``(*, event)``.

        Returns:
            A bool tensor of shape ``(*)``.
        """
        raise NotImplementedError

    def _bounds(self) -> dict[str, Any]:
        """What is printed of it."""
        return {}

    def __repr__(self) -> str:
        name = type(self).__name__.lstrip("_")
        return f"{name[:1].upper()}{name[1:]}({', '.join(f'{k}={v}' for k, v in self._bounds().items())})"


# ----- that depend on the other parameters ---------------------------------------------------------


class _Dependent(Constraint):
    """A set that is known only with the other parameters."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same with the given properties in place of its own."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether a constraint is known only with the other parameters of a distribution.

    Args:
        constraint: a constraint.

    Returns:
        A bool.

    Example:
        >>> C = torch.distributions.constraints
        >>> C.is_dependent(C.real), C.is_dependent(C.dependent)
        (False, True)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that is a `_Dependent` in the class, and the constraint itself in an object.

    Args:
        fn: the method; left out where it is used as ``@dependent_property(is_discrete=..., event_dim=...)``.
        is_discrete: as of a constraint, if it is the same for all objects.
        event_dim: likewise.
    """

    def __init__(self, fn: Callable | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable) -> _DependentProperty:  # type: ignore[override]
        """The property of that method."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


# ----- of single numbers ---------------------------------------------------------------------------


class _Real(Constraint):
    """All numbers but nan."""

    on_arrays = True

    def check(self, value: Any) -> Any:
        return value == value  # noqa: PLR0124  (nan is not)


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True
    on_arrays = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _Bounded(Constraint):
    """Numbers on one side of a bound or between two, which may be tensors."""

    def __init__(self, **bounds: Any) -> None:
        vars(self).update(bounds)
        self._names = tuple(bounds)
        self.of_tensors = any(isinstance(bound, Tensor) for bound in bounds.values())
        super().__init__()

    def _bounds(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}


class _Above(_Bounded):
    def __init__(self, lower_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound)


class _Below(_Bounded):
    def __init__(self, upper_bound: Any) -> None:
        super().__init__(upper_bound=upper_bound)


class _Between(_Bounded):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        super().__init__(lower_bound=lower_bound, upper_bound=upper_bound)


class _GreaterThan(_Above):
    """Numbers ``x > lower_bound``.

    Args:
        lower_bound: a number or a tensor.
    """

    on_arrays = True

    def check(self, value: Any) -> Any:
        return value > self.lower_bound


class _GreaterThanEq(_Above):
    """Numbers ``x >= lower_bound``.

    Args:
        lower_bound: a number or a tensor.
    """

    on_arrays = True

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class _LessThan(_Below):
    """Numbers ``x < upper_bound``.

    Args:
        upper_bound: a number or a tensor.
    """

    on_arrays = True

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(_Between):
    """Numbers ``lower_bound <= x <= upper_bound``.

    Args:
        lower_bound: a number or a tensor.
        upper_bound: a number or a tensor.
    """

    on_arrays = True

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """Numbers ``lower_bound <= x < upper_bound``.

    Args:
        lower_bound: a number or a tensor.
        upper_bound: a number or a tensor.
    """

    on_arrays = True

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Between):
    """Whole numbers ``lower_bound <= x <= upper_bound``.

    Args:
        lower_bound: a number or a tensor.
        upper_bound: a number or a tensor.
    """

    on_arrays = True
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Whole numbers ``x <= upper_bound``."""

    on_arrays = True
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Whole numbers ``x >= lower_bound``."""

    on_arrays = True
    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value >= self.lower_bound)


# ----- of vectors ----------------------------------------------------------------------------------


class _OneHot(Constraint):
    """Vectors of zeros and a single 1."""

    is_discrete = True
    event_dim = 1
    on_arrays = True

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    """Vectors without negative elements that add up to 1, to 1e-6."""

    event_dim = 1
    on_arrays = True

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6)


class _Multinomial(Constraint):
    """Vectors of numbers that are not negative and add up to at most ``upper_bound``.

    Args:
        upper_bound: a number or a tensor.
    """

    on_arrays = True
    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        self.of_tensors = isinstance(upper_bound, Tensor)

    def check(self, x: Any) -> Any:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


# ----- of matrices ---------------------------------------------------------------------------------


class _LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal."""

    event_dim = 2
    on_arrays = True

    def check(self, value: Any) -> Any:
        below = np.tril(value) if isinstance(value, np.ndarray) else value.tril()
        return (below == value).all(-1).all(-1)


class _LowerCholesky(Constraint):
    """Lower triangular matrices whose diagonals are positive."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        near = finfo(value.dtype).eps * value.size(-1) * 10  # rounding grows with the length of a row
        length = linalg.norm(value.detach(), dim=-1)
        return lower_cholesky.check(value) & ((length - 1).abs() <= near).all(-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        rows, columns = value.shape[-2:]
        return fn.full(value.shape[:-2], rows == columns, dtype=dtypes.bool, device=value.device)


class _Symmetric(_Square):
    """Square matrices that equal their transposes, to 1e-6."""

    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-1] != value.shape[-2]:
            return square
        return fn.isclose(value, value.mT, atol=1e-6).all(-1).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return (linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices whose eigenvalues are positive: those that have a Cholesky factor."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return linalg.cholesky_ex(value).info == 0


# ----- made of others ------------------------------------------------------------------------------


class _IndependentConstraint(Constraint):
    """A constraint of which some batch dimensions count as part of the event.

    Args:
        base_constraint: a constraint.
        reinterpreted_batch_ndims: how many of its batch dimensions.
    """

    on_arrays = True  # if its base's is

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        assert isinstance(base_constraint, Constraint), (
            f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        assert isinstance(reinterpreted_batch_ndims, int) and reinterpreted_batch_ndims >= 0, (
            f"reinterpreted_batch_ndims must be an int >= 0, got {reinterpreted_batch_ndims}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.of_tensors = base_constraint.of_tensors or not base_constraint.on_arrays
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        found = self.base_constraint.check(value)
        ndims, more = found.ndim, self.reinterpreted_batch_ndims
        if ndims < more:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.ndim}")
        return found.reshape((*found.shape[:ndims - more], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The set of a mixture: values that every component can have.

    Args:
        base_constraint: the set of the components, of which the last batch dimension is summed over.

    Example:
        >>> C = torch.distributions.constraints
        >>> C.MixtureSameFamilyConstraint(C.real)
        MixtureSameFamilyConstraint(Real())
    """

    def __init__(self, base_constraint: Constraint) -> None:
        assert isinstance(base_constraint, Constraint), (
            f"base_constraint must be a Constraint, got {type(base_constraint).__name__}")
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        """Whether each event is in the sets of all components."""
        found = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        kept = value.dim() - self.event_dim
        return found.reshape(found.shape[:kept] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Sequence(Constraint):
    """Constraints for the parts of a tensor along one dimension."""

    def __init__(self, cseq: Any, dim: int) -> None:
        assert all(isinstance(c, Constraint) for c in cseq), (
            "All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    def _check_dim(self, value: Tensor) -> None:
        assert -value.dim() <= self.dim < value.dim(), (
            f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(_Sequence):
    """Tensors that are concatenated of parts, each in a set of its own.

    Args:
        cseq: the constraints.
        dim: the dimension along which the parts follow each other.
        lengths: the extents of the parts; 1 each by default.
    """

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.cseq), (
            f"lengths must have length {len(self.cseq)}, got {len(self.lengths)}")

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        parts = value.split(self.lengths, self.dim) if sum(self.lengths) == value.size(self.dim) else [
            value.narrow(self.dim, sum(self.lengths[:k]), n) for k, n in enumerate(self.lengths)]
        return fn.cat([c.check(part) for c, part in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Sequence):
    """Tensors that are stacked of parts, each in a set of its own.

    Args:
        cseq: the constraints.
        dim: the dimension along which the parts are stacked.
    """

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:
        most = max(c.event_dim for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Tensor) -> Tensor:
        self._check_dim(value)
        parts = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return fn.stack([c.check(part) for c, part in zip(self.cseq, parts, strict=False)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
