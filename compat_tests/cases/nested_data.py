"""``tensor`` and its like of nested sequences, numbers and tensors: dtypes, and what is refused."""

import numpy as np

from compat_tests.harness import attempt, case, each, leaf, raises, warns


@each(
    int16=lambda T: [np.int16(1)],
    float16_and_int=lambda T: [np.float16(1.5), 2],
    nested=lambda T: [[np.int8(1)], [np.int8(2)]],
    float64=lambda T: [np.float64(1), 2.0],
    uint16=lambda T: [np.uint16(5)],
    bool_and_int8=lambda T: [True, np.int8(4)],
    complex64_and_float=lambda T: [np.complex64(1j), 1.5],
    complex_and_float64=lambda T: [1j, np.float64(2)],
    arrays=lambda T: [np.array([1.5]), np.array([2.5])],
    array_and_list=lambda T: [np.array([1, 2]), [3.5, 4]],
    empty_arrays=lambda T: [np.array([]), np.array([])],
    empty_lists=lambda T: [[], []],
    tensors=lambda T: [T.tensor(1.0), 2],
    tensor_of_int16=lambda T: [T.tensor(1, dtype=T.int16)],
    bfloat16_and_float16=lambda T: [T.tensor(1, dtype=T.bfloat16), np.float16(1)],
    one_element_tensors=lambda T: [T.tensor([[1]]), T.tensor([2])],
    tensor_as_second_row=lambda T: [[1, 2], T.tensor([1, 2])],
    needs_grad=lambda T: [T.tensor(1.0, requires_grad=True)],
    ranges=lambda T: [range(3), range(3)],
)
def dtype_of_elements(T, make):
    return T.tensor(make(T)), T.as_tensor(make(T))


@each(
    tensors=lambda T: T.tensor([T.ones(2), T.ones(2)]),
    integer_tensors=lambda T: T.tensor([T.tensor([1, 2]), T.tensor([3, 4])]),
    float_tensor_as_int=lambda T: T.tensor([T.tensor(1.5)], dtype=T.int64),
    float32_as_int=lambda T: T.tensor([np.float32(1.5)], dtype=T.int64),
    dates=lambda T: T.tensor([np.datetime64("2020")]),
    array_of_text=lambda T: T.tensor([np.array(["a"])]),
    text=lambda T: T.tensor(["a"]),
    text_second=lambda T: T.tensor([1, "a"]),
    text_as_float=lambda T: T.tensor([1, "a"], dtype=T.float32),
    none_as_float=lambda T: T.tensor([1, None], dtype=T.float32),
    deeper_second=lambda T: T.tensor([1, [2]]),
    deeper_second_float=lambda T: T.tensor([1.0, [2.0]]),
    flatter_second=lambda T: T.tensor([[1], 2]),
    ragged=lambda T: T.tensor([[1, 2], [3]]),
    complex_as_float=lambda T: T.tensor([1.5 + 1j], dtype=T.float32),
    complex_as_int=lambda T: T.tensor(1.5 + 1j, dtype=T.int32),
    too_large=lambda T: T.tensor([np.int64(300)], dtype=T.uint8),
    dictionary=lambda T: T.tensor([{1: 2}]),
)
def refused(T, call):
    return raises(lambda: call(T))


@case
def complex_as_bool(T):
    return T.tensor([1, 0.0, 2j], dtype=T.bool)


@each(none=(0,), two=(2,))
def number_of_a_tensor_of_another_size(T, shape):
    t = T.ones(shape)
    return raises(lambda: float(t)), raises(lambda: int(t)), raises(lambda: complex(t)), raises(t.item)


@case
def other_constructors(T):
    return (
        T.ones(2).new_tensor([np.int16(1)]), T.Tensor([np.array([1, 2]), np.array([3, 4])]),
        T.LongTensor([np.int16(1), 2]), attempt(lambda: T.Tensor([T.ones(2), T.ones(2)])),
    )


@each(plain=lambda T: leaf(T, 2, 3), transposed=lambda T: leaf(T, 2, 3).t(),
      result=lambda T: leaf(T, 2) * 1, expanded=lambda T: leaf(T, 3).expand(2, 3),
      number=lambda T: T.tensor(3), complex=lambda T: T.tensor([1j]),
      mask=lambda T: T.ones(2, dtype=T.bool))
