"""`compat_tests.exact` computes what a program means: the same program written in double precision."""

import functools

import pytest
import torch

from compat_tests.exact import WIDE, Twins, exactly
from compat_tests.ops.arguments import call_of, copied, mapped
from compat_tests.ops.records import differentiable, dtypes, record, take_samples
from compat_tests.ops.unspecified import settled
from compat_tests.ops.values import differentiated

F = torch.nn.functional


def data(dtype, *shape, seed=0):
    """Numbers of low precision, given in a dtype that may be wider."""
    low = torch.complex64 if dtype.is_complex else torch.float32
    return torch.randn(shape, dtype=low, generator=torch.Generator().manual_seed(seed)).to(dtype)


def gradients(dtype):
    x, w = data(dtype, 3, 5).requires_grad_(), data(dtype, 5, 5, seed=1).requires_grad_()
    y = F.gelu(F.layer_norm(x @ w, (5,))).softmax(1)
    (y.log() * y).sum().backward()
    return y, x.grad, w.grad


def second_gradients(dtype):
    x = data(dtype, 4).requires_grad_()
    (g,) = torch.autograd.grad((x.exp() * x.sin()).sum(), x, create_graph=True)
    return g, *torch.autograd.grad(g.square().sum(), x)


def writes(dtype):
    x = data(dtype, 12)
    y = (x / 3).view(3, 4)
    y[1].mul_(1.7)
    y.t()[::2].add_(y[0, 1], alpha=1 / 3)
    y[y > 0] = y.flatten()[0] / 7
    return y, y.flatten().detach()[1:], x


def writes_to_a_graph(dtype):
    x = data(dtype, 2, 3).requires_grad_()
    y = x / 3
    y[0].mul_(x[1])
    y[:, 1:].sum().backward()
    return y, x.grad


def given_results(dtype):
    x, empty, strided = data(dtype, 4), torch.empty(0, dtype=dtype), torch.zeros(8, dtype=dtype)
    torch.div(x, 3, out=empty)
    torch.div(x, 7, out=strided[::2])
    return empty.clone(), strided, empty.resize_(6)[:4].clone(), torch.frexp(x / 3).mantissa


def complex_numbers(dtype):
    x = data(torch.complex64 if dtype is torch.float32 else torch.complex128, 3).requires_grad_()
    y = x / 3
    torch.view_as_real(y)[:, 1].mul_(1.3)
    y.real.div_(7)
    z = y.conj() * y + y.imag
    z.abs().sum().backward()
    return y, z, y.conj(), y.conj().imag, torch.resolve_neg(y.conj().imag), x.grad


def lists(dtype):
    xs = [data(dtype, 3, seed=k) for k in range(3)]
    torch._foreach_div_(xs, 3.0)
    return xs, torch._foreach_mul(xs, xs), torch.stack(xs).unbind(1), torch.cat(xs).sort().values


def recurrent(dtype):
    net = torch.nn.LSTM(3, 4, 2, dtype=dtype)
    for k, p in enumerate(net.parameters()):
        p.data = data(dtype, *p.shape, seed=k)
    return net(data(dtype, 5, 2, 3))


def training(dtype):
    net = torch.nn.Sequential(torch.nn.Conv1d(2, 4, 3), torch.nn.BatchNorm1d(4), torch.nn.Tanh(),
                              torch.nn.Flatten(), torch.nn.Linear(12, 2)).to(dtype)
    with torch.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(data(dtype, *p.shape, seed=k))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, nesterov=True)
    losses = []
    for k in range(4):
        optimizer.zero_grad()
        loss = net(data(dtype, 6, 2, 5, seed=k)).square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    return losses, [*net.parameters()], [*net.buffers()], optimizer.state_dict()


PROGRAMS = [gradients, second_gradients, writes, writes_to_a_graph, given_results, complex_numbers, lists,
            recurrent, training]


