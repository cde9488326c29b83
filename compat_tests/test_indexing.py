"""Reading and writing by index, held against PyTorch row by row; see `index_rows`."""

import pytest
import torch

import jaxflow
from compat_tests.harness import check
from compat_tests.index_rows import read, rows, write

BASIC = rows("""
    x[0]
    x[-1]
    x[1, 2]
    x[1, 2, 3]
    x[0, -1, -4]
    x[np.int64(1)]
    x[np.int32(1), np.uint8(2)]
    x[np.array(1)]
    x[:]
    x[...]
    x[()]
    x[:, :]
    x[..., :]
    x[:, 0:3]
    x[0:2]
    x[:, 0]
    x[:, :, 0]
    x[..., 0]
    x[..., 0, 1]
    x[0, ..., 1]
    x[0, ..., 0, 0]
    x[0, 0, 0, ...]
    x[1:]
    x[:-1]
    x[-1:]
    x[-5:1]
    x[1:0]
    x[5:]
    x[::2]
    x[:, ::2]
    x[:, 1::2, ::3]
    x[..., 1:3]
    x[:, 1:2, 2]
    x[None]
    x[None, None]
    x[..., None]
    x[:, None]
    x[None, ..., None]
    x[None, 0, None]
    x[:, None, 1]
    x[0, None, 1:, None, 2]
    x[T.tensor(1)]
    x[T.tensor(-1)]
    x[T.tensor(1, dtype=T.int32)]
    x[T.tensor(1, dtype=T.int8)]
    x[T.tensor(1), T.tensor(2)]
    x[:, T.tensor(1)]
    x[T.tensor(0), :, T.tensor(0)]
    x[T.tensor(1):]
    x[:T.tensor(2):T.tensor(1)]
    x[T.tensor([1]):]
    x[np.int64(1):]
    x[True:]
    x[:10**30]
    x[T.Size([1, 2])]
    x[(0, 1)]
    x[0][1][2]
    x[0].t()[1:]
    p[0]
    p[:, 1]
    p[..., ::2]
    p[None, :, 0]
    v[2]
    v[1::2]
    v[None, 1:4, None]
    s[()]
    s[...]
    s[None]
    s[None, None]
    s[..., None]
    e[:]
    e[:, 0]
    e[0:0]
    e[None]
    e[..., 1:]
    n[2]
    n[::2]
    c[1]
    c[::2]
""")

ARRAYS = rows("""
    x[[0, 1]]
    x[[0]]
    x[[1, -1, 0]]
    x[[]]
    x[[1, 1, 1]]
    x[range(2)]
    x[(0, 1),]
    x[((0, 1), (2, 0))]
    x[((0, 1), 0)]
    x[np.array([0, 1])]
    x[np.array([[0, 1], [1, 0]])]
    x[np.array([1], dtype=np.int16)]
    x[np.array([1.9])]
    x[[1.5]]
    x[0, [0, 1.5]]
    x[i]
    x[T.tensor([1], dtype=T.int32)]
    x[T.tensor([[0, 1], [1, 0]])]
    x[T.tensor([], dtype=T.int64)]
    x[T.zeros(2, 0, dtype=T.int64), 0]
    x[:, i]
    x[:, [0, 2]]
    x[:, [0, 2], :]
    x[..., [0, -1]]
    x[..., i]
    x[:, :, i]
    x[:, :, [1]]
    x[0, i]
    x[0, :, i]
    x[0, i, i]
    x[:, 0, i]
    x[i, 0]
    x[i, :, 0]
    x[i, i]
    x[i, :, i]
    x[:, i, i]
    x[i, i, i]
    x[i, ..., i]
    x[..., i, i]
    x[None, i]
    x[i, None]
    x[i, None, i]
    x[None, i, i]
    x[:, None, i]
    x[i, None, None, i]
    x[[0], i]
    x[[[0], [1]], i]
    x[:, [[0], [1]], i]
    x[[[0], [1]], :, i]
    x[i, 1:]
    x[i, 1:, ::2]
    x[1:, i]
    x[1:, i, ::2]
    x[..., i, 0]
    x[T.tensor(1), [0, 1]]
    x[T.tensor(0), :, [0, 1]]
    x[[0, 1], :, T.tensor(0)]
    x[T.tensor([[0, 1], [1, 0]]), :, T.tensor([1])]
    x[0, [T.tensor(0), T.tensor(1)]]
    x[0, [T.tensor([0]), 2]]
    x[0, []]
    x[[], []]
    x[[], [0]]
    x[0, range(0)]
    x[:0, [1]]
    x[[0] * 40]
    x[[[0] * 2] * 40]
    p[[0, 1]]
    p[:, i]
    p[:, :, [0, 1]]
    p[:, [0, 1], [0, 1]]
    p[i, :, i]
    p[:, T.tensor([[0, 1], [1, 2]])]
    p[:, T.tensor([[0, 1, 2], [1, 2, 0]]).t()]
    p[None, i]
    v[i]
    v[T.tensor([[0, 1], [2, 3]])]
    v[[4, -5]]
    e[[]]
    e[:, [0, 2]]
    e[:, [7]]
    e[T.zeros(0, dtype=T.int64)]
    n[[5, 0]]
    n[n[[1, 2]]]
    c[i]
    c[[0, 0]]
    T.zeros(3, 0)[[0]]
    x[[0, 1]][:, [0, 1]]
    x[:, i].sum(1)[i]
""")

