"""The keys of random ops: jax's Threefry, bit for bit, at the edges of seeds, counters and widths."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core.threefry import key_of, threefry


@pytest.mark.parametrize("seed, offset", [(0, 0), (1337, 5), (-3, 7), (2**62 + 12345, 2**33 + 9)])
def test_bits_are_those_of_jax(seed, offset):
    ours = key_of(np.int64(seed), np.int64(offset))
    theirs = jax.random.fold_in(jax.random.key(np.int64(seed)), np.int64(offset))
    assert jax.random.key_data(ours).tolist() == jax.random.key_data(theirs).tolist()
    for draw in (
        lambda key: [jax.random.bits(key, (2, 3), f"uint{n}").tolist() for n in (8, 16, 32, 64)],
        lambda key: jax.random.permutation(key, 5).tolist(),  # splits the key
        lambda key: jax.random.uniform(key, (0,)).tolist(),
    ):
        assert draw(ours) == draw(theirs)


def test_published_values():
    # The known answers of Random123's kat_vectors for threefry2x32 with 20 rounds.
    ones, pi = 0xFFFFFFFF, (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3)
    for words, expected in (
        ((0, 0, 0, 0), (0x6B200159, 0x99BA4EFE)),
        ((ones,) * 4, (0x1CB996FC, 0xBB002BE7)),
        (pi, (0xC4923A9C, 0x483DF7A0)),
    ):
        assert tuple(int(x) for x in threefry(*map(jnp.uint32, words))) == expected


def test_one_drawn_without_replacement():
    torch.manual_seed(0)
    p = torch.tensor([[0.0, 1.0, 3.0], [2.0, 0.0, 2.0]])
    drawn = torch.cat([torch.multinomial(p, 1) for _ in range(400)], 1).numpy()
    counts = np.stack([np.bincount(row, minlength=3) for row in drawn]) / 400
    assert counts[0, 0] == counts[1, 1] == 0
    assert np.abs(counts - p.numpy() / 4).max() < 0.09  # 3.5 standard deviations
    assert torch.multinomial(p[0], 2).sort().values.tolist() == [1, 2]
