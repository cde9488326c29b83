"""dtype, device, Size, layout, finfo and iinfo: attributes, text and errors against PyTorch."""

import copy
import pickle
import re

import pytest
import torch

from jaxflow._core import device as devices
from jaxflow._core import dtype as dtypes
from jaxflow._core import layout as layouts
from jaxflow._core import size, typeinfo


class Ours:
    """The value types under the names that the public module gives them."""

    device = devices.device
    Size = size.Size
    finfo, iinfo = typeinfo.finfo, typeinfo.iinfo
    layout, memory_format = layouts.layout, layouts.memory_format
    strided, channels_last = layouts.strided, layouts.channels_last
    channels_last_3d = layouts.channels_last_3d
    contiguous_format, preserve_format = layouts.contiguous_format, layouts.preserve_format
    dtype = dtypes.dtype
    get_default_dtype, set_default_dtype = dtypes.get_default_dtype, dtypes.set_default_dtype


for _name, _value in dtypes.ALL.items():
    setattr(Ours, _name, _value)


def answer(program, T):
    """The repr of what an expression in ``T`` gives, or its error's class and first line."""
    scope = dict(T=T, copy=copy, pickle=pickle, loop=lambda v: pickle.loads(pickle.dumps(v)))
    try:
        return repr(eval(program, scope))
    except Exception as error:
        # The interpreter names a class made in C with its module, and one made in Python without.
        text = re.sub(r"""(["'])torch\.""", r"\1", str(error).partition("\n")[0])
        return f"{type(error).__name__}: {text}"
    finally:
        T.set_default_dtype(T.float32)


NAMES = sorted(dtypes.ALL)
OF_EACH_DTYPE = """
T.{0}
T.{0}.itemsize
T.{0}.is_floating_point
T.{0}.is_complex
T.{0}.is_signed
T.{0}.to_real()
loop(T.{0}) is T.{0}
copy.deepcopy(T.{0}) is T.{0}
T.{0} == T.float32
T.set_default_dtype(T.{0}) or T.get_default_dtype()
T.finfo(T.{0})
T.iinfo(T.{0})
""".split("\n")[1:-1]
LIMITS = [
    f"T.{kind}(T.{{0}}).{attribute}"
    for kind in ("finfo", "iinfo")
    for attribute in "bits eps max min resolution smallest_normal tiny dtype".split()
]


@pytest.mark.parametrize("name", NAMES)
def test_dtype(name):
    for program in [*OF_EACH_DTYPE, *LIMITS]:
        program = program.format(name)
        assert answer(program, Ours) == answer(program, torch), program


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("float16", "half")])
def test_complex_counterpart(name):
    program = f"T.{name}.to_complex()"
    assert answer(program, Ours) == answer(program, torch)


DEVICE_ARGUMENTS = """
'cpu' | 'cpu:0' | 'cpu:1' | 'cuda' | 'cuda:0' | 'cuda:10'
'cuda:' | 'cuda:x' | 'cuda:-1' | 'cuda:01' | 'cuda:0:1' | '' | 'cpu:' | 'CPU' | 'gpu'
'meta' | 'meta:0' | 'xla' | 'xla:1' | 'mps' | 'privateuseone' | 0 | 1 | -1 | 1.5 | None | True
 | type='cuda', index=2 | device='cuda:1' | foo=1 | index=2
'cuda', index=2 | 'cpu', 0 | 'cuda', 1 | 'cuda', -1 | 'cuda:0', 1 | 'cuda', None | 'cuda', 'x'
T.device('cpu') | T.device('cuda'), 1 | 'cpu', 0, 1
"""
DEVICE_ARGUMENTS = [a.strip() for a in DEVICE_ARGUMENTS.strip().replace("\n", " | ").split("|")]


@pytest.mark.parametrize("arguments", DEVICE_ARGUMENTS)
def test_device_arguments(arguments):
    program = f"T.device({arguments})"
    assert answer(program, Ours) == answer(program, torch)


PROGRAMS = """
str(T.device('cuda', 1))
T.device('cuda').type, T.device('cuda').index, T.device('cuda:1').index
T.device('cuda:1') == T.device('cuda', 1), T.device('cuda') == T.device('cuda', 0)
T.device('cpu') == 'cpu'
hash(T.device('cuda:1')) == hash(T.device('cuda', 1))
loop(T.device('cuda:1'))
copy.deepcopy(T.device('cpu'))
T.device('cpu') < T.device('cpu')
setattr(T.device('cpu'), 'type', 'cuda')
f"{T.device('cuda:1')}"
isinstance(T.device('cpu'), T.device)
T.dtype()
setattr(T.float32, 'itemsize', 1)
type('mine', (T.dtype,), {})
T.set_default_dtype(1)
T.set_default_dtype('float32')
T.set_default_dtype(None)
T.get_default_dtype()
T.set_default_dtype(T.float64) or T.finfo()
T.Size([2, 3])
T.Size()
T.Size([])
T.Size(range(3))
T.Size(3)
T.Size((1, 2.5))
T.Size(['a'])
T.Size([None])
T.Size([True, 2])
T.Size([-1])
T.Size([2**70])
T.Size([1], [2])
T.Size([2, 3])[0]
T.Size([2, 3])[:1]
T.Size([2, 3])[-1]
T.Size([2, 3]) + T.Size([1])
T.Size([2, 3]) + (1,)
(1,) + T.Size([2, 3])
[1] + T.Size([2, 3])
T.Size([2, 3]) + [1]
T.Size([2, 3]) + 5
T.Size([2, 3]) * 2
2 * T.Size([2, 3])
T.Size([2, 3]).numel(), T.Size().numel(), T.Size([2, 0]).numel()
T.Size([2, 3]) == (2, 3), hash(T.Size([2, 3])) == hash((2, 3))
loop(T.Size([2, 3]))
[*T.Size([2, 3])]
T.Size([2, 3]).index(3), T.Size([2, 2]).count(2)
type('mine', (T.Size,), {})
T.strided, T.contiguous_format, T.preserve_format, T.channels_last, T.channels_last_3d
isinstance(T.strided, T.layout), isinstance(T.channels_last, T.memory_format)
copy.deepcopy(T.channels_last) is T.channels_last
T.layout()
T.memory_format()
T.finfo()
T.finfo(1)
T.finfo(None)
T.finfo(type=T.float64)
T.finfo(dtype=T.float64)
T.finfo(T.float32, T.float64)
T.finfo(T.float32) == T.finfo()
T.finfo(T.float32) == T.finfo(T.complex64)
T.finfo(T.float32) != T.finfo(T.float64)
T.finfo(T.float32) == T.iinfo(T.int8)
setattr(T.finfo(), 'max', 1)
T.iinfo()
T.iinfo('int8')
T.iinfo(type=T.int8)
T.iinfo(dtype=T.int8)
T.iinfo(T.int8, T.int8)
""".strip().split("\n")


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    assert answer(program, Ours) == answer(program, torch)
