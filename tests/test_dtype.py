"""Value types: dtype, device, Size, layout, finfo and iinfo."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import jaxflow
from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core.device import device
from jaxflow._core.size import Size
from jaxflow._core.typeinfo import finfo, iinfo

TYPES = sorted(set(dtypes.ALL.values()), key=repr)


@pytest.fixture
def default_dtype():
    yield
    dtypes.set_default_dtype(dtypes.float32)


@pytest.mark.parametrize("dtype", TYPES, ids=repr)
def test_dtype_is_a_singleton(dtype):
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.copy(dtype) is dtype and copy.deepcopy(dtype) is dtype
    assert dtypes.ALL[dtype.name] is dtype
    assert dtypes.from_numpy_dtype(dtype.np) is dtype
    assert repr(dtype) == "torch." + dtype.name
    assert dtype.itemsize == dtype.np.itemsize
    kinds = (dtype.is_floating_point, dtype.is_complex, dtype.category < dtypes.FLOATING)
    assert sum(kinds) == 1


def test_dtype_aliases():
    aliases = "half:float16 float:float32 double:float64 short:int16 int:int32 long:int64"
    aliases += " cfloat:complex64 cdouble:complex128"
    for alias, name in (pair.split(":") for pair in aliases.split()):
        assert dtypes.ALL[alias] is dtypes.ALL[name]


def test_dtype_cannot_be_made_changed_or_derived():
    with pytest.raises(TypeError, match="cannot create 'torch.dtype' instances"):
        dtypes.dtype()
    with pytest.raises(AttributeError, match="not writable"):
        dtypes.float32.itemsize = 2
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("mine", (dtypes.dtype,), {})


def test_real_and_complex_counterparts():
    assert dtypes.float32.to_complex() is dtypes.complex64
    assert dtypes.complex128.to_complex() is dtypes.complex128
    assert dtypes.complex64.to_real() is dtypes.float32
    assert dtypes.int8.to_real() is dtypes.int8
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for Long"):
        dtypes.int64.to_complex()
    with pytest.raises(RuntimeError, match="torch.complex32"):
        dtypes.float16.to_complex()


def test_numpy_types_without_a_dtype():
    with pytest.raises(TypeError, match=r"^can't convert np.ndarray of type numpy.str_\."):
        dtypes.from_numpy_dtype(np.dtype("U3"))
    assert dtypes.from_numpy_dtype(">i4") is dtypes.int32


def test_default_dtype(default_dtype):
    dtypes.set_default_dtype(dtypes.float64)
    assert dtypes.get_default_dtype() is dtypes.float64
    assert dtypes.default_complex_dtype() is dtypes.complex128
    for bad in (dtypes.int32, dtypes.complex64):
        with pytest.raises(TypeError, match="^only floating-point types are supported"):
            dtypes.set_default_dtype(bad)
    with pytest.raises(TypeError, match="^invalid dtype object: only floating-point"):
        dtypes.set_default_dtype("float32")
    assert dtypes.get_default_dtype() is dtypes.float64


@pytest.mark.parametrize(
    "args, text",
    [
        (("cpu",), "device(type='cpu')"),
        (("cpu:0",), "device(type='cpu', index=0)"),
        (("cuda", 1), "device(type='cuda', index=1)"),
        (("cuda", None), "device(type='cuda')"),
        (("tpu:3",), "device(type='tpu', index=3)"),
        ((device("xla:2"),), "device(type='xla', index=2)"),
    ],
)
def test_device_spellings(args, text):
    made = device(*args)
    assert repr(made) == text
    # There is one object a device, so that comparing devices costs nothing.
    assert device(str(made)) is pickle.loads(pickle.dumps(made)) is copy.deepcopy(made) is made
    assert made != str(made)


@pytest.mark.parametrize("text", ["cuda:", "cuda:x", "cuda:-1", "cuda:01", "cuda:0:1"])
def test_device_strings_refused(text):
    with pytest.raises(RuntimeError, match=f"^Invalid device string: '{text}'$"):
        device(text)


def test_device_arguments_refused():
    with pytest.raises(RuntimeError, match="Device string must not be empty"):
        device("")
    with pytest.raises(RuntimeError, match="device type at start of device string: gpu$"):
        device("gpu")
    with pytest.raises(RuntimeError, match="must not include an index"):
        device("cuda:0", 1)
    with pytest.raises(RuntimeError, match="Device index must not be negative"):
        device("cuda", -1)
    for bad in ((1.5,), (True,), (None,), ()):
        with pytest.raises(TypeError, match=r"^device\(\) received an invalid combination"):
            device(*bad)


def test_resolve_names_what_jax_has():
    found, place = devices.resolve("cpu:1")
    assert (found, place.platform) == (device("cpu"), "cpu")
    assert devices.from_jax(place) == device("cpu")
    assert devices.resolve("meta") == (device("meta"), None)
    found, place = devices.resolve("xla")
    assert found == device("xla", 0) and place is not None
    with pytest.raises(NotImplementedError, match="'mps'"):
        devices.resolve("mps")


def test_absent_accelerators_are_refused_by_name(monkeypatch):
    monkeypatch.setattr(devices, "_jax_devices", lambda platform: ())
    monkeypatch.setattr(devices, "accelerator", lambda: None)
    with pytest.raises(AssertionError, match="^Torch not compiled with CUDA enabled$"):
        devices.resolve("cuda")
    with pytest.raises(RuntimeError, match="no tpu device"):
        devices.resolve("tpu:0")
    with pytest.raises(RuntimeError, match="Cannot access accelerator device"):
        device(0)


def test_default_device_is_scoped():
    assert devices.get_default_device() == device("cpu")
    with device("meta") as where:
        assert where == devices.get_default_device() == device("meta")
        assert devices.resolve(None) == (device("meta"), None)
    assert devices.get_default_device() == device("cpu")


def test_import_starts_no_backend():
    code = (
        "import jax; from jaxflow._core import dtype, device, promotion, printing, typeinfo\n"
        "from jax._src import xla_bridge\n"
        "assert not xla_bridge._backends, xla_bridge._backends"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)


def test_size_stays_a_size():
    size = Size([2, 3, 4])
    for made in (size[1:], size + (1,), (1,) + size, size * 2, 2 * size, Size()):
        assert type(made) is Size
    assert (type(size[0]), size[0], size.numel(), Size().numel()) == (int, 2, 24, 1)
    assert repr(size) == "torch.Size([2, 3, 4])" and size == (2, 3, 4)
    assert hash(size) == hash((2, 3, 4)) and pickle.loads(pickle.dumps(size)) == size
    assert [type(n) for n in Size([True, np.int32(3)])] == [int, int]


def test_size_refuses_what_is_no_length():
    with pytest.raises(TypeError, match=r"takes an iterable of 'int' \(item 1 is 'float'\)"):
        Size([1, 2.5])
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        Size([2**70])
    with pytest.raises(TypeError, match=r"can only concatenate tuple \(not list\) to torch.Size"):
        Size([1]) + [2]


def test_layouts():
    for name in "strided contiguous_format preserve_format channels_last channels_last_3d".split():
        value = getattr(layouts, name)
        assert repr(value) == f"torch.{name}"
        assert pickle.loads(pickle.dumps(value)) is value and copy.deepcopy(value) is value
    assert type(layouts.strided) is layouts.layout
    with pytest.raises(TypeError, match="cannot create 'torch.memory_format' instances"):
        layouts.memory_format()


def test_finfo(default_dtype):
    info = finfo(dtypes.float32)
    assert (info.bits, info.dtype, info.eps) == (32, "float32", 2.0**-23)
    assert info.max == -info.min == float(np.finfo(np.float32).max)
    assert info.tiny == info.smallest_normal == 2.0**-126
    assert info == finfo() == finfo(type=dtypes.complex64) != finfo(dtypes.float64)
    assert repr(finfo(dtypes.bfloat16)) == (
        "finfo(resolution=0.01, min=-3.38953e+38, max=3.38953e+38, eps=0.0078125, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=bfloat16)"
    )
    dtypes.set_default_dtype(dtypes.float64)
    assert finfo().bits == 64
    with pytest.raises(TypeError, match="Use torch.iinfo to handle 'torch.finfo'"):
        finfo(dtypes.int8)


def test_iinfo():
    info = iinfo(dtypes.int64)
    assert (info.min, info.max, info.bits, info.dtype) == (-(2**63), 2**63 - 1, 64, "int64")
    assert repr(iinfo(dtypes.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"
    with pytest.raises(TypeError, match="torch.bool is not supported by torch.iinfo"):
        iinfo(dtypes.bool)
    with pytest.raises(TypeError, match="Use torch.finfo to handle 'torch.iinfo'"):
        iinfo(dtypes.float16)
    with pytest.raises(TypeError, match='missing 1 required positional arguments: "type"'):
        iinfo()


@pytest.mark.parametrize("mode", ["deferred", "eager"])
def test_a_number_is_written_with_all_its_digits(mode):
    """It once went through the default dtype: 0.1 of a float64 tensor was that of float32."""
    with jaxflow.execution(mode):
        x = jaxflow.zeros(5, dtype=jaxflow.float64)
        x[0] = 0.1
        x[1:2] = 0.1
        x[2:3].fill_(0.1)
        x[jaxflow.arange(5) == 3] = 0.1
        x[[4]] = 0.1
        assert x.tolist() == [0.1] * 5
        whole = jaxflow.zeros(2, dtype=jaxflow.int64)
        whole[0] = 2**53 + 1
        assert whole.fill_(2.0**24 + 1).tolist() == [2**24 + 1] * 2


_GIVEN = {
    "tensor": lambda x, d: jaxflow.tensor([1, 0], dtype=d),
    "as_tensor": lambda x, d: jaxflow.as_tensor(x, dtype=d),
    "asarray": lambda x, d: jaxflow.asarray([1, 0], dtype=d), "to": lambda x, d: x.to(d),
    "to_by_name": lambda x, d: x.to(dtype=d), "to_device": lambda x, d: x.to("cpu", d),
    "zeros": lambda x, d: jaxflow.zeros(2, dtype=d),
    "full_like": lambda x, d: jaxflow.full_like(x, 1, dtype=d),
    "new_ones": lambda x, d: x.new_ones(2, dtype=d), "sum": lambda x, d: x.sum(dtype=d),
    "view": lambda x, d: x.double()[:1].repeat(2).view(d),
    "view_by_name": lambda x, d: x.double().repeat(2).view(dtype=d),
    "frombuffer": lambda x, d: jaxflow.frombuffer(bytearray(16), dtype=d),
    "promote_types": lambda x, d: jaxflow.empty(0, dtype=jaxflow.promote_types(d, jaxflow.bool)),
}


@pytest.mark.parametrize("call", _GIVEN.values(), ids=_GIVEN)
def test_number_types_of_python_are_dtypes(call):
    x = jaxflow.tensor([1.0, 0.0])
    for given, dtype in ((bool, jaxflow.bool), (int, jaxflow.int64), (float, jaxflow.float64),
                         (complex, jaxflow.complex128)):
        assert call(x, given).dtype is dtype
        assert repr(call(x, given)) == repr(call(x, dtype))


def test_other_places_of_dtypes_take_number_types_of_python():
    x = jaxflow.tensor([1.0, 0.0])
    assert x.mean(dtype=float).dtype is x.softmax(0, dtype=float).dtype is jaxflow.float64
    assert jaxflow.linalg.vector_norm(x, dtype=float).dtype is jaxflow.float64
    assert jaxflow.nn.Linear(2, 2).to(float).weight.dtype is jaxflow.float64
    assert jaxflow.finfo(float).bits == jaxflow.iinfo(int).bits == 64
    assert jaxflow.can_cast(int, float) and not jaxflow.can_cast(float, int)
    with pytest.raises(ValueError, match="invalid type: 'int'"):
        x.type(int)
