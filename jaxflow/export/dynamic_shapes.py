"""Which sizes of the example arguments may change: `Dim`, and what ``dynamic_shapes`` says of each tensor."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from jaxflow._core.tensor import Tensor
from jaxflow._dynamo.exc import UserError, UserErrorType
from jaxflow._exported.program import Size


class _DimHintType(enum.Enum):
    AUTO = enum.auto()
    STATIC = enum.auto()
    DYNAMIC = enum.auto()


class _DimHint(NamedTuple):
    """A dimension without a name; called with ``min`` and ``max``, one with bounds."""

    type: _DimHintType
    min: int | None = None
    max: int | None = None

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        return self._replace(min=min, max=max)

    def __repr__(self) -> str:
        bounds = [f"{name}={n}" for name, n in (("min", self.min), ("max", self.max)) if n is not None]
        return f"DimHint({', '.join([self.type.name, *bounds])})"


class Dim:
    """A size with a name, which may change; dimensions with one name are of one size.

    ``Dim.AUTO`` is a size that may change if the program allows it, ``Dim.DYNAMIC`` one that must, and
    ``Dim.STATIC`` one that does not. ``2 * dim + 1`` is a size that follows from another one.

    Args:
        name: an identifier.
        min: the least size.
        max: the largest size; none by default.

    Raises:
        AssertionError: for a name that is no identifier, or bounds with nothing between them.

    Example:
        >>> batch = torch.export.Dim("batch", max=64)
        >>> model = nn.Linear(3, 2)
        >>> program = torch.export.export(model, (torch.ones(4, 3),), dynamic_shapes={"input": {0: batch}})
        >>> program.module()(torch.ones(9, 3)).shape
        torch.Size([9, 2])
    """

    AUTO = _DimHint(_DimHintType.AUTO)
    STATIC = _DimHint(_DimHintType.STATIC)
    DYNAMIC = _DimHint(_DimHintType.DYNAMIC)

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.min, self.max = 0 if min is None else min, max
        assert name.isidentifier(), f"Dim name must be a valid identifier, got {name}"
        assert max is None or max > self.min, f"Cannot create Dim with inconsistent min={min}, max={max}"
        self.__name__ = name
        self.size = Size(name)
        self.root = self

    def _derived(self, factor: int, offset: int) -> Dim:
        if not isinstance(factor, int) or not isinstance(offset, int) or factor <= 0:
            raise NotImplementedError(
                f"Attempted to derive a size from {self.__name__} by something else than a positive whole "
                "factor and a whole summand")
        made = Dim.__new__(Dim)
        made.size = Size(self.size.name, self.size.factor * factor, self.size.offset * factor + offset)
        made.__name__, made.root = str(made.size).replace(" * ", "*"), self.root
        made.min, made.max = made.size.of(self.root.min), None
        if self.root.max is not None:
            made.max = made.size.of(self.root.max)
        return made

    def __mul__(self, factor: int) -> Dim:
        return self._derived(factor, 0)

    __rmul__ = __mul__

    def __add__(self, summand: int) -> Dim:
        return self._derived(1, summand)

    __radd__ = __add__

    def __sub__(self, summand: int) -> Dim:
        return self._derived(1, -summand)

    def __repr__(self) -> str:
        if self.root is not self:
            return self.__name__
        most = f", max={self.max}" if self.max is not None else ""
        return f"Dim('{self.__name__}', min={self.min}{most})"


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several dimensions with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


class ShapesCollection:
    """Which sizes may change, said of the tensors themselves: ``shapes[tensor] = {0: dim}``."""

    def __init__(self) -> None:
        self._shapes: dict[int, tuple[Tensor, Any]] = {}

    def __setitem__(self, t: Tensor, shape: Any) -> None:
        self._shapes[id(t)] = t, shape

    def __getitem__(self, t: Tensor) -> Any:
        return self._shapes[id(t)][1]

    def __len__(self) -> int:
        return len(self._shapes)

    def dynamic_shapes(self, m: Any, args: tuple, kwargs: Mapping | None = None) -> tuple:
        """The same, in the form of the arguments."""
        def of(x: Any) -> Any:
            if isinstance(x, Tensor):
                return self._shapes.get(id(x), (x, None))[1]
            if isinstance(x, Mapping):
                return {key: of(item) for key, item in x.items()}
            return [of(item) for item in x] if isinstance(x, (list, tuple)) else None

        return tuple(of(x) for x in (*args, *(kwargs or {}).values()))


def wrong(message: str) -> UserError:
    """The error for arguments that do not fit each other."""
    return UserError(UserErrorType.INVALID_INPUT, message)


def per_tensor(arguments: Mapping[str, Any], given: Any) -> list[dict[int, Any]]:
    """For each tensor in the arguments, in order, what was said of its dimensions.

    Args:
        arguments: by the names of ``forward``'s parameters.
        given: what ``dynamic_shapes`` is.
    """
    if given is None:
        given = {}
    elif isinstance(given, Mapping):
        if set(given) - set(arguments):
            raise wrong("When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg "
                        f"names {list(arguments)} of `inputs`, but here they are {list(given)}")
    elif len(given) != len(arguments):
        raise wrong("Detected mismatch between the structure of `inputs` and `dynamic_shapes`: `inputs` has "
                    f"{len(arguments)} elements, but `dynamic_shapes` has {len(given)} elements")
    else:
        given = dict(zip(arguments, given, strict=True))
    return [found for name, x in arguments.items() for found in _walk(x, given.get(name), name)]


def _walk(x: Any, said: Any, where: str) -> Iterator[dict[int, Any]]:
    if isinstance(x, Tensor):
        yield _dimensions(x, said, where)
    elif isinstance(x, Mapping):
        if said is not None and (not isinstance(said, Mapping) or set(said) - set(x)):
            raise wrong(f"`dynamic_shapes` of {where} has not the keys of the dict there")
        for key, item in x.items():
            yield from _walk(item, None if said is None else said.get(key), f"{where}[{key!r}]")
    elif isinstance(x, (list, tuple)):
        if said is not None and (not isinstance(said, (list, tuple)) or len(said) != len(x)):
            raise wrong(f"`dynamic_shapes` of {where} has not the {len(x)} elements that are there")
        for i, item in enumerate(x):
            yield from _walk(item, None if said is None else said[i], f"{where}[{i}]")
    elif said is not None and not isinstance(said, (Dim, _DimHint)):
        raise wrong(f"`dynamic_shapes` says something of {where}, which is no tensor")


def _dimensions(t: Tensor, said: Any, where: str) -> dict[int, Any]:
    if said is None:
        return {}
    if isinstance(said, Mapping):
        found = dict(said)
    elif isinstance(said, (list, tuple)):
        if len(said) != t.ndim:
            raise wrong(f"Expected dynamic shape spec {said} specified at `dynamic_shapes` of {where} to "
                        f"have the same length as the actual tensor shape {t.shape}, but it has length "
                        f"{len(said)}")
        found = dict(enumerate(said))
    else:
        raise wrong(f"Unexpected dynamic shape spec {said} for {where}: a dict, list or tuple of its "
                    "dimensions, or None")
    dimensions = {}
    for d, what in found.items():
        if not isinstance(d, int) or not -t.ndim <= d < t.ndim:
            raise IndexError(f"`dynamic_shapes` names dimension {d} of {where}, which has {t.ndim}")
        if isinstance(what, int) and what != t.shape[d]:
            raise UserError(UserErrorType.CONSTRAINT_VIOLATION,
                            f"Constraints violated: {where}.size()[{d}] is {t.shape[d]}, and {what} was "
                            "specified")
        if isinstance(what, (Dim, _DimHint)):
            if what != Dim.STATIC:
                dimensions[d % t.ndim] = what
        elif what is not None and not isinstance(what, int):
            raise wrong(f"Unexpected dimension spec {what!r} for dimension {d} of {where}: Dim, Dim.AUTO, "
                        "Dim.DYNAMIC, Dim.STATIC, an int or None")
    return dimensions