MASKS = rows("""
    x[True]
    x[False]
    x[True, 0]
    x[0, True]
    x[True, [0, 1]]
    x[None, True]
    x[:, True]
    x[:, False]
    x[..., True]
    x[True, True]
    x[True, False]
    x[True, ..., [0]]
    x[[0, 1], True, [0, 1]]
    x[:, True, [0, 1]]
    x[T.tensor(True)]
    x[T.tensor(False)]
    x[:, T.tensor(True)]
    x[T.tensor(True), [0, 1]]
    x[np.array(True)]
    x[[True, False]]
    x[:, [True, False, True]]
    x[0, [True, False, True]]
    x[np.array([True, False])]
    x[0, [np.bool_(True), np.bool_(False), np.bool_(True)]]
    x[0, [T.tensor(True), T.tensor(False), T.tensor(True)]]
    x[[True, 0]]
    x[0, [True, 2]]
    x[:, m]
    x[:, m, 0]
    x[:, m, 1:]
    x[0, m]
    x[0, m, i[:2]]
    x[x > 0]
    x[x > 100]
    x[:, x[0] > 0]
    x[x[:, :, 0] > 0]
    x[x[:, :, 0] > 0, 0]
    x[x[:, :, 0] > 0, :2]
    x[x[:, :, 0] > 0, None]
    x[x[:, :, 0] > -5, [0]]
    x[..., x[0] > 0]
    x[..., x[0, 0] > -1]
    x[0, x[0] > 0]
    x[0, x[0] > 0, None]
    x[None, x > 0]
    x[x[:, 0, 0] > 0, :, [0]]
    x[T.ones(2, 3, 4, dtype=T.uint8)]
    x[T.tensor([1, 0], dtype=T.uint8)]
    x[np.array([0, 1], dtype=np.uint8)]
    x[T.tensor(1, dtype=T.uint8)]
    x[:, [[True] * 4, [False] * 4, [True] * 4]]
    p[p > 0]
    p[:, m]
    v[v > 0]
    v[v != v]
    s[True]
    s[False]
    s[T.tensor(True)]
    s[s > 0]
    s[s > 5]
    e[e > 0]
    e[T.zeros(0, dtype=T.bool)]
    n[n % 2 == 0]
    c[m]
    x[m.nonzero()[:, 0] - 1]
""")

