"""Tensors exchanged with others: DLPack, NumPy, and the old name `Variable`."""

import numpy as np

from compat_tests.harness import case, each, leaf, raises, rand


@each(float=lambda T, x: x, transposed=lambda T, x: x.t(), part=lambda T, x: x[1:, ::2],
      number=lambda T, x: x[0, 0], mask=lambda T, x: x > 0,
      integers=lambda T, x: x.long(), half=lambda T, x: x.half(), complex=lambda T, x: x + 1j)
def dlpack_with_numpy(T, change):
    x = change(T, rand(T, 3, 4))
    array = np.from_dlpack(x)
    there = T.from_dlpack(np.asfortranarray(array))
    capsule = T.utils.dlpack.from_dlpack(T.utils.dlpack.to_dlpack(x.contiguous()))
    return array.tolist(), str(array.dtype), there, capsule, there.is_leaf, there._version


@case
def dlpack_refused(T):
    x, used = rand(T, 3), T.utils.dlpack.to_dlpack(rand(T, 2))
    T.from_dlpack(used)
    return (
        raises(leaf(T, 3).__dlpack__), raises(lambda: T.from_dlpack(leaf(T, 3))),
        raises(lambda: T.from_dlpack(used)), raises(lambda: T.from_dlpack(3)),
        raises(lambda: x.__dlpack__(stream=1)), raises(lambda: x.__dlpack__(stream="x")),
        tuple(map(int, x.__dlpack_device__())), int(T.utils.dlpack.DLDeviceType.kDLCUDA),
    )


@case
def dlpack_of_an_own_tensor_shares_memory(T):
    x = rand(T, 2, 3)
    y = T.from_dlpack(x.t())
    y[0] = 5
    x[1, 1] = 6
    return x, y, x._version, y._version, T.from_dlpack(x, copy=True).zero_(), x


@case
def numpy_array_of_a_tensor(T):
    x = rand(T, 3)
    copy = np.array(x.numpy())
    copy[0] = 7
    return x, copy.tolist(), np.asarray(x, dtype="float64").tolist(), raises(lambda: np.asarray(leaf(T, 2)))