def leaves(x):
    """The tensors and numbers of a nested result."""
    return [t.detach().resolve_conj().resolve_neg() if isinstance(t, torch.Tensor)
            else torch.tensor(t, dtype=torch.float64)
            for t in torch.utils._pytree.tree_leaves(x) if isinstance(t, (torch.Tensor, float, int))]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_program_in_double_precision(program):
    low, wide = leaves(program(torch.float32)), leaves(program(torch.float64))
    exact = leaves(exactly(lambda: program(torch.float32)))
    rounded = 0
    for a, b, c in zip(exact, wide, low, strict=True):
        assert a.dtype is b.dtype
        torch.testing.assert_close(a, b, rtol=1e-12, atol=1e-12, equal_nan=True)
        rounded += not torch.equal(b, c.to(b.dtype))
    assert rounded, "nothing is rounded in low precision, so nothing was asked"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision(dtype):
    x, w = (data(torch.float32, 8, 8, seed=k).to(dtype) for k in range(2))

    def program(x, w):
        y = (x @ w).tanh()
        return y[1:], y.float() / 3, y.sum()

    for a, b in zip(exactly(lambda: program(x, w)), program(x.double(), w.double()), strict=True):
        torch.testing.assert_close(a, b.double(), rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", [
    "linalg.pinv/singular", "linalg.pinv/hermitian", "linalg.lstsq", "linalg.svd", "fft.irfft2", "index_put",
    "nn.functional.conv_transpose3d", "nn.functional.ctc_loss", "sgn"])
def test_operators(key):
    """The samples of the operator table, given in low and in double precision; gradients as well."""
    asked = 0
    for dtype in {"float32", "complex64"} & {*dtypes(key)}:
        for sample in take_samples(key, dtype, differentiable(key, dtype), 3):
            low = call_of(sample)
            exact = exactly(functools.partial(differentiated_sample, key, sample, low))
            expected = differentiated_sample(key, sample, mapped(low, widened))
            for a, b in zip(leaves(exact), leaves(expected), strict=True):
                torch.testing.assert_close(a, b, rtol=1e-6, atol=1e-6, equal_nan=True)
                asked += 1
    assert asked


def widened(t):
    """A tensor of a call in double precision."""
    return t.detach().to(WIDE[t.dtype]).requires_grad_(t.requires_grad) if t.dtype in WIDE else t


def differentiated_sample(key, sample, call):
    """The result and the gradients of a sample, or of another call in its place."""
    return differentiated(torch, record(key).op, copied(call), functools.partial(settled, key, sample))


def test_draws_branches_and_integers_are_those_of_the_program():
    def program():
        torch.manual_seed(3)
        x = torch.rand(5)
        counts = torch.zeros(3, dtype=torch.int64)
        counts.add_(1)
        counts[1:].add_(counts[2].clone())
        kept = F.dropout(x, 0.5) > 0
        return x, x.normal_().clone(), kept, counts, x.argsort(), (x / 3 > 0.1).sum(), torch.randperm(4)

    for low, exact in zip(program(), exactly(program), strict=True):
        assert torch.equal(low.to(exact.dtype), exact)


def test_numbers_that_are_read():
    def program(x):
        return [t.item() for t in (x / 3).square()]

    x = data(torch.float32, 4)
    assert exactly(lambda: program(x)) == program(x.double()) != program(x)
    assert exactly((x > 0)[0].item) is bool(x[0] > 0)


def test_it_is_left_as_it_was():
    enabled = torch._C._get_mkldnn_enabled()
    with pytest.raises(RuntimeError, match="size"):
        exactly(lambda: torch.ones(2) + torch.ones(3))
    assert torch._C._get_mkldnn_enabled() is enabled
    assert exactly(lambda: (torch.ones(2), "text", None))[1:] == ("text", None)
    x = torch.ones(2)
    with Twins() as twins:
        assert (x / 3).dtype is torch.float32 and twins.value(x / 3).dtype is torch.float64
    assert twins.value(5) == 5


def test_what_is_computed_from_integers_alone_is_exact():
    x = torch.tensor([-(2**31), 7], dtype=torch.int32)
    y, z = exactly(lambda: (torch.special.bessel_j1(x), x / 3))
    assert y.dtype == z.dtype == torch.float64 and torch.get_default_dtype() == torch.float32
    torch.testing.assert_close(y, torch.special.bessel_j1(x.double()), rtol=1e-12, atol=0)
    torch.testing.assert_close(z, x.double() / 3, rtol=1e-15, atol=0)
