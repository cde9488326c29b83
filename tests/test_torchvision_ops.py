"""The operators of torchvision's compiled library, held against plain loops."""

import functools
import math

import jax
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._as_torch.torchvision import library, pooling

library.register()
ops = torch.ops.torchvision
SHAPE = (2, 8, 7, 9)
ROIS = [[0, 1.0, 1.5, 6.2, 5.1], [1, -2.0, -1.0, 12.0, 11.0], [1, 3.0, 2.0, 3.4, 2.2],
        [0, 0.0, 0.0, 18.0, 14.0], [1, 40.0, 40.0, 60.0, 60.0]]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return rng.standard_normal(SHAPE), np.array(ROIS)


def bilinear(image, y, x):
    h, w = image.shape
    if y < -1 or y > h or x < -1 or x > w:
        return 0.0
    y, x = min(max(y, 0), h - 1), min(max(x, 0), w - 1)
    top, left = int(y), int(x)
    down, right = min(top + 1, h - 1), min(left + 1, w - 1)
    fy, fx = y - top, x - left
    return ((1 - fy) * ((1 - fx) * image[top, left] + fx * image[top, right])
            + fy * ((1 - fx) * image[down, left] + fx * image[down, right]))


def aligned_mean(image, box, scale, bins, p, q, ratio, offset, least):
    (y0, x0), (y1, x1) = ((c * scale - offset for c in pair) for pair in ((box[1], box[0]), (box[3], box[2])))
    high, wide = max(y1 - y0, least), max(x1 - x0, least)
    tall, broad = high / bins[0], wide / bins[1]
    n, m = (ratio, ratio) if ratio > 0 else (math.ceil(tall), math.ceil(broad))
    total = sum(bilinear(image, y0 + p * tall + (i + 0.5) * tall / n, x0 + q * broad + (j + 0.5) * broad / m)
                for i in range(n) for j in range(m))
    return total / max(n * m, 1)


@pytest.mark.parametrize("ratio", [-1, 0, 2, 6])
@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("bins", [(3, 2), (2, 1)])  # of all weights and, with two samples, beside samples
def test_roi_align(data, ratio, aligned, bins):
    x, rois = data
    got = ops.roi_align(torch.from_numpy(x), torch.from_numpy(rois), 0.5, *bins, ratio, aligned)
    move, least = (0.5, 0) if aligned else (0, 1)
    want = [[[[aligned_mean(x[int(r[0]), c], r[1:], 0.5, bins, p, q, ratio, move, least)
               for q in range(bins[1])] for p in range(bins[0])] for c in range(8)] for r in rois]
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)


def test_roi_align_of_regions_that_are_no_numbers_is_zero():
    rois = torch.tensor([[0, float("nan"), 1, 3, 3], [0, 1, 1, float("inf"), 3], [5, 1, 1, 3, 3]])
    found = ops.roi_align(torch.ones(1, 2, 9, 9), rois, 1.0, 1, 1, 2, True)
    assert found[:2].eq(0).all() and found[2].eq(1).all()  # the only image there is


def test_the_largest_array_of_roi_align_does_not_grow_with_the_image():
    """What is read of an image is what lies beside the samples, not all of it once for each region."""
    def largest(n):
        rois = jax.ShapeDtypeStruct((40, 5), np.float32)
        pooled = functools.partial(pooling._roi_align, scale=0.5, bins=(7, 7), ratio=2, aligned=False)
        jaxpr = jax.make_jaxpr(pooled)(jax.ShapeDtypeStruct((2, 4, n, n), np.float32), rois)
        return max(math.prod(v.aval.shape) for eqn in jaxpr.jaxpr.eqns for v in eqn.outvars)

    assert largest(40) == largest(70) == 40 * 7 * 7 * 16 * 4


@pytest.mark.parametrize("ratio", [-1, 2])
def test_ps_roi_align(data, ratio):
    x, rois = data
    bins = (2, 2)
    got, channels = ops.ps_roi_align(torch.from_numpy(x), torch.from_numpy(rois), 0.5, *bins, ratio)
    want = [[[[aligned_mean(x[int(r[0]), (c * 2 + p) * 2 + q], r[1:], 0.5, bins, p, q, ratio, 0.5, -math.inf)
               for q in range(2)] for p in range(2)] for c in range(2)] for r in rois]
    np.testing.assert_allclose(got.numpy(), want, atol=1e-12)
    assert channels.dtype == torch.int32 and channels[3].flatten().tolist() == list(range(8))


def away(x):
    return math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)


def spans(low, high, bins, n, included):
    first, last = away(low), away(high)
    size = max(last - first + included, 1) / bins
    for i in range(bins):
        yield [min(max(e + first, 0), n) for e in (math.floor(i * size), math.ceil((i + 1) * size))]


