"""What all transforms have, their inverses, and transforms made of others."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from jaxflow import _functions as fn
from jaxflow._core.tensor import Tensor

from . import constraints
from .utils import _sum_rightmost, lazy_property


class Transform:
    """A map whose inverse and change of volume are known.

    A subclass has ``domain`` and ``codomain`` (constraints), ``_call(x)``, ``_inverse(y)`` and
    ``log_abs_det_jacobian(x, y)``. One that is not ``bijective`` has an inverse in the weaker sense that
    ``t(t.inv(t(x))) == t(x)``.

    Args:
        cache_size: 0, or 1 to remember the last pair of argument and result: the inverse of exactly that
            result is then that argument, without being computed.

    Raises:
        ValueError: for another size of the cache.

    Example:
        >>> D = torch.distributions
        >>> D.ExpTransform().inv(torch.ones(2))
        tensor([0., 0.])
    """

    bijective = False
    domain: Any
    codomain: Any

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None  # a weak reference to the inverse, which refers to this
        if cache_size:
            self._cached_x_y: tuple = (None, None)
        super().__init__()

    def __getstate__(self) -> dict:
        state = self.__dict__.copy()
        state["_inv"] = None  # a weak reference cannot be pickled
        return state

    @property
    def event_dim(self) -> int:
        """How many dimensions one event has, if as many before as after."""
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse; its inverse is this."""
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> Any:
        """1 where it increases, -1 where it decreases: a number or a tensor."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of that size, or itself if it has one."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, x: Tensor) -> Tensor:
        """The value at ``x``."""
        if not self._cache_size:
            return self._call(x)
        known, result = self._cached_x_y
        if known is not x:
            result = self._call(x)
            self._cached_x_y = x, result
        return result

    def _inv_call(self, y: Tensor) -> Tensor:
        """The argument for which the value is ``y``."""
        if not self._cache_size:
            return self._inverse(y)
        result, known = self._cached_x_y
        if known is not y:
            result = self._inverse(y)
            self._cached_x_y = result, y
        return result

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The logarithm of the factor by which volumes change at ``x``.

        Args:
            x: an argument.
            y: the value there.

        Returns:
            A tensor of the shape of ``x`` without the dimensions of an event.
        """
        raise NotImplementedError

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the value for an argument of that shape."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the argument for a value of that shape."""
        return shape

    def __repr__(self) -> str:
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    """The inverse of a transform, which it shares the cache of."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform

    __getstate__ = object.__getstate__  # type: ignore[assignment]

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._inv.forward_shape(shape)


class ComposeTransform(Transform):
    """One transform after the other.

    Args:
        parts: transforms, the first of which is applied first.
        cache_size: 0 or 1, for each of them.

    Example:
        >>> D = torch.distributions
        >>> D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)])(torch.zeros(2))
        tensor([3., 3.])
    """

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        if not self.parts:
            return constraints.real
        return self._outer(self.parts[0].domain, reversed(self.parts), ("codomain", "domain"))

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        if not self.parts:
            return constraints.real
        return self._outer(self.parts[-1].codomain, self.parts, ("domain", "codomain"))

    def _outer(self, found: Any, parts: Any, ends: tuple[str, str]) -> Any:
        """A constraint with as many event dimensions as the events need that pass through all the parts."""
        parts = list(parts)
        near, far = ends
        events = getattr(parts[0], near).event_dim
        for part in parts:
            here, there = getattr(part, near).event_dim, getattr(part, far).event_dim
            events = there + max(events - here, 0)
        assert events >= found.event_dim
        return constraints.independent(found, events - found.event_dim) if events > found.event_dim else found

    @lazy_property
    def bijective(self) -> bool:
        """Whether all parts are."""
        return all(part.bijective for part in self.parts)

    @lazy_property
    def sign(self) -> Any:
        """The product of the parts' signs."""
        sign: Any = 1
        for part in self.parts:
            sign = sign * part.sign
        return sign

    @property
    def inv(self) -> Transform:
        inverse = None if self._inv is None else self._inv()
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in reversed(self.parts)])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return fn.zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        values.append(y)
        events, terms = self.domain.event_dim, []
        for part, before, after in zip(self.parts, values, values[1:], strict=False):
            inner = part.domain.event_dim
            terms.append(_sum_rightmost(part.log_abs_det_jacobian(before, after), events - inner))
            events += part.codomain.event_dim - inner
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{self.__class__.__name__}(\n    {parts}\n)"


