"""Fake quantization: what is rounded, where gradients pass, and ranges that follow their input."""

import numpy as np
import pytest

import jaxflow as torch

X = np.array([-1.0, -0.2, 0.24, 0.26, 3.0], "float32")


def test_gradients_pass_where_nothing_is_cut(executor):
    x = torch.tensor(X, requires_grad=True)
    out = torch.fake_quantize_per_tensor_affine(x, 0.5, 1, 0, 4)
    out.backward(torch.arange(1.0, 6.0))
    assert out.tolist() == [-0.5, 0.0, 0.0, 0.5, 1.5]
    assert x.grad.tolist() == [0, 2, 3, 4, 0]


def test_ties_go_to_the_even_integer(executor):
    x = torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5])
    assert torch.fake_quantize_per_tensor_affine(x, 1.0, 0, -8, 7).tolist() == [0, 2, 2, 0, -2]


def test_each_channel_has_its_scale(executor):
    x = torch.tensor([[0.3, 5.0], [0.3, 5.0]], requires_grad=True)
    out = torch.fake_quantize_per_channel_affine(
        x, torch.tensor([0.5, 1.0]), torch.tensor([0, 2], dtype=torch.int32), 1, 0, 4)
    out.sum().backward()
    assert out.tolist() == [[0.5, 2.0]] * 2 and x.grad.tolist() == [[1, 0]] * 2


def test_learned_scales_have_the_gradients_of_their_formula(executor):
    x, scale, zero = (torch.tensor(v, requires_grad=True) for v in (X, [0.5], [1.0]))
    torch._fake_quantize_learnable_per_tensor_affine(x, scale, zero, 0, 4, 0.5).sum().backward()
    cut = np.array([True, False, False, False, True])
    held = np.clip(np.rint(X / 0.5) + 1, 0, 4) - 1
    expected = np.where(cut, held, held - X / 0.5).sum() * 0.5
    np.testing.assert_allclose(scale.grad.numpy(), [expected], rtol=1e-5)
    assert zero.grad.tolist() == [-0.5 * 2 * 0.5] and x.grad.tolist() == [0, 1, 1, 1, 0]


def test_vmap_and_tangents():
    x = torch.tensor(np.stack([X, 2 * X]))

    def fake(x):
        return torch.fake_quantize_per_tensor_affine(x, 0.5, 1, 0, 4)

    assert torch.equal(torch.vmap(fake)(x), fake(x))
    _, moved = torch.func.jvp(fake, (x[0],), (torch.ones(5),))
    assert moved.tolist() == [0, 1, 1, 1, 0]


def _buffers(low, high):
    zero = torch.tensor([0], dtype=torch.int32)
    return [torch.tensor([low]), torch.tensor([high]), torch.tensor([1.0]), zero]


def test_a_range_follows_its_input(executor):
    buffers, on = _buffers(float("inf"), -float("inf")), torch.tensor([1])
    x = torch.tensor(X, requires_grad=True)
    out = torch.fused_moving_avg_obs_fake_quant(x, on, on, *buffers, 0.5, 0, 4, -1)
    out.sum().backward()
    assert [b.tolist() for b in buffers] == [[-1.0], [3.0], [1.0], [1]] and x.grad.tolist() == [1.0] * 5
    torch.fused_moving_avg_obs_fake_quant(x * 2, on, on, *buffers, 0.5, 0, 4, -1)
    assert [b.tolist() for b in buffers[:2]] == [[-1.5], [4.5]]
    torch.fused_moving_avg_obs_fake_quant(x * 9, on * 0, on, *buffers, 0.5, 0, 4, -1)
    assert [b.tolist() for b in buffers[:2]] == [[-1.5], [4.5]]


def test_a_failed_call_leaves_the_range(executor):
    buffers, on = _buffers(-1.0, 1.0), torch.tensor([1])
    with pytest.raises(NotImplementedError, match="fake_quantize"):
        torch.fused_moving_avg_obs_fake_quant(torch.tensor([1]), on, on, *buffers, 0.5, 0, 4, -1)
    assert [b.tolist() for b in buffers] == [[-1.0], [1.0], [1.0], [0]]


def test_zero_points_outside_are_refused(executor):
    x, scales = torch.ones(2, 2), torch.ones(2)
    with pytest.raises(RuntimeError, match="`zero_point` must be between"):
        torch.fake_quantize_per_tensor_affine(x, 1.0, 9, 0, 4)
    with pytest.raises(RuntimeError, match="`zero_point` must be between"):
        torch.fake_quantize_per_channel_affine(
            x, scales, torch.tensor([0, 9], dtype=torch.int32), 0, 0, 4).sum().item()
