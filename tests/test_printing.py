"""The text of tensors: examples printed by PyTorch, and the options that change them."""

import numpy as np
import pytest

import jaxflow as torch
from jaxflow._core import dtype as dtypes
from jaxflow._core.device import device
from jaxflow._core.printing import OPTIONS, set_printoptions, tensor_repr

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options():
    yield
    set_printoptions(profile="default")


def show(values, dtype=None, **notes):
    array = np.asarray(values)
    if dtype is None:
        dtype = {"f": "float32", "c": "complex64", "i": "int64", "b": "bool"}[array.dtype.kind]
    dtype = dtypes.ALL[dtype]
    return tensor_repr(array.astype(dtype.np), dtype, **notes)


@pytest.mark.parametrize(
    "values, text",
    [
        ([1.0, 2.0, 3.0], "tensor([1., 2., 3.])"),
        ([1.5, -2.25], "tensor([ 1.5000, -2.2500])"),
        (3.14159, "tensor(3.1416)"),
        (7, "tensor(7)"),
        ([True, False], "tensor([ True, False])"),
        ([[1, 20], [300, 4]], "tensor([[  1,  20],\n        [300,   4]])"),
        ([1e-5, 1.0], "tensor([1.0000e-05, 1.0000e+00])"),
        ([1e9, 1.0], "tensor([1.0000e+09, 1.0000e+00])"),
        ([NAN, INF, -1.5], "tensor([    nan,     inf, -1.5000])"),
        ([0.0, NAN], "tensor([0., nan])"),
        ([1 + 2j, -3.5 - 0.25j], "tensor([ 1.0000+2.0000j, -3.5000-0.2500j])"),
        ([complex(0, -0.0)], "tensor([0.-0.j])"),
        ([[[[0.5]]]], "tensor([[[[0.5000]]]])"),
        (np.zeros(0), "tensor([])"),
        (np.zeros((0, 3)), "tensor([], size=(0, 3))"),
        (np.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
        (
            np.arange(30),
            "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
            "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
        ),
        (
            np.arange(4000).reshape(2, 2, 1000) / 7,
            "tensor([[[0.0000e+00, 1.4286e-01, 2.8571e-01,  ..., 1.4243e+02,\n"
            "          1.4257e+02, 1.4271e+02],\n"
            "         [1.4286e+02, 1.4300e+02, 1.4314e+02,  ..., 2.8529e+02,\n"
            "          2.8543e+02, 2.8557e+02]],\n"
            "\n"
            "        [[2.8571e+02, 2.8586e+02, 2.8600e+02,  ..., 4.2814e+02,\n"
            "          4.2829e+02, 4.2843e+02],\n"
            "         [4.2857e+02, 4.2871e+02, 4.2886e+02,  ..., 5.7100e+02,\n"
            "          5.7114e+02, 5.7129e+02]]])",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_values(values, text):
    assert show(values) == text


def test_notes():
    assert show([1.5, 2], "bfloat16") == "tensor([1.5000, 2.0000], dtype=torch.bfloat16)"
    assert show([1, 2], "int32") == "tensor([1, 2], dtype=torch.int32)"
    assert show(np.zeros((0, 3)), "int64") == "tensor([], size=(0, 3), dtype=torch.int64)"
    assert show([1.0], requires_grad=True) == "tensor([1.], requires_grad=True)"
    text = show([1.0], requires_grad=True, grad_fn_name="MulBackward0")
    assert text == "tensor([1.], grad_fn=<MulBackward0>)"
    assert show([1.0], device=device("cuda:0")) == "tensor([1.], device='cuda:0')"
    text = tensor_repr(None, dtypes.int32, shape=(2,), device=device("meta"))
    assert text == "tensor(..., device='meta', size=(2,), dtype=torch.int32)"


def test_notes_go_to_a_new_line_when_the_line_is_full():
    set_printoptions(linewidth=40)
    text = show([1.25, 2, 3], "float64", requires_grad=True)
    assert text == (
        "tensor([1.2500, 2.0000, 3.0000],\n       dtype=torch.float64,\n       requires_grad=True)"
    )


def test_default_dtype_is_not_named():
    dtypes.set_default_dtype(dtypes.float64)
    try:
        assert show([1.0], "float64") == "tensor([1.])"
        assert show([1.0], "float32") == "tensor([1.], dtype=torch.float32)"
        assert show([1j], "complex128") == "tensor([0.+1.j])"
    finally:
        dtypes.set_default_dtype(dtypes.float32)


def test_precision_and_notation():
    set_printoptions(precision=2)
    assert show([1.2345, 2]) == "tensor([1.23, 2.00])"
    set_printoptions(sci_mode=True)
    assert show([1.2345, 2]) == "tensor([1.23e+00, 2.00e+00])"
    set_printoptions(sci_mode=False)
    assert show([1e-9, 2.0]) == "tensor([0.00, 2.00])"
    set_printoptions()
    assert OPTIONS.sci_mode is None and OPTIONS.precision == 2


def test_summaries():
    set_printoptions(threshold=5, edgeitems=1)
    assert show([1, 2, 3, 4, 5, 60]) == "tensor([ 1,  ..., 60])"
    set_printoptions(edgeitems=0)
    assert show(np.arange(6)) == "tensor([...], size=(6,))"
    set_printoptions(profile="full")
    assert "..." not in show(np.arange(2000))
    set_printoptions(profile="short")
    assert show(np.arange(2000) / 4) == "tensor([0.00e+00, 2.50e-01,  ..., 5.00e+02, 5.00e+02])"


def test_a_summary_touches_only_what_it_shows():
    class Huge:
        """Stands for an array that must not come to the host whole."""

        shape = (10**6, 10**6)

        def __getitem__(self, index):
            rows, columns = (part.ravel() for part in index)
            assert len(rows) == len(columns) == 6
            return np.add.outer(rows, columns)

    text = tensor_repr(Huge(), dtypes.int64)
    assert text.count("...") == 7 and "1999998]" in text


def test_a_view_that_lost_its_history_is_shown():
    whole = torch.ones(3, requires_grad=True) * 1
    first, _ = whole.split([1, 2])
    first.logical_not_()
    assert repr(first) == "tensor([0.], grad_fn=<Invalid>)"