class IndependentTransform(Transform):
    """A transform of which some batch dimensions count as part of the event: volume changes are summed over.

    Args:
        base_transform: a transform.
        reinterpreted_batch_ndims: how many dimensions.
        cache_size: 0 or 1.

    Example:
        >>> D = torch.distributions
        >>> x = torch.ones(2, 3)
        >>> D.IndependentTransform(D.ExpTransform(), 1).log_abs_det_jacobian(x, x.exp())
        tensor([3., 3.])
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int,
                 cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.inverse_shape(shape)


class _Pieces(Transform):
    """Transforms of the parts of a tensor along one dimension."""

    transforms: list[Transform]

    def __init__(self, tseq: Sequence[Transform], dim: int, cache_size: int) -> None:
        assert all(isinstance(t, Transform) for t in tseq), "All elements of tseq must be Transform instances"
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size=cache_size)
        self.transforms = list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _check_dim(self, *values: Tensor) -> None:
        for value in values:
            assert -value.dim() <= self.dim < value.dim(), (
                f"dim {self.dim} out of range for tensor with {value.dim()} dimensions")


class CatTransform(_Pieces):
    """Transforms of the parts of a tensor, which follow each other along one dimension.

    Args:
        tseq: the transforms.
        dim: the dimension.
        lengths: the extents of the parts; 1 each by default.
        cache_size: 0 or 1, for each of them.

    Example:
        >>> D = torch.distributions
        >>> both = D.CatTransform([D.ExpTransform(), D.AbsTransform()], lengths=[1, 2])
        >>> both(torch.tensor([0.0, -1.0, 2.0]))
        tensor([1., 1., 2.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None,
                 cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        assert len(self.lengths) == len(self.transforms), (
            f"lengths must have length {len(self.transforms)}, got {len(self.lengths)}")

    @lazy_property
    def event_dim(self) -> int:
        """The largest of the parts'."""
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> int:
        """The extent of all parts together."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, value: Tensor) -> Sequence[Tensor]:
        self._check_dim(value)
        extent = value.size(self.dim)
        assert extent == self.length, f"x.size({self.dim}) = {extent} must equal length {self.length}"
        return value.split(self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(x), strict=True)
        return fn.cat([t(part) for t, part in parts], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._parts(y), strict=True)
        return fn.cat([t.inv(part) for t, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        terms = []
        for t, before, after in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            term = t.log_abs_det_jacobian(before, after)
            terms.append(_sum_rightmost(term, self.event_dim - t.event_dim) if t.event_dim < self.event_dim
                         else term)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        if dim < 0:
            return fn.cat(terms, dim)
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Pieces):
    """Transforms of the slices of a tensor along one dimension.

    Args:
        tseq: the transforms, one for each index of the dimension.
        dim: the dimension.
        cache_size: 0 or 1, for each of them.

    Example:
        >>> D = torch.distributions
        >>> D.StackTransform([D.ExpTransform(), D.AbsTransform()])(torch.tensor([[0.0], [-1.0]]))
        tensor([[1.],
                [1.]])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size: int = 1) -> Transform:
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _slice(self, z: Tensor) -> list[Tensor]:
        self._check_dim(z)
        extent, count = z.size(self.dim), len(self.transforms)
        assert extent == count, f"x.size({self.dim}) = {extent} must equal len(transforms) {count}"
        return [z.select(self.dim, i) for i in range(extent)]

    def _call(self, x: Tensor) -> Tensor:
        return fn.stack([t(part) for t, part in zip(self.transforms, self._slice(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slice(y), strict=True)
        return fn.stack([t.inv(part) for t, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        parts = zip(self.transforms, self._slice(x), self._slice(y), strict=True)
        return fn.stack([t.log_abs_det_jacobian(before, after) for t, before, after in parts], self.dim)

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
