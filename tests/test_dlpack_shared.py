"""DLPack on the CPU: both sides are one memory; see NOTE [Memory that others may write to]."""

import ctypes
import gc
import typing

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import jaxflow as torch
from jaxflow._api.creation.capsules import _Tensor, _Versioned
from jaxflow._core.shared import HostValue

LARGE = 300, 300  # more than is copied without thinking
NEW = {"max_version": (1, 0)}


def is_shared(t):
    return t._storage.value.__class__ is HostValue


class Other:
    """An object of another library, with elements that NumPy has; it counts what is freed.

    ``options`` are those that its ``__dlpack__`` knows. All of them are kept: whoever takes a capsule calls
    the deleter in the end.
    """

    kept: typing.ClassVar = []

    Managed = type("Managed", (ctypes.Structure,), {"_fields_": [
        ("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]})
    Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

    def __init__(self, array, code=2, options=(), **fields):
        self.array, self.freed, self.asked = array, 0, []
        self.options = options
        self.deleter = self.Deleter(self.free)
        counts = ctypes.c_int64 * max(array.ndim, 1)
        self.shape = counts(*array.shape)
        self.strides = counts(*(s // array.itemsize for s in array.strides))
        tensor = {
            "data": array.ctypes.data, "device": (1, 0), "ndim": array.ndim, "code": code,
            "bits": 8 * array.itemsize, "lanes": 1, "shape": ctypes.addressof(self.shape),
            "strides": ctypes.addressof(self.strides)}
        deleter = ctypes.cast(self.deleter, ctypes.c_void_p)
        version = {name: fields.pop(name) for name in ("major", "flags") if name in fields}
        inner = _Tensor(**{**tensor, **fields})
        self.new = bool(version)
        self.managed = _Versioned(tensor=inner, deleter=deleter, **version) if version else self.Managed(
            tensor=inner, deleter=deleter)
        self.kept.append(self)

    def free(self, _address):
        self.freed += 1

    def capsule(self):
        make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
            ("PyCapsule_New", ctypes.pythonapi))
        return make(ctypes.addressof(self.managed), b"dltensor_versioned" if self.new else b"dltensor", None)

    def __dlpack__(self, **options):
        self.asked.append(options)
        if set(options) - set(self.options):
            raise TypeError("an option that is not known")
        return self.capsule()

    def __dlpack_device__(self):
        return 1, 0


# ----- in -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 6), LARGE])
def test_what_comes_in_is_one_memory_with_the_tensor(shape, executor):
    a, b = np.ones(shape), np.ones(shape)
    for array, t in ((a, torch.from_dlpack(a)), (b, torch.from_dlpack(Other(b)))):
        total = t.sum()
        array[0] = 3
        assert total.item() == a.size and t.sum().item() == array.sum() and t[0, 1].item() == 3
        t.mul_(2)
        assert array[0, 0] == 6 and array[1, 0] == 2 and t._version == 1
        t[1:, ::2] = 5
        assert (array[1:, ::2] == 5).all() and (array[1:, 1::2] == 2).all()
        assert t.data_ptr() == array.ctypes.data


def test_what_has_no_elements_and_tells_no_strides_is_contiguous(executor):
    for shape, strides in (((0, 3), (3, 1)), ((2, 0, 3), (3, 3, 1)), ((0,), (1,))):
        assert torch.from_dlpack(Other(np.ones(shape), strides=None).capsule()).stride() == strides
        assert torch.from_dlpack(Other(np.ones(shape), strides=None)).stride() == strides


def test_strides_and_dimensions_that_come_in(executor):
    a = np.arange(24.0).reshape(4, 6)
    for part in (a.T, a[::2, 1:], a[1], a[:0], np.broadcast_to(a, (2, 4, 6)), a[None, :, :1], a[1:2, 2]):
        for source in (part, Other(part)):
            t = torch.from_dlpack(source)
            assert t.tolist() == part.tolist() and t.shape == part.shape
            assert t.stride() == tuple(s // 8 for s in part.strides)
            assert not part.size or t.data_ptr() == part.ctypes.data
    t = torch.from_dlpack(a[::2, 1:].T)
    a[2, 1] = 50
    assert t[0, 1].item() == 50
    t.zero_()
    assert a[0].tolist() == [0, 0, 0, 0, 0, 0] and a[1].tolist() == [6, 7, 8, 9, 10, 11]
    number = np.array(3)
    t = torch.from_dlpack(number)
    t += 1
    assert number == 4 and t.shape == ()


@pytest.mark.parametrize(("dtype", "code"), [
    ("bfloat16", 4), ("float8_e4m3fn", 10), ("float8_e5m2", 12), ("float16", 2), ("complex64", 5),
    ("int8", 0), ("uint16", 1), ("bool", 6)])
def test_elements_that_come_in(dtype, code, executor):
    a = np.arange(6).reshape(2, 3).astype(getattr(ml_dtypes, dtype, dtype))
    t = torch.from_dlpack(Other(a[:, ::2], code))
    assert t.dtype is getattr(torch, dtype) and t.tolist() == a[:, ::2].tolist()
    a[0, 0] = 1
    t[1, 1] = 0
    assert t[0, 0].item() == 1 and a[1, 2] == 0


def test_memory_that_came_in_is_given_back_when_the_last_tensor_of_it_is_gone(executor):
    for shape, fields in ((4, {}), (4, {"major": 1}), (LARGE, {})):
        for bare in (False, True):
            other = Other(np.ones(shape), **fields)
            t = torch.from_dlpack(other.capsule() if bare else other)
            gc.collect()
            assert (t + 1).sum().item() == 2 * t.numel() and is_shared(t)  # nobody can watch the other side
            row = t[1:]
            loss = (row * row.clone().requires_grad_()).sum()
            del t
            gc.collect()
            assert not other.freed
            other.array[1] = 1
            assert loss.item() == row.numel()
            del row, loss
            gc.collect()
            assert other.freed == 1


def test_an_array_that_nobody_else_has_is_let_go_of():
    a = np.arange(4.0)
    t = torch.from_dlpack(a)
    assert (t + 1).sum().item() == 10 and is_shared(t)
    del a
    assert (t + 1).sum().item() == 10 and not is_shared(t)


def test_capsules_are_used_once(executor):
    for capsule in (Other(np.ones(2)).capsule(), Other(np.ones(2), major=1).capsule(),
                    np.ones(2).__dlpack__(), torch.ones(2).__dlpack__(**NEW)):
        assert torch.utils.dlpack.from_dlpack(capsule).tolist() == [1, 1]
        with pytest.raises(RuntimeError, match="consumed only once"):
            torch.from_dlpack(capsule)
    for nothing in (3, None, np.float32(2), []):
        with pytest.raises(RuntimeError, match="invalid capsule"):
            torch.from_dlpack(nothing)
    with pytest.raises(AssertionError, match="not supported when ext_tensor is already a DLPack capsule"):
        torch.from_dlpack(np.ones(2).__dlpack__(), device="cpu")


def test_what_is_asked_of_the_other_library():
    for known in ((), ("max_version",), ("max_version", "copy", "dl_device"), ("copy", "dl_device")):
        a = np.zeros(3)
        other = Other(a, options=known)
        t = torch.from_dlpack(other, copy=False, device="cpu")
        t += 1
        assert a.tolist() == [1, 1, 1] and set(other.asked[-1]) <= set(known)
        assert other.asked[0] == {"max_version": (1, 0), "copy": False, "dl_device": (1, 0)}


def test_copies_that_come_in():
    a = np.arange(6.0).reshape(2, 3).T
    other = Other(a)
    for source in (a, other):
        t = torch.from_dlpack(source, copy=True)
        assert t.stride() == (1, 3) and not is_shared(t)
        t.zero_()
    gc.collect()
    assert a.sum() == 15 and other.freed == 1


def test_read_only_memory_is_written_to_as_in_pytorch(recwarn):
    a = np.zeros(3)
    a.flags.writeable = False
    b = np.zeros(3)
    for array, source in ((a, a), (b, Other(b, major=1, flags=1))):
        torch.from_dlpack(source).add_(1)
        assert array.tolist() == [1, 1, 1]
    assert not [w for w in recwarn if "writable" in str(w.message)]


def test_what_cannot_come_in():
    a = np.arange(4.0)
    for array, words in ((np.array(["x"]), "only supports"), (np.zeros(2, ">f4"), "native byte order"),
                         (np.zeros(2, np.longdouble), "IEEE"), (np.zeros(2, "M8[s]"), "only supports")):
        with pytest.raises(BufferError, match=words):
            torch.from_dlpack(array)
    for fields, words in (
        ({"bits": 80}, "Unsupported kFloat bits 80"), ({"code": 0, "bits": 4}, "Unsupported kInt bits 4"),
        ({"code": 3}, "Unsupported code 3"), ({"code": 6, "bits": 16}, "Unsupported kDLBool bits 16"),
        ({"code": 4}, "Unsupported kFloat bits 64"), ({"lanes": 2}, "lanes != 1 for dtype code2"),
        ({"code": 10}, "Unsupported kDLFloat8_e4m3fn bits 64"), ({"code": 5, "bits": 32}, "kFloat bits 32"),
    ):
        with pytest.raises(BufferError, match=words):
            torch.from_dlpack(Other(a, **fields))
    with pytest.raises(RuntimeError, match="capsule major version: 2. Maximum supported version: 1"):
        torch.from_dlpack(Other(a, major=2))
    for source in (a[::-1], Other(a[::-1])):
        with pytest.raises(ValueError, match="negative strides"):
            torch.from_dlpack(source)
        assert torch.from_dlpack(source, copy=True).tolist() == [3, 2, 1, 0]
    with pytest.raises(AssertionError, match="unsupported device type: <class 'int'>"):
        torch.from_dlpack(a, device=3)
    for source in (a, torch.ones(2), jnp.ones(2)):
        with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
            torch.from_dlpack(source, device="meta")


def test_the_memory_of_jax_arrays_is_never_written_to(executor):
    array = jnp.arange(6.0)
    views = np.asarray(array)
    for source in (array, array.__dlpack__(), views, views[2:], views.__dlpack__(**NEW)):
        t = torch.from_dlpack(source)
        t.add_(1)
        assert array.tolist() == [0, 1, 2, 3, 4, 5] and t[0].item() in (1, 3)
    with pytest.raises(BufferError, match="memory of a jax array"):
        torch.from_dlpack(views, copy=False)


# ----- out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4, 6), LARGE])
def test_what_goes_out_is_one_memory_with_the_tensor(shape, executor):
    t = torch.ones(shape) + 1
    row = t[1]
    a = np.from_dlpack(t)
    a[...] = 4
    assert a.flags.writeable and row.sum().item() == 4 * shape[1] and t.mean().item() == 4
    t += 1
    row.mul_(2)
    assert a[0, 0] == 5 and a[1, 0] == 10
    part = np.from_dlpack(t[2:, 1:].T)
    part[0, 0] = 7
    assert a[2, 1] == 7 and t[2, 1].item() == 7
    del a, part
    assert not is_shared(t) and t[2, 1].item() == 7


@pytest.mark.parametrize("options", [{}, NEW])
def test_capsules_say_how_a_view_lies(options, executor):
    t = torch.arange(24.0).reshape(4, 6)
    for part in (t.T, t[::2, 1:], t[1, 2], t[:0], t[:0].T, t.expand(2, 4, 6), t[None, :, :1], t[:, None],
                 t.bfloat16()):
        back = torch.from_dlpack(part.__dlpack__(**options))
        assert back.tolist() == part.tolist() and back.dtype is part.dtype
        assert back.shape == part.shape and back.stride() == part.stride()
        if part.numel() and part.dtype is t.dtype:
            assert back.data_ptr() == part.data_ptr()
            back[(0,) * back.dim()] = 50
            assert back.tolist() == part.tolist()


@pytest.mark.parametrize(("dtype", "code", "bits"), [
    ("bfloat16", 4, 16), ("float8_e4m3fn", 10, 8), ("float8_e4m3fnuz", 11, 8), ("float8_e5m2", 12, 8),
    ("float8_e5m2fnuz", 13, 8), ("float8_e8m0fnu", 14, 8), ("bool", 6, 8), ("int64", 0, 64),
    ("uint32", 1, 32), ("float16", 2, 16), ("complex128", 5, 128)])
def test_elements_that_go_out(dtype, code, bits, executor):
    t = torch.arange(1, 5).to(torch.float32).to(getattr(torch, dtype))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
        ("PyCapsule_GetPointer", ctypes.pythonapi))
    old, new = t.__dlpack__(), t[1:].__dlpack__(**NEW)
    tensor = _Tensor.from_address(pointer_of(old, b"dltensor"))
    managed = _Versioned.from_address(pointer_of(new, b"dltensor_versioned"))
    assert managed.major == 1 and managed.flags == 0
    for x in (tensor, managed.tensor):
        assert (x.code, x.bits, x.lanes, tuple(x.device), x.byte_offset) == (code, bits, 1, (1, 0), 0)
    assert tensor.data == t.data_ptr() == managed.tensor.data - t.itemsize
    if dtype == "bfloat16":
        assert jax.dlpack.from_dlpack(t).dtype == jnp.bfloat16


def test_a_storage_is_an_ordinary_one_once_its_consumer_is_gone(executor):
    t = torch.ones(LARGE)
    never = t.__dlpack__()
    assert is_shared(t)
    del never
    gc.collect()
    assert not is_shared(t)
    capsules = [t.__dlpack__(), t[0].__dlpack__(**NEW), torch.utils.dlpack.to_dlpack(t.T)]
    kept = torch.from_dlpack(capsules.pop())
    del capsules
    gc.collect()
    assert is_shared(t)
    kept[0] = 5
    assert t[:, 0].sum().item() == 1500
    del kept
    gc.collect()
    assert not is_shared(t) and t.sum().item() == 300 * 299 + 1500


def test_what_went_out_outlives_the_tensor(executor):
    for shape in ((3,), LARGE):
        t = torch.ones(shape)
        a, capsule = np.from_dlpack(t), t.__dlpack__()
        del t
        gc.collect()
        a[...] = 2
        assert torch.from_dlpack(capsule).sum().item() == a.sum()


def test_copies_that_go_out(executor):
    t = torch.arange(6.0).reshape(2, 3).T
    for capsule in (t.__dlpack__(copy=True), torch.utils.dlpack.to_dlpack(t, copy=True)):
        copy = torch.from_dlpack(capsule)
        assert not is_shared(t) and copy.stride() == (1, 3)
        copy.zero_()
    np.from_dlpack(t, copy=True)[...] = 0
    assert t.sum().item() == 15
    np.from_dlpack(t, copy=False)[...] = 1
    assert t.sum().item() == 6


def test_a_backward_sees_what_the_other_side_wrote(executor):
    x = torch.ones(3)
    w = torch.ones(3, requires_grad=True)
    a = np.from_dlpack(x)
    loss = (x * w).sum()
    a[0] = 10
    loss.backward()
    assert w.grad.tolist() == [10, 1, 1]


def test_what_cannot_go_out(executor):
    x, w = torch.ones(2), torch.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match="require gradient"):
        w.__dlpack__()
    np.from_dlpack(w.detach())[0] = 3
    assert torch.from_dlpack(torch.utils.dlpack.to_dlpack(w)).tolist() == w.tolist() == [3, 1]
    z = (x * (1 + 2j)).conj()
    for export in (z.__dlpack__, lambda: torch.utils.dlpack.to_dlpack(z), lambda: torch.from_dlpack(z)):
        with pytest.raises(BufferError, match="conjugate bit set"):
            export()
    with pytest.raises(BufferError, match="negative bit set"):
        z.imag.__dlpack__()
    with pytest.raises(ValueError, match="without copying"):
        x.__dlpack__(dl_device=(2, 0), copy=False)
    with pytest.raises(BufferError, match="Unsupported device_type: 99"):
        x.__dlpack__(dl_device=(99, 0))
    for target, found in ((3, "int"), (("a", 0), "tuple"), ([1], "list")):
        with pytest.raises(TypeError, match=f"'dl_device' must be tuple of ints, not {found}"):
            x.__dlpack__(dl_device=target)
    with pytest.raises(TypeError, match=r"'data' \(position 1\) must be Tensor, not int"):
        torch.utils.dlpack.to_dlpack(3)
    with pytest.raises(TypeError, match="'copy' must be bool, not int"):
        x.__dlpack__(copy=3)
    with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
        torch.empty(2, device="meta").__dlpack__()
    assert not is_shared(x)