TUPLES_IN_LISTS = rows("""
    x[[0, None]]
    x[[None]]
    x[[..., 0]]
    x[[slice(None), 0]]
    x[[slice(0, 1)]]
    x[[slice(0, 1), [0, 1]]]
    x[[[0, 1], [1, 0]]]
    x[[[0, 1], 0]]
    x[[[0, 1], [0]]]
    x[[[]]]
    x[[[], []]]
    x[[i, i]]
    x[[T.tensor(0), T.tensor(1)]]
    x[[i, 0]]
    x[[range(2), range(2)]]
    x[[np.array([0, 1]), np.array([0, 1])]]
    x[[(0, 1), (1, 0)]]
    x[[T.tensor([True, False])]]
    x[[[[0]]]]
    x[[np.int64(0), np.int64(1)]]
""")

REFUSED = rows("""
    x[2]
    x[-3]
    x[0, 3]
    x[:, 5]
    x[None, 5]
    x[:, None, 5]
    x[..., 9]
    x[0, 0, 0, 0]
    x[:, :, :, :]
    x[0, 0, 0, 0, ...]
    x[i, i, i, i]
    x[T.tensor(5)]
    x[0, T.tensor(-4)]
    x[np.int64(5)]
    x[10**18]
    x[10**30]
    x[[5]]
    x[[0, -3]]
    x[:, [5]]
    x[None, [5]]
    x[[0, 1], [5, 0]]
    x[[0, 1], [0, -7]]
    x[np.array([2])]
    x[[10**30]]
    x[T.tensor([0, 5])]
    v[T.tensor([0, 5])]
    x[[0, 1], [0, 1, 2]]
    x[:, [0, 1], [0, 1, 2]]
    x[T.zeros(2, 3, dtype=T.int64), T.zeros(3, 2, dtype=T.int64)]
    x[False, [0, 1]]
    x[[], [0, 1]]
    x[m]
    x[None, m]
    x[:, [True, False]]
    x[[True]]
    x[x[0] > 0]
    x[:, T.ones(3, 3, dtype=T.bool)]
    x[0, T.ones(3, 2, dtype=T.bool)]
    x[T.ones(2, 3, 4, 1, dtype=T.bool)]
    x[T.ones(2, 3, dtype=T.bool), 0, 0]
    x[T.ones(2, 3, 4, dtype=T.bool), 0]
    x[m, T.ones(2, dtype=T.bool)]
    x[T.ones(1, 1, dtype=T.uint8)]
    x[T.tensor(1.0)]
    x[T.tensor([1.0])]
    x[T.tensor([1], dtype=T.int16)]
    x[T.tensor([1], dtype=T.int8)]
    x[T.zeros(0)]
    x[c]
    x[1.0]
    x[0, 1.5]
    x[1j]
    x[{}]
    x[{1}]
    x[0, {}]
    x[object()]
    x[np.float32(1)]
    x[np.bool_(True)]
    x[iter([0])]
    x[T.float32]
    x['a']
    x[0, 'a']
    x[b'a']
    x[['a']]
    x[[0, 'a']]
    x[[0, {}]]
    x[0, [None]]
    x[0, [1, None]]
    x[0, [1j]]
    x[0, [object()]]
    x[0, [0, [1]]]
    x[0, [[1], 0]]
    x[0, [[0, 1], [0]]]
    x[0, [float('nan')]]
    x[0, [T.tensor([0, 1])]]
    x[0, [0, T.tensor(1.5)]]
    x[np.array(['a'])]
    x[::-1]
    x[:, ::-2]
    x[::0]
    x[::T.tensor(0)]
    x[1.0:]
    x['a':]
    x[:, 1:'a']
    x[T.tensor(1.0):]
    x[T.tensor([1, 2]):]
    s[0]
    s[1]
    s[-1]
    s[:]
    s[0, 0]
    s[..., 0]
    s[::-1]
    s[::0]
    s[1.0:]
    s[None, 0]
    s[[0]]
    s[[]]
    s[T.tensor(0)]
    e[0]
    e[[0]]
    e[[7], [0]]
    T.zeros(3, 0)[:, [0]]
    T.zeros(0)[T.tensor([0])]
""")

