"""``vmap`` beyond PyTorch's: gradients of one example by capture, refusals, what is left behind."""

import gc
import weakref

import pytest
from nearness import close, tensor

import jaxflow as torch


def test_the_gradient_of_one_example_for_a_captured_tensor(executor):
    x, w = tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([0.5, -1.0]).requires_grad_()
    rows = torch.vmap(lambda a: torch.autograd.grad((w * a * a).sum(), w)[0])(x)
    close(rows, x.numpy() ** 2)
    outside = w * 2
    rows = torch.vmap(lambda a: torch.autograd.grad((outside * a).sum(), w, retain_graph=True)[0])(x)
    close(rows, 2 * x.numpy())


def test_a_leaf_made_inside_has_a_gradient_for_each_example(executor):
    x = tensor([1.0, 2.0, 3.0])

    def f(a):
        v = torch.ones(2, dtype=torch.float64, requires_grad=True)
        (v * a).sum().backward()
        return v.grad

    close(torch.vmap(f)(x), [[1, 1], [2, 2], [3, 3]])


def test_backward_inside_into_a_leaf_outside_is_refused(executor):
    x, w = tensor([1.0, 2.0]), tensor([0.5]).requires_grad_()
    with pytest.raises(RuntimeError, match=r"backward\(\) inside of vmap"):
        torch.vmap(lambda a: (w * a).sum().backward())(x)
    assert w.grad is None


def test_a_mask_of_one_example_selects_what_is_written(executor):
    def clamp(a):
        b = a.clone()
        b[a < 0] = 0
        return b

    x = tensor([[1.0, -2.0], [-3.0, 4.0]])
    close(torch.vmap(clamp)(x), x.numpy().clip(0))


def test_nothing_is_kept_once_it_is_over(executor):
    x, w = tensor([1.0, 2.0]), tensor([0.5]).requires_grad_()
    seen = []

    def f(a):
        b = w * a
        seen.append(weakref.ref(b))
        return b

    gc.disable()
    try:
        out = torch.vmap(f)(x)
        assert seen[0]() is None
        node = weakref.ref(out.grad_fn)
        del out
        assert node() is None
    finally:
        gc.enable()


def test_random_numbers_go_on_after_those_of_the_examples(executor):
    torch.manual_seed(3)
    drawn = torch.vmap(lambda a: a + torch.rand(2), randomness="different")(torch.zeros(3))
    after = torch.rand(2)
    torch.manual_seed(3)
    apart = [torch.rand(2) for _ in range(4)]
    close(drawn, torch.stack(apart[:3]).numpy())
    close(after, apart[3].numpy())


def test_indices_out_of_range_are_refused(executor):
    x, i = tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[0], [2]])
    with pytest.raises(IndexError, match="out of range|out of bounds"):
        torch.vmap(lambda a, k: a[k])(x, i).sum().item()


def test_masks_of_examples_are_counted_against_the_source(executor):
    masks = torch.tensor([[1, 0, 1, 0], [1, 1, 1, 0]], dtype=torch.bool)
    x, source = torch.zeros(2, 4), torch.arange(1.0, 4.0)
    out = torch.func.vmap(lambda x, m: x.masked_scatter(m, source))(x, masks)
    assert out.tolist() == [[1, 0, 2, 0], [1, 2, 3, 0]]
    out = torch.func.vmap(lambda m: torch.zeros(1, 4).masked_scatter(m, source))(masks)
    assert out.tolist() == [[[1, 0, 2, 0]], [[1, 2, 3, 0]]]
    with pytest.raises(RuntimeError, match="Number of elements of source < number of ones in mask"):
        torch.func.vmap(lambda x, m: x.masked_scatter(m, source[:2]))(x, masks)
