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


DYNAMIC = "do not support batching operators that can output dynamic shape. Attempted to vmap over aten::"


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call, words", [
    (torch.nonzero, DYNAMIC + "nonzero"),
    (lambda t: t.nonzero(as_tuple=True), "not implemented for aten::nonzero_numpy"),
    (torch.unique, DYNAMIC + "_unique2"), (torch.unique_consecutive, DYNAMIC + "unique_consecutive"),
    (lambda t: t.unique(dim=0), DYNAMIC + "unique_dim"), (torch.where, DYNAMIC + "where"),
    (lambda t: t[t > 0], "support dynamic shape. Attempting to batch over indexing with a boolean mask"),
    (lambda t: t.masked_select(t > 0), "Attempted to vmap over `mask` in torch.masked_select"),
    (lambda t: torch.nn.functional.one_hot(t.long()), "provide an explicit positive num_classes"),
    (lambda t: t.item(), r"you're calling .item\(\) on a Tensor"),
    (lambda t: t[:1].item(), r"you're calling .item\(\) on a Tensor"),
    (lambda t: t.tolist(), "Cannot access data pointer of Tensor that doesn't have storage"),
    (lambda t: t.numpy(), "Cannot access data pointer of Tensor that doesn't have storage"),
    (lambda t: torch.equal(t, t), "not implemented for aten::equal"),
    (lambda t: torch.allclose(t, t), "vmap over torch.allclose isn't supported yet"),
])
def test_what_has_to_know_numbers_says_so(call, words):
    y = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    with pytest.raises(RuntimeError, match=words):
        torch.vmap(call)(y)
    mask = torch.tensor([True, False, True])
    assert torch.vmap(lambda t: (t[mask], t.masked_select(mask)))(y)[0].tolist() == [[1.0, 2.0], [0.0, 3.0]]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("change", [
    lambda t: t.unsqueeze_(0), lambda t: t.resize_(2), lambda t: t.add_(1).unsqueeze_(0),
    lambda t: t.t_(), lambda t: (t.transpose_(0, 1), t.sum())[1]])
def test_an_argument_that_takes_another_shape_in_place_is_refused(change):
    y = torch.arange(8.0).reshape(2, 2, 2)
    with pytest.raises(NotImplementedError, match="gives an argument another shape or other memory in place"):
        torch.vmap(change)(y)
    assert y.tolist() == torch.arange(8.0).reshape(2, 2, 2).tolist()
    assert torch.vmap(lambda t: t.add_(1))(y) is not None and y[0, 0, 0].item() == 1.0


def test_sizes_that_depend_on_numbers_are_found_for_each_example(executor):
    ones = torch.ones(2, 3)
    assert torch.vmap(torch.argwhere)(ones).tolist() == [[[0], [1], [2]]] * 2
    whole = torch.tensor([[2, 0, 2], [1, 2, 0]])
    assert torch.vmap(torch.bincount)(whole).tolist() == [[1, 0, 2], [1, 1, 1]]
    weights = torch.tensor([0.5, 1.0, 2.0])
    assert torch.vmap(lambda t: torch.bincount(t, weights, 4))(whole).tolist() == [
        [1.0, 0.0, 2.5, 0.0], [2.0, 0.5, 1.0, 0.0]]
    nested = torch.vmap(torch.vmap(torch.bincount))(whole.expand(3, 2, 3))
    assert nested.tolist() == [[[1, 0, 2], [1, 1, 1]]] * 3
    rows = torch.arange(6.0).reshape(2, 3).requires_grad_()
    repeated = torch.vmap(torch.repeat_interleave)(rows, torch.tensor([[1, 2, 0], [0, 1, 2]]))
    assert repeated.tolist() == [[0.0, 1.0, 1.0], [4.0, 5.0, 5.0]]
    repeated.sum().backward()
    assert rows.grad.tolist() == [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0]]
    halves = torch.vmap(torch.quantile)(rows.detach(), torch.tensor([0.5, 1.0]))
    assert halves.tolist() == [1.0, 5.0]


def test_results_of_different_sizes_cannot_be_stacked(executor):
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size, but got"):
        torch.vmap(torch.argwhere)(torch.tensor([[1, 0], [1, 1]]))
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size, but got"):
        torch.vmap(torch.bincount)(torch.tensor([[1, 0], [1, 3]]))
    with pytest.raises(RuntimeError, match=r"quantile\(\) q values must be in the range"):
        torch.vmap(torch.quantile)(torch.ones(2, 3), torch.tensor([0.5, 2.0]))