WRITES = rows("""
    y[0] = 1
    y[-1, 2] = 1.5
    y[0, 0, 0] = -1
    y[:] = 1
    y[...] = 1
    y[()] = 2
    y[:, :] = 3
    y[0:2] = 3
    y[None] = 1
    y[:, 1] = 5
    y[..., 0] = 5
    y[..., ::2] = 5
    y[1:, ::2, 1] = 5
    y[1:1] = 5
    y[0] = True
    y[0] = w
    y[:] = w
    y[0, 1] = w[0]
    y[0, :, 1:2] = w[:, :1]
    y[0] = T.ones(4)
    y[0] = T.ones(1, 3, 4)
    y[0, 0, 0] = T.ones(1, 1)
    y[0, 0, 0] = T.tensor(7.0)
    y[0, 0, 0] = w.sum()
    y[None, 0] = T.ones(1, 3, 4)
    y[0] = T.ones(4, dtype=T.float64)
    y[0] = T.arange(4)
    y[0] = np.float64(2)
    y[0] = y[1]
    y[0] = y[0]
    y[0] = y[1].detach()
    y[0] = x[1]
    y.expand(2, 2, 3, 4)[0] = 1
    y[T.tensor(1)] = 3
    y[T.tensor(1), T.tensor(1)] = 3
    y[0] += 1
    y[0] *= w
    y[:, 1] -= 2
    y[0][1] = 4
    y[0][1][2] = 4
    y[0].t()[1] = 4
    y[0] = 1; y[1] = w; y[0, 0] *= 2
    q[0] = 1
    q[:, 1] = w[:2, 0][:, None]
    q[..., 0] = w[:2, :3]
    y[[0, 1]] = 1
    y[[1]] = w
    y[[0, 1]] = w
    y[[0, 1]] = T.ones(2, 3, 4)
    y[[0, 1]] = T.ones(1, 2, 3, 4)
    y[[]] = 3
    y[:, [0, 2]] = 1
    y[:, [0, 1]] = T.ones(2, 4)
    y[:, [2, 0]] = w[:2]
    y[..., [0, -1]] = 2.0
    y[0, [0, 1]] = w[:2]
    y[0, :, [0, 1]] = w[:, :2]
    y[[0, 1], :, [0, 1]] = T.ones(2, 3)
    y[[0, 1], [1, 2]] = w[1:]
    y[[0, 1], None, [1, 2]] = w[1:, None]
    y[:, [0, 1], [2, 3]] = w[:2, 0]
    y[[0, 1], [0, 1], [0, 1]] = w[0, :2]
    y[T.tensor([[0], [1]]), T.tensor([0, 2])] = w[0]
    y[[0, 1]] += 1
    y[[0, 1], 0] *= 3
    y[:, i[:2]] += w[:2]
    y[[0, 0]] = T.ones(2, 3, 4)
    y[1:, [0, 1]] = 4
    y[np.array([0])] = 4
    y[T.tensor([0], dtype=T.int32)] = 4
    q[:, [0, 1]] = 4
    q[[0, 1], :, [0, 1]] = w[:2, :3]
    y[True] = 5
    y[False] = 5
    y[True, 0] = 5
    y[:, True] = 5
    y[T.tensor(True)] = 3
    y[T.tensor(False)] = 3
    y[[True, False]] = 2
    y[[True, False]] = w
    y[:, m] = 2
    y[:, m] = w[:2]
    y[:, m, 1] = 2
    y[y > 0] = 0
    y[y > 0] = T.ones(1)
    y[y > 0] = T.tensor(1.0, dtype=T.float64)
    y[y > 100] = 0
    y[y > 100] = T.ones(0)
    y[y > 0] = w.sum()
    y[y > 0] += 1
    y[y > 4.2] = w[0, :3]
    y[:, y[0] > 0] = 1
    y[y[:, :, 0] > 0] = w[0]
    y[y[:, 0, 0] > 0, 0] = 1
    y[None, y > 0] = 1
    y[y.isnan()] = 1
    q[q > 0] = 3
    y[y > 0] = y[y > 0] * 2
    k[0] = 1.5
    k[0] = T.tensor(1.5)
    k[[0]] = 1.5
    k[[0]] = True
    k[k > 1] = 1.5
    k[k > 1] = T.tensor(1.5)
    k[[0, 0]] += 1
    k[[5, 0]] = T.tensor([1, 2])
    k[:3] = k[3:]
    k[::2] = 9
    k[k % 2 == 0] *= 10
    z[0] = 1
    z[0] = 2j
    z[m] = 1j
    z[[0, 1]] = z[[1, 2]]
    z.real[0] = 5
    z.imag[:] = w[:, 0]
""")