def test_roi_pool(data):
    x, rois = data
    got, places = ops.roi_pool(torch.from_numpy(x), torch.from_numpy(rois), 0.5, 3, 2)
    for k, r in enumerate(rois):
        for p, (top, bottom) in enumerate(spans(r[2] * 0.5, r[4] * 0.5, 3, 7, 1)):
            for q, (left, right) in enumerate(spans(r[1] * 0.5, r[3] * 0.5, 2, 9, 1)):
                for c in range(8):
                    part = x[int(r[0]), c, top:bottom, left:right]
                    at = int(places[k, c, p, q])
                    assert float(got[k, c, p, q]) == (part.max() if part.size else 0)
                    assert (x[int(r[0]), c].flat[at] == part.max()) if part.size else at == -1


def test_roi_pool_takes_the_first_of_equal_elements():
    _, places = ops.roi_pool(torch.ones(1, 1, 4, 4), torch.tensor([[0.0, 1, 1, 3, 3]]), 1.0, 1, 1)
    assert places.item() == 5


def test_ps_roi_pool(data):
    x, rois = data
    got, _ = ops.ps_roi_pool(torch.from_numpy(x), torch.from_numpy(rois), 0.5, 2, 2)
    for k, r in enumerate(rois):
        for p, (top, bottom) in enumerate(spans(r[2] * 0.5, r[4] * 0.5, 2, 6, 0)):
            for q, (left, right) in enumerate(spans(r[1] * 0.5, r[3] * 0.5, 2, 8, 0)):
                for c in range(2):
                    part = x[int(r[0]), (c * 2 + p) * 2 + q, top:bottom, left:right]
                    np.testing.assert_allclose(float(got[k, c, p, q]), part.mean() if part.size else 0)


@pytest.mark.parametrize("name", ["roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool"])
def test_backward_of_pooling_is_the_adjoint(data, name):
    """Pooling is linear in the input where the largest elements stay the same."""
    x, rois = (torch.from_numpy(a) for a in data)
    rois = rois[:4]
    own = {"roi_align": ((2, True), "rois"), "ps_roi_align": ((2,), "channels")}.get(name, ((), "channels"))
    found = getattr(ops, name)(x, rois, 0.5, 2, 2, *own[0])
    out, further = found if isinstance(found, tuple) else (found, None)
    grad = torch.from_numpy(np.random.default_rng(1).standard_normal(tuple(out.shape)))
    between = () if further is None else (further,)
    if name == "ps_roi_align":
        sizes = (*own[0], *SHAPE)
    else:
        sizes = (*SHAPE, *own[0])
    back = getattr(ops, f"_{name}_backward")(grad, rois, *between, 0.5, 2, 2, *sizes)
    np.testing.assert_allclose(float((back * x).sum()), float((grad * out).sum()), rtol=1e-10)


@pytest.mark.parametrize("images", [1, 2])
def test_many_regions_are_pooled_in_parts(data, monkeypatch, images):
    x, rois = (torch.from_numpy(a) for a in data)
    x, rois = x[:images], rois * torch.tensor([images - 1.0, 1, 1, 1, 1], dtype=torch.float64)
    def pooled(scale):
        return (ops.roi_align(x + 0, rois, scale, 3, 2, 2, True),
                ops.roi_align(x, rois, scale, 1, 2, 2, True), *ops.roi_pool(x, rois, scale, 3, 2))

    whole = pooled(0.25)
    monkeypatch.setattr(pooling, "_AT_ONCE", 2000)
    monkeypatch.setattr(pooling, "_GATHERED", 600)
    parts = pooled(0.2500001)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), atol=1e-4)


def test_no_regions():
    none = ops.roi_align(torch.ones(1, 4, 5, 5), torch.zeros(0, 5), 1.0, 2, 2, -1, False)
    assert none.shape == (0, 4, 2, 2)
    assert ops.nms(torch.zeros(0, 4), torch.zeros(0), 0.5).tolist() == []


def test_nms():
    rng = np.random.default_rng(2)
    corner, size = rng.uniform(0, 50, (60, 2)), rng.uniform(1, 30, (60, 2))
    boxes, scores = np.concatenate([corner, corner + size], 1), rng.uniform(size=60)
    kept = []
    for i in sorted(range(60), key=lambda i: -scores[i]):
        def overlap(j, i=i):
            low, high = np.maximum(boxes[i, :2], boxes[j, :2]), np.minimum(boxes[i, 2:], boxes[j, 2:])
            shared = np.prod(np.maximum(high - low, 0))
            return shared / (np.prod(size[i]) + np.prod(size[j]) - shared)
        if all(overlap(j) <= 0.4 for j in kept):
            kept.append(i)
    got = ops.nms(torch.from_numpy(boxes), torch.from_numpy(scores), 0.4)
    assert got.dtype == torch.int64 and got.tolist() == kept


