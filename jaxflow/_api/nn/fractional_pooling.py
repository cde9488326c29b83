"""Fractional maximum pooling in its public form."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.composite import composite

_WORDS = {2: "", 3: "three "}


def _sizes(n: int, what: str, value: Any) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * n
    if len(value) != n:
        raise RuntimeError(
            f"fractional_max_pool{n}d: {what} must either be a single Int or tuple of {_WORDS[n]}Ints")
    return tuple(value)


def _pool(n: int, input: Tensor, kernel_size: Any, output_size: Any, output_ratio: Any,
          samples: Tensor | None) -> tuple[Tensor, Tensor]:
    name = f"fractional_max_pool{n}d"
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        if not isinstance(output_ratio, (tuple, list)):
            raise TypeError(f"object of type '{type(output_ratio).__name__}' has no len()")
        if len(output_ratio) != n:
            raise ValueError(
                f"{name} requires output_ratio to either be a single Int or tuple of {_WORDS[n]}Ints.")
        output_size = [int(size * ratio) for size, ratio in zip(input.shape[-n:], output_ratio)]
    if samples is None:
        images = 1 if input.dim() == n + 1 else input.size(0)
        samples = input.new_empty((images, input.size(-n - 1), n)).uniform_()
    static = (_sizes(n, "kernel_size", kernel_size), _sizes(n, "output_size", output_size))
    return apply(OPS[f"_{name}"], (input, samples), static)


def _publish(n: int) -> None:
    def pool(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Tensor | None = None,
    ):
        found = _pool(n, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    def with_indices(
        input: Tensor, kernel_size: Any, output_size: Any = None, output_ratio: Any = None,
        return_indices: bool = False, _random_samples: Tensor | None = None,
    ):
        return _pool(n, input, kernel_size, output_size, output_ratio, _random_samples)

    shape = {2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}[n]
    pool.__doc__ = f"""Largest element of each window of ``{shape}`` or without ``N``; their places are drawn.

    Args:
        input: floating point.
        kernel_size: size of a window, one number or one for each dimension.
        output_size: how many windows; or
        output_ratio: a factor between 0 and 1 for each dimension, of the input's size.
        return_indices: also return the flat positions of the maxima within each channel.
        _random_samples: ``(N, C, {n})`` numbers in [0, 1) that place the windows, instead of drawn ones.

    Raises:
        ValueError: when neither size nor ratio is given.
        RuntimeError: when the windows do not fit.
    """
    with_indices.__doc__ = f"`fractional_max_pool{n}d` with ``return_indices``."
    name = f"fractional_max_pool{n}d"
    composite("function", namespace="nn.functional", name=name)(pool)
    composite("function", namespace="nn.functional", name=name + "_with_indices")(with_indices)


for _n in (2, 3):
    _publish(_n)
