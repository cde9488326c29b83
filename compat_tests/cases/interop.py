"""Tensors exchanged with others: DLPack, NumPy, and the old name `Variable`."""

import warnings

import numpy as np

from compat_tests.harness import attempt, case, each, leaf, raises, rand


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


@case
def the_old_name_variable(T):
    V = T.autograd.Variable
    x = rand(T, 3)
    shared = V(x)
    shared += 1
    return (
        x, V(data=x, requires_grad=True), V(), V(None), V(T.nn.Parameter(x)), V(x, requires_grad=1),
        isinstance(x, V), isinstance(3, V), issubclass(T.nn.Parameter, V), V.__name__,
        raises(lambda: V(x, True, True)), raises(lambda: V(x, True, True, True)),
        raises(lambda: V(np.ones(2))),
        raises(lambda: V(x, foo=1)), raises(lambda: V(x.long(), True)), raises(lambda: V(x, name=3)),
        raises(lambda: V(x, requires_grad=None)), raises(lambda: V(x, _grad_fn=3)), V(x, False, False, None),
        V(x, name="w").name, V(x, volatile=True).requires_grad, x.name,
        raises(lambda: setattr(x, "name", "y")),
    )


@each(sine=lambda T, x: np.sin(x), sum_=lambda T, x: np.add(x, 1), product=lambda T, x: x * np.ones(3),
      reflected=lambda T, x: np.ones(3) * x, scalar=lambda T, x: np.float64(2) * x,
      compared=lambda T, x: np.isnan(x), larger=lambda T, x: np.maximum(x, np.zeros(3)),
      matrix=lambda T, x: np.ones((2, 3)) @ x, stacked=lambda T, x: np.stack([x, x]),
      chosen=lambda T, x: np.where(x > 0, 1, 2), position=lambda T, x: np.argmax(x),
      indexed=lambda T, x: np.arange(5)[(x * 0).long()], tracked=lambda T, x: np.sin(x.requires_grad_()),
      joined=lambda T, x: np.concatenate([x, np.ones(1)]),
      gathered=lambda T, x: T.tensor([np.ones(2), np.ones(2)]))
def numpy_functions(T, call):
    x = rand(T, 3)

    def shown():
        with warnings.catch_warnings():  # NumPy deprecates how torch 2.13 takes its results back
            warnings.simplefilter("ignore", DeprecationWarning)
            result = call(T, x)
        kind = type(result).__name__
        return kind, result if kind == "Tensor" else (np.asarray(result).tolist(), str(result.dtype))

    return attempt(shown)


_BYTES = bytes(range(8))


@each(all=dict(dtype="int16"), some=dict(dtype="uint8", count=3, offset=2), bools=dict(dtype="bool"),
      part_of_it=dict(dtype="int32", count=1, offset=3), any_negative=dict(dtype="uint8", count=-2),
      tracked=dict(dtype="float32", requires_grad=True), none=dict(dtype="uint8", count=0),
      beyond=dict(dtype="uint8", offset=8), before=dict(dtype="uint8", offset=-1),
      ragged=dict(dtype="int32", offset=3), too_many=dict(dtype="int32", count=3),
      integers=dict(dtype="int32", requires_grad=True), half=dict(dtype="bfloat16"))
def frombuffer(T, options):
    options = {**options, "dtype": getattr(T, options["dtype"])}
    buffer = bytearray(_BYTES)
    return attempt(lambda: T.frombuffer(buffer, **options)), attempt(
        lambda: T.frombuffer(memoryview(buffer)[2:6], **options))


@case
def frombuffer_refused(T):
    return (
        raises(lambda: T.frombuffer(3, dtype=T.uint8)), raises(lambda: T.frombuffer([1], dtype=T.uint8)),
        raises(lambda: T.frombuffer(bytearray(), dtype=T.uint8)), raises(lambda: T.frombuffer(bytearray(2))),
        raises(lambda: T.frombuffer(bytearray(2), dtype=3)),
    )


@case
def asarray(T):
    x, w = rand(T, 2), leaf(T, 2)
    made = w * 2
    return (
        T.asarray([1, 2]), T.asarray([1.0, 2.5], dtype=T.int8), T.asarray(np.arange(3), dtype=T.float32),
        T.asarray(3), T.asarray(np.float32(2)), T.asarray(bytearray(_BYTES), dtype=T.int16),
        T.asarray(x) is x, T.asarray(x, copy=True) is x, T.asarray(made), T.asarray(made, copy=True),
        T.asarray(w, requires_grad=True) is w, T.asarray(w, requires_grad=False),
        T.asarray(made, dtype=T.float64),
        T.asarray([1.0], requires_grad=True), T.asarray(x.detach(), requires_grad=True),
        raises(lambda: T.asarray([1], copy=False)), raises(lambda: T.asarray([1], requires_grad=True)),
        raises(lambda: T.asarray(x, dtype=T.int8, copy=False)), raises(lambda: T.asarray(None)),
        T.asarray(x, device="cpu") is x,
    )