WRITES_REFUSED = rows("""
    y[2] = 1
    y[0, 0, 0, 0] = 1
    y[[5]] = 1
    y[::-1] = 1
    y['a'] = 1
    y[1.5] = 0
    y[0] = 'a'
    y[0] = None
    y[True] = T.ones(7)
    y[T.tensor([1, 0], dtype=T.uint8)] = 5
    s.detach()[::0] = 5
    y[0] = [1, 2, 3, 4]
    y[0] = np.ones(4)
    y[0] = 1j
    y[[0]] = 1j
    y[0] = T.ones(3)
    y[0] = T.ones(0)
    y[0] = T.ones(2, 3, 4)
    y[0] = x
    y[0, 0, 0] = T.ones(2)
    y[1:1] = T.ones(2)
    y[[0, 1]] = T.ones(3)
    y[[0, 1], [0, 1]] = T.ones(3, 4)
    y[[0, 1], [0, 1, 2]] = 1
    y[y > 0] = T.ones(3)
    y[m] = 1
    y[[0]] = T.ones(4, dtype=T.float64)
    y[[0]] = T.tensor(1, dtype=T.int32)
    y[y > 0] = T.ones(19, dtype=T.float64)
    k[[0]] = T.tensor(1.5)
    k[0] = float('nan')
    k[1:] = k[:-1]
    del y[0]
    x[0] = 1
    x[[0]] = 1
    x[x > 0] = 1
    x[0] += 1
    y[0, None].expand(5, 3, 4)[:] = 1
""")


def test_tables_have_no_duplicates():
    everything = [*BASIC, *ARRAYS, *MASKS, *TUPLES_IN_LISTS, *REFUSED, *WRITES, *WRITES_REFUSED]
    assert len(everything) == len(set(everything)) > 450


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("row", [*BASIC, *ARRAYS, *MASKS, *TUPLES_IN_LISTS, *REFUSED])
def test_reading(row):
    check(read(row), jaxflow)


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("row", [*WRITES, *WRITES_REFUSED])
def test_writing(row):
    check(write(row), jaxflow)


UNDER_VMAP = rows("""
    x[q]
    x[0, q]
    x[b, q]
    x[b, q, q + 1]
    x[q, :, b]
    x[None, q, ..., 0]
    x[q, 1, r]
    x[b, :, r]
    x[:, r, q]
    x[q - 2]
    x[b.int(), q]
    x[b][q][None]
    x[q, [0, 1]]
    x[q, True]
    x[T.tensor(1), q, b]
    x[q.float()]
    x[q > 0]
    x[q, r > 0]
    x[b, q, q + 9]
""")


@pytest.mark.parametrize("code", UNDER_VMAP)
def test_a_number_of_an_example_is_an_index_under_vmap(code):
    """A tensor without dimensions that differs between examples indexes like an array: ``b`` and ``q``."""
    def seen(T):
        x, r = T.arange(60.0).reshape(3, 4, 5), T.arange(3)
        f = eval(f"lambda b, q: {code}", {"T": T, "x": x, "r": r})
        try:
            out = T.vmap(T.vmap(f, in_dims=(None, 0)), in_dims=(0, None))(T.arange(2), T.arange(3))
        except (IndexError, RuntimeError) as error:
            return type(error), str(error)[:60]
        return tuple(out.shape), out.tolist()

    assert seen(jaxflow) == seen(torch)
