"""Trading channels for resolution and back, and mixing channels."""

from __future__ import annotations

from jaxflow._plans.op import op

from ._layouts import moved_channels


def _check_image(name, input, factor, which):
    if input.ndim < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {input.ndim} "
            "dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {which}, but got {factor}")


@op(variants="function", aliases=("nn.functional.pixel_shuffle",), saves="none", layout="channels")
def pixel_shuffle(input, /, upscale_factor: int):
    """``(..., C * r * r, H, W)`` to ``(..., C, H * r, W * r)`` for ``r = upscale_factor``."""
    r = upscale_factor
    _check_image("pixel_shuffle", input, r, "upscale_factor")
    *lead, channels, height, width = input.shape
    if channels % (r * r):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    n = len(lead)
    x = input.reshape((*lead, channels // (r * r), r, r, height, width))
    x = x.transpose((*range(n), n, n + 3, n + 1, n + 4, n + 2))
    return x.reshape((*lead, channels // (r * r), height * r, width * r))


@op(variants="function", aliases=("nn.functional.pixel_unshuffle",), saves="none", layout=moved_channels)
def pixel_unshuffle(input, /, downscale_factor: int):
    """``(..., C, H * r, W * r)`` to ``(..., C * r * r, H, W)`` for ``r = downscale_factor``.

    What has no elements keeps its shape, as in PyTorch, which copies it.
    """
    r = downscale_factor
    _check_image("pixel_unshuffle", input, r, "downscale_factor")
    *lead, channels, height, width = input.shape
    for name, dim, size in (("height", -2, height), ("width", -1, width)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({dim})={size} is not divisible by {r}"
            )
    if not input.size:
        return input
    n = len(lead)
    x = input.reshape((*lead, channels, height // r, r, width // r, r))
    x = x.transpose((*range(n), n, n + 2, n + 4, n + 1, n + 3))
    return x.reshape((*lead, channels * r * r, height // r, width // r))


@op(variants="function", saves="none", layout=moved_channels, aliases=(
    "nn.functional.channel_shuffle", "nn.functional.native_channel_shuffle", "native_channel_shuffle"))
def channel_shuffle(input, /, groups: int):
    """The channels of ``(N, C, ...)`` taken in turn from each of ``groups`` groups."""
    if input.ndim <= 2:
        raise RuntimeError(
            "channel_shuffle expects input with > 2 dims, but got input with sizes "
            f"{list(input.shape)}"
        )
    if groups <= 0:
        raise RuntimeError(
            f"Number of groups to divide channels in must be positive. Value of groups:{groups}"
        )
    batch, channels, *rest = input.shape
    if channels % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {channels} channels and {groups} "
            "groups."
        )
    x = input.reshape((batch, groups, channels // groups, *rest))
    return x.swapaxes(1, 2).reshape(input.shape)
