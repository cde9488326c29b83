"""Floating-point operations that are counted."""

import threading

import jax
import jax.numpy as jnp
import pytest

import jaxflow as torch
from jaxflow import nn
from jaxflow.nn import functional as F
from jaxflow.utils import flop_counter
from jaxflow.utils._flops import UnknownCount, flops_of
from jaxflow.utils.flop_counter import FlopCounterMode


def counted(function, *arguments):
    with FlopCounterMode(display=False) as counter:
        function(*arguments)
    return counter.get_total_flops()


@pytest.mark.usefixtures("executor")
def test_products():
    a, b = torch.ones(2, 3), torch.ones(3, 4)
    assert counted(torch.mm, a, b) == counted(torch.matmul, a, b) == counted(F.linear, a,
                                                                             b.T) == 2 * 2 * 3 * 4
    assert counted(torch.einsum, "bij,bjk->bik", torch.ones(5, 2, 3), torch.ones(5, 3, 4)) == 5 * 48
    assert counted(torch.bmm, torch.ones(5, 2, 3), torch.ones(5, 3, 4)) == 5 * 48
    assert counted(torch.func.vmap(torch.mm), torch.ones(5, 2, 3), torch.ones(5, 3, 4)) == 5 * 48
    assert counted(torch.dot, torch.ones(3), torch.ones(3)) == 6
    assert counted(lambda: (a + 1).exp().sum()) == 0
    assert counted(lambda: [torch.mm(a, b) for _ in range(3)]) == 3 * 48


@pytest.mark.usefixtures("executor")
def test_backward_passes():
    a, b = torch.ones(2, 3, requires_grad=True), torch.ones(3, 4, requires_grad=True)
    assert counted(lambda: (a @ b).sum().backward()) == 3 * 48
    assert counted(lambda: (a.detach() @ b).sum().backward()) == 2 * 48
    model = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 3))
    assert counted(lambda: model(torch.ones(4, 5)).sum().backward()) == 2 * 4 * (2 * 5 * 7 + 3 * 7 * 3)


def window(dims, groups, transposed):
    """A convolution, an input, and the operations of one pass over it."""
    kind = getattr(nn, f"Conv{'Transpose' if transposed else ''}{dims}d")
    layer = kind(4, 6, 3, stride=2, padding=1, groups=groups)
    x = torch.ones(2, 4, *[7] * dims)
    positions = 7**dims if transposed else 4**dims  # each meets the window once
    return layer, x, 2 * 2 * positions * 3**dims * 4 * 6 // groups


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("dims", "groups"), [(1, 1), (2, 1), (2, 2), (3, 1)])
def test_convolutions(dims, groups, transposed):
    layer, x, once = window(dims, groups, transposed)
    assert counted(layer, x) == once
    assert counted(lambda: layer(x).sum().backward()) == 2 * once
    x.requires_grad_()
    assert counted(lambda: layer(x).sum().backward()) == 3 * once
    layer.weight.requires_grad_(False)
    assert counted(lambda: layer(x).sum().backward()) == 2 * once
    layer.requires_grad_(False)
    assert counted(lambda: layer(x.detach())) == once


def test_other_layers():
    q = torch.ones(2, 4, 6, 8)
    assert counted(F.scaled_dot_product_attention, q, q, q) == 2 * 2 * 2 * 4 * 6 * 6 * 8
    lstm = nn.LSTM(4, 6, batch_first=True)
    assert counted(lstm, torch.ones(2, 5, 4)) == 2 * 2 * 5 * 24 * (4 + 6)


def test_compiled_calls_are_counted_each_time():
    step = torch.compile(lambda x: (x @ x).sum())
    x = torch.ones(4, 4)
    assert [counted(step, x) for _ in range(3)] == [128] * 3


def test_loops():
    def scanned(x):
        return jax.lax.scan(lambda c, _: (c @ x, None), x, None, length=5)[0]

    def unknown(x):
        return jax.lax.while_loop(lambda c: c.sum() < 9, lambda c: c @ x, x)

    def branches(x):
        return jax.lax.cond(x.sum() > 0, lambda v: v @ v @ v, lambda v: v, x)

    x = jnp.ones((3, 3))
    assert flops_of(jax.make_jaxpr(scanned)(x)) == 5 * 54
    assert flops_of(jax.make_jaxpr(branches)(x)) == 2 * 54
    with pytest.raises(UnknownCount, match="number of turns depends on data"):
        flops_of(jax.make_jaxpr(unknown)(x))


def test_by_module(capsys):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.rest = nn.Linear(5, 7), nn.Sequential(nn.Linear(7, 3))

        def forward(self, x):
            return self.rest(self.first(x))

    model = Model()
    with FlopCounterMode(depth=3) as counter:
        model(torch.ones(4, 5))
    found = {name: sum(kinds.values()) for name, kinds in counter.get_flop_counts().items()}
    assert found == {"Global": 448, "Model": 448, "Model.first": 280, "Model.rest": 168, "Model.rest.0": 168}
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Module", "FLOP", "%", "Total"] and set(lines[1]) == {"-", " "}
    assert lines[2].split() == ["Model", "448.000", "100.00%"] and lines[4].startswith(" Model.first ")
    assert len({len(line) for line in lines}) == 1 and "Model.rest.0" in counter.get_table(3)
    assert "Model.first" not in counter.get_table(1)
    with FlopCounterMode():
        model(torch.ones(4, 5)).sum().backward()
    assert capsys.readouterr().out.splitlines()[2].split() == ["Global", "1064.000", "100.00%"]
    with FlopCounterMode():
        torch.ones(2)
    assert capsys.readouterr().out.splitlines()[2].split() == ["Global", "0", "0%"]


def test_an_error_and_another_thread():
    class Fails(nn.Module):
        def forward(self, x):
            x @ x
            raise KeyError("x")

    counter = FlopCounterMode(display=False)
    with pytest.raises(KeyError), counter:
        Fails()(torch.ones(2, 2))
    assert counter.get_total_flops() == 16 and counter._inside == []
    with counter:
        thread = threading.Thread(target=lambda: nn.Linear(2, 2)(torch.ones(2, 2)))
        thread.start()
        thread.join()
    assert counter.get_total_flops() == 0 and counter.get_flop_counts() == {}
    with counter, FlopCounterMode(display=False) as inner:
        torch.ones(2, 2) @ torch.ones(2, 2)
    assert counter.get_total_flops() == inner.get_total_flops() == 16
    with pytest.raises(NotImplementedError, match="custom_mapping is not supported"):
        FlopCounterMode(custom_mapping={"x": None})
    with pytest.warns(UserWarning, match="mods argument is not needed anymore"):
        FlopCounterMode(nn.Linear(1, 1))


def test_numbers():
    assert [flop_counter.get_suffix_str(n) for n in (0, 999, 9999, 99999, 10**8, 10**13, 10**30)] == [
        "", "", "", "K", "M", "T", "T"]
    assert flop_counter.convert_num_with_suffix(1234567, "K") == "1234.567K"
    assert [flop_counter.convert_to_percent_str(1, n) for n in (3, 0)] == ["33.33%", "0%"]
