"""PyTorch's own samples of products, convolutions, pools, norms, losses and lookups, on both."""

import pytest
import torch

from compat_tests import sweep

PRODUCTS = """
    matmul __rmatmul__ mm bmm mv dot vdot inner addmm addmv addbmm baddbmm addr einsum tensordot
    linalg.multi_dot nn.functional.linear nn.functional.bilinear
"""
WINDOWS = """
    nn.functional.conv1d nn.functional.conv2d nn.functional.conv3d nn.functional.conv_transpose1d
    nn.functional.conv_transpose2d nn.functional.conv_transpose3d nn.functional.unfold
    nn.functional.max_pool1d nn.functional.max_pool2d nn.functional.max_pool3d
    nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d
    nn.functional.avg_pool1d nn.functional.avg_pool2d nn.functional.avg_pool3d
    nn.functional.adaptive_avg_pool1d nn.functional.adaptive_avg_pool2d
    nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool1d
    nn.functional.adaptive_max_pool2d nn.functional.adaptive_max_pool3d
"""
NORMS = """
    nn.functional.batch_norm nn.functional.layer_norm nn.functional.rms_norm
    nn.functional.group_norm nn.functional.instance_norm nn.functional.local_response_norm
    nn.functional.normalize nn.functional.cosine_similarity nn.functional.pairwise_distance
"""
RESIZING = """
    nn.functional.interpolate nn.functional.upsample_bilinear nn.functional.upsample_nearest
"""
LOSSES = """
    nn.functional.mse_loss nn.functional.l1_loss nn.functional.smooth_l1_loss
    nn.functional.huber_loss nn.functional.nll_loss nn.functional.cross_entropy
    nn.functional.binary_cross_entropy nn.functional.binary_cross_entropy_with_logits
    nn.functional.kl_div nn.functional.cosine_embedding_loss nn.functional.margin_ranking_loss
    nn.functional.hinge_embedding_loss nn.functional.triplet_margin_loss
    nn.functional.triplet_margin_with_distance_loss nn.functional.poisson_nll_loss
    nn.functional.gaussian_nll_loss nn.functional.soft_margin_loss
    nn.functional.multilabel_soft_margin_loss nn.functional.multi_margin_loss
    nn.functional.multilabel_margin_loss
"""
LOOKUPS = """
    nn.functional.scaled_dot_product_attention nn.functional.embedding nn.functional.embedding_bag
    nn.functional.pad nn.functional.pixel_shuffle nn.functional.pixel_unshuffle
    nn.functional.channel_shuffle
"""

KEYS = sweep.records(PRODUCTS + WINDOWS + NORMS + RESIZING + LOSSES + LOOKUPS)
DTYPES = ("float32", "complex64", "int64", "bfloat16")


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize(("key", "dtype"), sweep.cases(KEYS, DTYPES))
def test_values(key, dtype):
    sweep.check_values(key, dtype)


WITH_ERRORS = [k for k in KEYS if sweep.record(k).error_inputs_func is not None]


@pytest.mark.parametrize("key", WITH_ERRORS)
def test_errors(key):
    sweep.check_errors(key)


@pytest.mark.parametrize("key", [k for k in KEYS if sweep.record(k).supports_out])
def test_out(key):
    sweep.check_out(key, "float32")


INPLACE = [k for k in KEYS if sweep.record(k).inplace_variant is not None]


@pytest.mark.parametrize("key", INPLACE)
def test_inplace(key):
    sweep.check_inplace(key, "float32")


def test_samples_exist():
    """Every name has a record of float samples; a variant for another device may have none."""
    sampled = {sweep.record(k).name for k in KEYS if torch.float32 in sweep.record(k).dtypes}
    assert sampled == {sweep.record(k).name for k in KEYS}