def a_tensor_as_data(T, make):
    # it is copied, and PyTorch warns that clone() says so better
    source = make(T)
    results = []
    for options in ({}, dict(dtype=T.float64), dict(requires_grad=True), dict(dtype=T.int32)):
        results.append(attempt(lambda options=options: T.tensor(source, **options)))
        results.append(attempt(lambda options=options: source.new_tensor(source, **options)))
    copy = T.tensor(source)
    copy.zero_()
    return results, source


_NUMBERS = dict(true=True, one=1, half=1.5, complex=1j, big=300, text="a", none=None)


@each(**{f"{name}_{dtype}": (number, dtype) for name, number in _NUMBERS.items()
         for dtype in ("bool", "uint8", "int64", "float32", "complex64")})
def copy_of_a_number(T, row):
    number, dtype = row
    x, y = T.zeros(2, dtype=getattr(T, dtype)), T.zeros((), dtype=getattr(T, dtype))
    return attempt(lambda: x.copy_(number)), x._version, attempt(lambda: y.copy_(number))


@each(copy=lambda x, c: x.copy_(c), item=lambda x, c: x.__setitem__(0, c[0]),
      fill=lambda x, c: x.fill_(c[0]), slice=lambda x, c: x.__setitem__(slice(None), c),
      cast=lambda x, c: c.to(x.dtype))
def the_imaginary_part_is_dropped_with_a_warning(T, write):
    numbers = T.tensor([1 + 2j, 3 - 1j])
    return [
        warns(lambda d=dtype: write(T.zeros(2, dtype=d), numbers)) for dtype in (T.float32, T.bool)
    ]


@each(complex=1 + 1j, real=1 + 0j, nan=float("nan"), inf=float("inf"), half=2.5, true=True)
def python_numbers_of(T, value):
    t = T.tensor(value)
    return [attempt(lambda kind=kind: kind(t)) for kind in (int, float, bool, complex)]


@each(number=(), vector=(3,), matrix=(2, 3))
def reversed_elements(T, shape):
    x = leaf(T, *shape)
    y = reversed(x)
    return type(y).__name__, y, y is x


@each(empty=lambda T, n: T.empty(2, n), zeros=lambda T, n: T.zeros(2, n), ones=lambda T, n: T.ones(n, -7),
      full=lambda T, n: T.full((n,), 1), rand=lambda T, n: T.rand(3, n), randn=lambda T, n: T.randn(n),
      strided=lambda T, n: T.empty_strided((2, n), (1, 1)), randint=lambda T, n: T.randint(3, (n,)),
      randperm=lambda T, n: T.randperm(n), eye=lambda T, n: T.eye(n), layer=lambda T, n: T.nn.Linear(2, n),
      new_zeros=lambda T, n: T.ones(1).new_zeros(n), new_empty=lambda T, n: T.ones(1).new_empty(n),
      new_ones=lambda T, n: T.ones(1).new_ones(n), new_full=lambda T, n: T.ones(1).new_full((n,), 1))
def negative_extents(T, make):
    return raises(lambda: make(T, -1)), raises(lambda: make(T, -3))


@each(to=lambda T, t: t.to("cpu"), cpu=lambda T, t: t.cpu(), copy=lambda T, t: T.ones(2).copy_(t),
      item=lambda T, t: t[0].item(), bool=lambda T, t: bool(t[0]), float=lambda T, t: float(t[0]),
      list=lambda T, t: t.tolist(), numpy=lambda T, t: t.numpy(),
      module=lambda T, t: T.nn.Linear(2, 2, device="meta").to("cpu"))
def meta_tensors_have_no_data(T, read):
    return raises(lambda: read(T, T.ones(2, device="meta")))


@case
def meta_tensors_otherwise(T):
    t = T.ones(2, 3, device="meta")
    layer = T.nn.Linear(2, 2, device="meta")
    filled = layer.to_empty(device="cpu")
    return (
        (t * 2).shape, t.double().dtype, t.sum().device, (t @ t.t()).shape, t.copy_(T.ones(3)).device,
        T.ones(2).to("meta").device, filled is layer, layer.weight.device, layer.weight.shape,
        T.nn.Linear(2, 2, device="meta").to(T.float64).weight.dtype,
    )
