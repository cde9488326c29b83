"""Convolution, pooling, resizing: every result depends on a neighbourhood of the input."""

import jaxflow as torch

from .row import index, row

F = torch.nn.functional


def _unpool(n):
    def call(x):
        pooled, where = getattr(F, f"max_pool{n}d")(x, 2, return_indices=True)
        return getattr(F, f"max_unpool{n}d")(pooled, where, 2)

    return call


def _resize(mode, *size, **options):
    return lambda x: F.interpolate(x, size=size, mode=mode, **options)


def _sample(places, mode, padding, align_corners=False):
    return lambda x, g: F.grid_sample(x, g.reshape(places), mode, padding, align_corners)


ROWS = {
    "_convolution": row(
        lambda x, w, b: F.conv2d(x, w, b, stride=(1, 2), padding=(1, 0), dilation=(2, 1)),
        (1, 2, 3, 4), (2, 2, 2, 2), (2,),
    ),
    "_convolution/groups": row(
        lambda x, w: F.conv1d(x, w, padding="same", groups=2), (1, 2, 3), (2, 1, 3)
    ),
    "_convolution/pointwise": row(
        lambda x, w: F.conv2d(x, w, stride=(1, 2), padding=(1, 0)), (1, 2, 2, 3), (2, 2, 1, 1)
    ),
    "_convolution/3d": row(F.conv3d, (1, 1, 2, 2, 3), (1, 1, 2, 1, 2)),
    "_convolution_complex": row(F.conv1d, (1, 1, 3), (1, 1, 2), (1,), dtype="complex128"),
    "_convolution_transposed": row(
        lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
        (1, 2, 2, 2), (2, 1, 3, 2), (1,),
    ),
    "_convolution_transposed/groups": row(
        lambda x, w: F.conv_transpose1d(x, w, groups=2, dilation=2), (1, 2, 3), (2, 1, 2)
    ),
    "_im2col": row(lambda x: F.unfold(x, 2, dilation=2, padding=1, stride=2), (1, 1, 3, 3)),
    "_col2im": row(lambda x: F.fold(x, (3, 3), 2, padding=1, stride=2), (1, 4, 4)),
    **{
        f"_max_pool{n}d": row(
            lambda x, n=n: getattr(F, f"max_pool{n}d")(x, 2, stride=1, padding=1), (1, 1, *(2,) * (n - 1), 3)
        )
        for n in (2, 3)
    },
    "_max_pool2d/dilated": row(
        lambda x: F.max_pool2d(x, 2, stride=2, dilation=(2, 1), ceil_mode=True), (1, 3, 3)
    ),
    "_max_pool2d/apart": row(lambda x: F.max_pool2d(x, 2, stride=3, padding=1), (1, 1, 4, 5)),
    "_max_pool2d/overlapping": row(lambda x: F.max_pool2d(x, 3, stride=2, padding=1), (1, 2, 3, 4)),
    "_max_pool2d/scattered": row(lambda x: F.max_pool2d(x, 5, stride=1, padding=2), (1, 1, 3, 3)),
    "_max_pool2d/row": row(lambda x: F.max_pool1d(x, 2), (1, 5)),
    **{
        f"_avg_pool{n}d": row(
            lambda x, n=n: getattr(F, f"avg_pool{n}d")(x, 2, stride=1, padding=1), (1, 1, *(2,) * (n - 1), 3)
        )
        for n in (2, 3)
    },
    "_max_pool2d_with_indices_backward": row(
        lambda g: torch.ops.aten.max_pool2d_with_indices_backward(
            g, torch.zeros(1, 2, 3, dtype=g.dtype), 2, 1, 0, 1, False, index([[[1, 1]]])
        ),
        (1, 1, 2),
    ),
    "_fractional_max_pool2d": row(
        lambda x: F.fractional_max_pool2d(x, 2, (2, 3), _random_samples=torch.full((1, 1, 2), 0.4).to(x)),
        (1, 1, 3, 5),
    ),
    "_fractional_max_pool3d": row(
        lambda x: F.fractional_max_pool3d(
            x, (1, 2, 2), (1, 1, 2), _random_samples=torch.full((1, 2, 3), 0.7).to(x)
        ),
        (2, 2, 3, 4),
    ),
    "_avg_pool2d/uncounted": row(
        lambda x: F.avg_pool2d(x, 2, padding=1, ceil_mode=True, count_include_pad=False), (1, 1, 3, 2)
    ),
    "_avg_pool2d/tiles": row(lambda x: F.avg_pool2d(x, (1, 2)), (1, 2, 2, 4)),
    "_avg_pool2d/divisor": row(lambda x: F.avg_pool2d(x, 2, divisor_override=3), (1, 1, 2, 4)),
    **{
        f"_adaptive_{kind}_pool{n}d": row(
            lambda x, n=n, kind=kind: getattr(F, f"adaptive_{kind}_pool{n}d")(x, (1, 2, 2)[-n:]),
            (1, 1, *(2, 2, 3)[-n:]),
        )
        for kind in ("avg", "max") for n in (2, 3)
    },
    "_max_unpool2d": row(_unpool(2), (1, 1, 2, 4)),
    "_max_unpool3d": row(_unpool(3), (1, 1, 2, 2, 4)),
    "_resize/nearest": row(_resize("nearest", 5), (1, 1, 3)),
    "_resize/nearest-exact": row(_resize("nearest-exact", 2, 5), (1, 1, 3, 3)),
    "_resize/linear": row(_resize("linear", 5), (1, 2, 3)),
    "_resize/bilinear": row(_resize("bilinear", 3, 2, align_corners=True), (1, 1, 2, 3)),
    "_resize/bicubic": row(_resize("bicubic", 3, 2), (1, 1, 2, 3)),
    "_resize/trilinear": row(_resize("trilinear", 1, 3, 2), (1, 1, 2, 2, 2)),
    "_resize/antialias": row(_resize("bilinear", 2, 2, antialias=True), (1, 1, 3, 3)),
    "grid_sampler_2d": row(
        _sample((1, 2, 2, 2), "bilinear", "zeros"), (1, 2, 2, 3), (8,), low=-0.95, high=0.9
    ),
    "grid_sampler_2d/reflection": row(
        _sample((1, 2, 1, 2), "bilinear", "reflection", True), (1, 1, 3, 2), (4,), low=-1.6, high=1.7
    ),
    "grid_sampler_2d/bicubic": row(
        _sample((1, 2, 1, 2), "bicubic", "border"), (1, 1, 3, 2), (4,), low=-0.9, high=0.8
    ),
    "grid_sampler_3d": row(
        _sample((1, 1, 2, 1, 3), "bilinear", "border"), (1, 1, 2, 3, 2), (6,), low=-0.9, high=0.8
    ),
    "affine_grid_generator": row(lambda t: F.affine_grid(t, (2, 1, 2, 3), align_corners=False), (2, 2, 3)),
    "affine_grid_generator/aligned": row(
        lambda t: F.affine_grid(t, (1, 1, 2, 2, 3), align_corners=True), (1, 3, 4)
    ),
}