def test_nms_keeps_the_first_of_equal_boxes():
    assert ops.nms(torch.tensor([[0.0, 0, 1, 1]] * 3), torch.tensor([0.5, 0.5, 0.5]), 0.5).tolist() == [0]


@pytest.mark.parametrize(("groups", "offset_groups", "masked"), [(1, 1, False), (2, 1, True), (1, 2, True)])
def test_deform_conv2d(groups, offset_groups, masked):
    rng = np.random.default_rng(3)
    n, c, h, w, c_out, kh, kw, s, pad, d = 2, 4, 6, 5, 4, 3, 2, (2, 1), (1, 0), (1, 2)
    oh = (h + 2 * pad[0] - (kh - 1) * d[0] - 1) // s[0] + 1
    ow = (w + 2 * pad[1] - (kw - 1) * d[1] - 1) // s[1] + 1
    x, bias = rng.standard_normal((n, c, h, w)), rng.standard_normal(c_out)
    weight = rng.standard_normal((c_out, c // groups, kh, kw))
    offset = 2 * rng.standard_normal((n, 2 * offset_groups * kh * kw, oh, ow))
    mask = rng.uniform(size=(n, offset_groups * kh * kw, oh, ow))

    def at(image, y, x):
        total = 0.0
        for i in (math.floor(y), math.floor(y) + 1):
            for j in (math.floor(x), math.floor(x) + 1):
                if 0 <= i < h and 0 <= j < w:
                    total += max(0, 1 - abs(y - i)) * max(0, 1 - abs(x - j)) * image[i, j]
        return total

    want = np.zeros((n, c_out, oh, ow)) + bias[:, None, None]
    for b, o, i, j, y, z in np.ndindex(n, c_out, kh, kw, oh, ow):
        for inner in range(c // groups):
            channel = o // (c_out // groups) * (c // groups) + inner
            tap = channel // (c // offset_groups) * kh * kw + i * kw + j
            place = (y * s[0] - pad[0] + i * d[0] + offset[b, 2 * tap, y, z],
                     z * s[1] - pad[1] + j * d[1] + offset[b, 2 * tap + 1, y, z])
            want[b, o, y, z] += (weight[o, inner, i, j] * at(x[b, channel], *place)
                                 * (mask[b, tap, y, z] if masked else 1))
    tensors = [torch.from_numpy(a) for a in (x, weight, offset, mask, bias)]
    static = (*s, *pad, *d, groups, offset_groups, masked)
    np.testing.assert_allclose(ops.deform_conv2d(*tensors, *static).numpy(), want, atol=1e-10)


class Deform(torch.autograd.Function):
    """The convolution with its backward operator, as torchvision registers it."""

    static = (1, 1, 1, 1, 1, 1, 2, 2, True)

    @staticmethod
    def forward(ctx, *tensors):
        ctx.save_for_backward(*tensors)
        return ops.deform_conv2d(*tensors, *Deform.static)

    @staticmethod
    def backward(ctx, grad):
        return ops._deform_conv2d_backward(grad, *ctx.saved_tensors, *Deform.static)


def test_gradients_of_deform_conv2d():
    rng = np.random.default_rng(4)
    shapes = (1, 2, 3, 3), (2, 1, 2, 2), (1, 16, 4, 4), (1, 8, 4, 4), (2,)
    tensors = [torch.from_numpy(rng.uniform(0.1, 0.4, shape)).requires_grad_() for shape in shapes]
    assert torch.autograd.gradcheck(Deform.apply, tensors)


def test_what_does_not_fit_is_refused():
    x, rois = torch.ones(1, 4, 5, 5), torch.zeros(2, 5)
    with pytest.raises(RuntimeError, match="K, 5"):
        ops.roi_align(x, rois[:, :4], 1.0, 2, 2, -1, False)
    with pytest.raises(RuntimeError, match="same type"):
        ops.roi_align(x, rois.double(), 1.0, 2, 2, -1, False)
    with pytest.raises(RuntimeError, match="multiple"):
        ops.ps_roi_pool(x, rois, 1.0, 3, 3)
    with pytest.raises(RuntimeError, match="2d tensor"):
        ops.nms(torch.zeros(4), torch.zeros(1), 0.5)
    with pytest.raises(NotImplementedError, match="quantized"):
        ops.qnms(torch.zeros(1, 4), torch.zeros(1), 0.5)
