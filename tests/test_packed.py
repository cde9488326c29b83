"""Padded and packed batches of sequences, and recurrent networks on them: each sequence as if alone."""

import numpy as np
import pytest
from nearness import close, tensor

import jaxflow as torch
from jaxflow.nn.utils import rnn

pytestmark = pytest.mark.usefixtures("executor")

LENGTHS = [2, 4, 1]
RNG = np.random.default_rng(3)
ARRAYS = [RNG.normal(size=(n, 3)) for n in LENGTHS]


def test_padding():
    given = [tensor(a).requires_grad_() for a in ARRAYS]
    for batch_first in (False, True):
        for side in ("right", "left"):
            expected = np.full((3, 4, 3), -1.5)
            for row, a in zip(expected, ARRAYS):
                row[slice(0, len(a)) if side == "right" else slice(4 - len(a), 4)] = a
            expected = expected if batch_first else expected.swapaxes(0, 1)
            for made in (given, [t.detach() for t in given], [t.detach() * 1.0 for t in given]):
                close(rnn.pad_sequence(made, batch_first, -1.5, side), expected)
    rnn.pad_sequence(given).sum().backward()
    for t in given:
        close(t.grad, np.ones(t.shape))
    padded = rnn.pad_sequence([t.detach() for t in given])
    for row, a in zip(rnn.unpad_sequence(padded, torch.tensor(LENGTHS)), ARRAYS, strict=True):
        close(row, a)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(2\)"):
        rnn.pad_sequence([torch.ones(2, 3), torch.ones(1, 2)])


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing(batch_first):
    padded = rnn.pad_sequence([tensor(a) for a in ARRAYS], batch_first)
    packed = rnn.pack_padded_sequence(padded, LENGTHS, batch_first, enforce_sorted=False)
    steps = [ARRAYS[i][t] for t in range(4) for i in (1, 0, 2) if t < LENGTHS[i]]
    close(packed.data, steps)
    assert packed.batch_sizes.tolist() == [3, 2, 1, 1]
    assert packed.sorted_indices.tolist() == packed.unsorted_indices.tolist() == [1, 0, 2]
    again, lengths = rnn.pad_packed_sequence(packed, batch_first, -2.0, total_length=5)
    more = rnn.pad_sequence([*(tensor(a) for a in ARRAYS), tensor(np.zeros((5, 3)))], batch_first, -2.0)
    close(again, (more[:3] if batch_first else more[:, :3]).numpy())
    assert lengths.tolist() == LENGTHS
    assert packed.to(torch.float32).data.dtype == packed.float().data.dtype == torch.float32
    with pytest.raises(RuntimeError, match="must be sorted in decreasing order when `enforce_sorted`"):
        rnn.pack_padded_sequence(padded, LENGTHS, batch_first)
    with pytest.raises(RuntimeError, match="greater than 0"):
        rnn.pack_padded_sequence(padded, torch.tensor([4, 1, 0]), batch_first)
    with pytest.raises(RuntimeError, match=r"but got 2 \(batch_size=3\)"):
        rnn.pack_padded_sequence(padded, [4, 1], batch_first)


NETWORKS = {"GRU": dict(num_layers=2), "LSTM": dict(bidirectional=True, proj_size=2)}


@pytest.mark.parametrize("kind", NETWORKS)
def test_networks(kind):
    """Two sequences of one length and one of another: every new length is compiled anew."""
    arrays = [RNG.normal(size=(n, 3)) for n in (1, 3, 1)]
    net = getattr(torch.nn, kind)(3, 4, dtype=torch.float64, **NETWORKS[kind])
    rows = net.num_layers * (2 if net.bidirectional else 1)
    sizes = (net.proj_size or 4, 4)[: 2 if kind == "LSTM" else 1]
    starts = [tensor(RNG.normal(size=(rows, 3, size))).requires_grad_() for size in sizes]
    states = tuple(starts) if kind == "LSTM" else starts[0]

    given, alone = ([tensor(a).requires_grad_() for a in arrays] for _ in range(2))
    output, last = net(rnn.pack_sequence(given, enforce_sorted=False), states)
    shown, lasts = rnn.unpack_sequence(output), last if kind == "LSTM" else (last,)
    total = expected = 0
    for i, sequence in enumerate(alone):
        one = tuple(s[:, i] for s in starts)
        want, want_last = net(sequence, one if kind == "LSTM" else one[0])
        close(shown[i], want.detach().numpy())
        total, expected = total + (shown[i] ** 2).sum(), expected + (want**2).sum()
        for found, wanted in zip(lasts, want_last if kind == "LSTM" else (want_last,), strict=True):
            close(found[:, i], wanted.detach().numpy())
            total, expected = total + (found[:, i] ** 3).sum(), expected + (wanted**3).sum()
    leaves = [*starts, *net.parameters()]
    found = torch.autograd.grad(total, [*given, *leaves])
    for got, want in zip(found, torch.autograd.grad(expected, [*alone, *leaves]), strict=True):
        close(got, want.numpy())


def test_states_of_another_batch_are_refused():
    packed = rnn.pack_sequence([torch.ones(2, 3), torch.ones(1, 3)])
    with pytest.raises(RuntimeError, match=r"Expected hidden size \(1, 2, 4\), got \[1, 3, 4\]"):
        torch.nn.GRU(3, 4)(packed, torch.zeros(1, 3, 4))
    with pytest.raises(RuntimeError, match="Expected 5, got 3"):
        torch.nn.GRU(5, 4)(packed)
    output, _ = torch.nn.GRU(3, 4)(packed)  # states of zeros
    assert output.data.shape == (3, 4)
