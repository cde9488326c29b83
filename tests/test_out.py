"""``out=``: which dtypes are taken there, in which one is computed, and what a resized one looks like."""

import gc
import warnings

import numpy as np
import pytest

import jaxflow as torch

HALVES = torch.tensor([[1.0, 2.0, 258.0], [0.5, 0.25, 2.0]], dtype=torch.bfloat16)
COMPLEX = torch.tensor([1 + 0.5j, 0.5 - 1j], dtype=torch.complex128)


def zeros(*shape, dtype):
    return torch.zeros(shape, dtype=getattr(torch, dtype))


#: Words of the error, and the call that raises it.
REFUSED = [
    ("expects exponent to have int dtype but got double", lambda: torch.frexp(
        torch.ones(2), out=(zeros(2, dtype="float32"), zeros(2, dtype="float64")))),
    ("expects mantissa to have dtype float but got double", lambda: torch.frexp(
        torch.ones(2), out=(zeros(2, dtype="float64"), zeros(2, dtype="float64")))),
    ("std_var_all: Unsupported dtype BFloat16", lambda: torch.var(HALVES, out=zeros(dtype="float64"))),
    ("std_var_all: Unsupported dtype BFloat16",
     lambda: torch.std(HALVES[:1], 1, out=zeros(1, dtype="float32"))),
    ("result type BFloat16 can't be cast to the desired output type Int",
     lambda: torch.std(HALVES, out=zeros(dtype="int32"))),
    ("\"std_cpu\" not implemented for 'ComplexFloat'",
     lambda: torch.std(torch.ones(2, 3), 1, out=zeros(2, dtype="complex64"))),
    (r"logsumexp\(\): Expected floating point type for result tensor, but got: Int",
     lambda: torch.logsumexp(HALVES, 1, out=zeros(2, dtype="int32"))),
    ("result type Float can't be cast to the desired output type Long",
     lambda: torch.mean(HALVES, 1, out=zeros(2, dtype="int64"))),
    (r"mean.dtype_out\(\): input types can't be cast to the desired output type Double",
     lambda: torch.mean(COMPLEX, out=zeros(dtype="float64"))),
    (r"mean\(\): could not infer output dtype", lambda: torch.mean(
        torch.arange(3), 0, out=zeros(dtype="float32"))),
    ("Expected out tensor to have dtype double, but got float instead", lambda: torch.sum(
        HALVES, 1, dtype=torch.float64, out=zeros(2, dtype="float32"))),
    ("nansum_cpu\" not implemented for 'ComplexFloat'", lambda: torch.nansum(
        HALVES, 1, out=zeros(2, dtype="complex64"))),
    ("Found dtype ComplexDouble but expected ComplexFloat", lambda: torch.fft.ifft(
        torch.ones(3), out=zeros(3, dtype="complex128"))),
    ("ihfft expects a complex output tensor, but got Float", lambda: torch.fft.ihfft(
        torch.ones(3), out=zeros(2, dtype="float32"))),
    ("don't support automatic differentiation", lambda: torch.logsumexp(
        torch.ones(3, requires_grad=True), 0, out=zeros(dtype="float64"))),
    # That there is no kernel for the operands is found out later.
    ("result type BFloat16 can't be cast to the desired output type Bool",
     lambda: torch.special.laguerre_polynomial_l(HALVES, HALVES, out=zeros(2, 3, dtype="bool"))),
    ("result type BFloat16 can't be cast to the desired output type Long",
     lambda: torch.special.erfcx(HALVES, out=zeros(2, 3, dtype="int64"))),
    ("result type ComplexDouble can't be cast to the desired output type Float",
     lambda: torch.erf(COMPLEX, out=zeros(2, dtype="float32"))),
    ("Found dtype Float but expected Bool",
     lambda: torch.floor(zeros(2, dtype="bool"), out=zeros(2, dtype="float32"))),
    ("\"erfcx_cpu\" not implemented for 'BFloat16'",
     lambda: torch.special.erfcx(HALVES, out=zeros(2, 3, dtype="float32"))),
    ("\"bitwise_and_cpu\" not implemented for 'BFloat16'",
     lambda: torch.bitwise_and(HALVES, HALVES, out=zeros(2, 3, dtype="float32"))),
    ("\"gcd_cpu\" not implemented for 'BFloat16'", lambda: torch.gcd(HALVES, HALVES)),
    ("output given to float_power has dtype Float but the operation's result requires dtype Double",
     lambda: torch.float_power(HALVES, 2, out=zeros(2, 3, dtype="float32"))),
]


@pytest.mark.parametrize("words, call", REFUSED)
def test_refused_dtypes(words, call):
    with pytest.raises((RuntimeError, NotImplementedError), match=words):
        call()


def test_reductions_compute_in_the_dtype_of_out(executor):
    whole = HALVES.to(torch.float64).numpy()
    for name, expected in (("sum", whole.sum(1)), ("nansum", whole.sum(1)), ("mean", whole.mean(1)),
                           ("nanmean", whole.mean(1)), ("prod", whole.prod(1)), ("var", whole.var(1, ddof=1)),
                           ("std", whole.std(1, ddof=1))):
        out = zeros(2, dtype="float64")
        assert getattr(torch, name)(HALVES, dim=1, out=out) is out
        np.testing.assert_allclose(out.numpy(), expected, rtol=1e-14, err_msg=name)
    cut = zeros(2, dtype="int32")
    assert torch.sum(torch.tensor([[1.75, 1.75], [0.5, 2.5]]), 1, out=cut).tolist() == [2, 2]
    real = zeros(dtype="float64")
    high = COMPLEX.real.numpy().max()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # says, once in a process, that imaginary parts are discarded
        torch.logsumexp(COMPLEX, 0, out=real)
    expected = np.log(np.exp(COMPLEX.numpy() - high).real.sum()) + high
    np.testing.assert_allclose(real.item(), expected, rtol=1e-14)


def test_a_resized_out_lies_as_what_was_conjugated_and_a_line_is_found_as_a_row(executor):
    x = torch.arange(24.0).reshape(2, 3, 4)
    for call, signal, strides in (
        (torch.fft.ifft, x, (12, 1, 3)), (torch.fft.ihfft, x, (8, 1, 2)), (torch.fft.fft, x, (12, 4, 1)),
        (torch.fft.ifft, x.to(torch.complex64), (12, 4, 1)), (torch.fft.ifft, x.permute(2, 0, 1), (2, 1, 8)),
    ):
        out = call(signal, dim=1, out=torch.empty(0, dtype=torch.complex64))
        assert out.stride() == strides
        np.testing.assert_allclose(out.numpy(), call(signal, dim=1).resolve_conj().numpy())
    right = call(signal, dim=1, out=torch.empty(4, 2, 3, dtype=torch.complex64))
    assert right.stride() == (6, 3, 1)

    weight, line = torch.ones(4, 3), torch.ones(3)
    for shape, warns in (((1, 4), 0), ((0,), 0), ((4,), 1)):
        out = torch.zeros(shape)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert torch.nn.functional.linear(line, weight, out=out) is out
        assert len([w for w in caught if "required output shape [1, 4]" in str(w.message)]) == warns
        assert out.tolist() == [3.0] * 4


@pytest.mark.usefixtures("executor")
@pytest.mark.filterwarnings("ignore:at..nuclear_norm is deprecated")
@pytest.mark.parametrize("call", [
    torch.linalg.norm, lambda x, **o: torch.linalg.norm(x, 2, **o), torch.linalg.matrix_norm,
    torch.nuclear_norm, lambda x, **o: torch.linalg.norm(x, 1, (0, 1), **o)])
def test_norms_that_are_copied_into_out_have_a_history(call):
    x = torch.tensor([[3.0, 0.0], [0.0, 0.5]], requires_grad=True)
    wanted = torch.autograd.grad(call(x), x)[0].tolist()
    recorded = torch.zeros((), requires_grad=True) * 1
    for made in (torch.zeros(()), torch.empty(0), torch.zeros(2, 2)[1, 1], recorded):
        out = call(x, out=made)
        assert out is made and out.requires_grad and out.shape == () and out._version == 1
        assert torch.autograd.grad(out, x)[0].tolist() == wanted
    with torch.no_grad():
        assert not call(x, out=torch.zeros(())).requires_grad
    for refused, words in ((torch.zeros((), requires_grad=True), "a leaf Variable that requires grad is"),
                           (torch.zeros(2, requires_grad=True)[0], "a view of a leaf Variable that requires"),
                           (torch.zeros((), dtype=torch.float64), "norm expected out tensor dtype Float")):
        with pytest.raises(RuntimeError, match=words):
            call(x, out=refused)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.linalg.vector_norm(x, out=torch.zeros(()))


@pytest.mark.parametrize("call", [
    lambda x, out: torch.roll(x, 1, out=out), lambda x, out: torch.flip(x, (0,), out=out),
    lambda x, out: torch.masked_fill(x, x > 0, 1.0, out=out), lambda x, out: torch.rot90(x, out=out),
    lambda x, out: torch.select_scatter(x, x[0], 0, 0, out=out), lambda x, out: torch.trace(x, out=out)])
def test_functions_without_out_refuse_it(call):
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'out'"):
        call(torch.ones(2, 2), torch.zeros(2, 2))


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call", [
    lambda x, out: torch.softmax(x, 0, out=out), lambda x, out: torch.diag(x, out=out),
    lambda x, out: torch.slice_scatter(x, x, out=out), lambda x, out: torch.conj_physical(x, out=out),
    lambda x, out: torch.linspace(x[0], 2.0, 3, out=out)])
def test_results_into_out_that_have_no_derivative(call):
    out = call(torch.tensor([1.0, 2.0], requires_grad=True), torch.empty(0))
    assert out.requires_grad and type(out.grad_fn).__name__ == "NotImplemented"
    with pytest.raises(RuntimeError, match="derivative for .* is not implemented"):
        out.sum().backward()


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call", [
    lambda x, out: torch.inner(x, x, out=out), lambda x, out: torch.tensordot(x, x, 1, out=out),
    lambda x, out: torch.quantile(x, 0.5, out=out), lambda x, out: torch.special.ndtr(x, out=out)])
def test_results_that_are_copied_into_out(call):
    x = torch.tensor([1.0, 2.0, 4.0], requires_grad=True)
    out = call(x, torch.empty(0))
    assert "CopyBackwards" in out.grad_fn.name()
    found = torch.autograd.grad(out.sum(), x)[0]
    assert found.abs().sum().item() > 0


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_an_out_of_another_shape_stays_where_it_is(executor):
    base = torch.zeros(6)
    view = base[1:5]
    assert torch.mul(torch.ones(2, 1), 2.0, out=view) is view
    assert base.tolist() == [0.0, 2.0, 2.0, 0.0, 0.0, 0.0] and base._version == 1
    assert view._base is base and view.shape == (2, 1) and view.storage_offset() == 1
    values, indices = base[4:], torch.empty(0, dtype=torch.int64)
    torch.max(torch.ones(1, 3), 1, out=(values, indices))
    assert base.tolist() == [0.0, 2.0, 2.0, 0.0, 1.0, 0.0] and indices.tolist() == [0]

    whole = torch.arange(6.0)
    torch.add(torch.ones(2), 1, out=whole)
    assert whole.tolist() == [2.0, 2.0] and whole.untyped_storage().nbytes() == 24 and whole._base is None
    assert whole.resize_(3).tolist() == [2.0, 2.0, 2.0]
    whole.add_(1)
    assert whole.resize_(2, 4).tolist() == [[3.0, 3.0, 3.0, 3.0], [4.0, 5.0, 0.0, 0.0]]

    torch.add(torch.ones(4, 2), 1, out=view)
    assert view.tolist() == [[2.0, 2.0]] * 4 and view._version == 3 and view._base is base
    assert base.untyped_storage().data_ptr() == view.untyped_storage().data_ptr()


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_a_recorded_out_of_another_shape_stays_a_view(executor):
    x, base = torch.tensor([3.0, 4.0], requires_grad=True), torch.zeros(4)
    view = base[1:3]
    torch.linalg.norm(x, out=view)
    assert [t.grad_fn.name() for t in (view, base)] == ["AsStridedBackward0", "torch::autograd::CopySlices"]
    assert base.tolist() == [0.0, 5.0, 0.0, 0.0] and base._version == 1
    base.sum().backward()
    assert x.grad.tolist() == pytest.approx([0.6, 0.8])

    y = torch.ones(2, requires_grad=True)
    grown = (y * 2)[:1].clone()
    torch.linalg.norm(x.detach().repeat(2, 1), 2, 1, out=grown)
    assert grown.tolist() == [5.0, 5.0] and grown.requires_grad
    grown.sum().backward()
    assert y.grad.tolist() == [0.0, 0.0]


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("call", [torch.lt, torch.ne, torch.logical_and,
                                  lambda x, y, out: torch.logical_not(x - y, out=out)])
def test_what_has_no_derivative_leaves_histories_alone(call):
    x, y = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([1.0, 3.0], requires_grad=True)
    wanted = call(x, y, out=torch.zeros(2, dtype=torch.bool))
    assert not wanted.requires_grad
    plain, leaf, recorded = torch.zeros(2), torch.zeros(2, requires_grad=True), x * 1
    node = recorded.grad_fn
    for out in (plain, leaf, recorded):
        before = out.requires_grad
        call(x, y, out=out)
        assert out.requires_grad is before and out._version == 1 and out.tolist() == wanted.tolist()
    assert leaf.is_leaf and recorded.grad_fn is node


@pytest.mark.parametrize("call, words", [
    (lambda x, y: torch.exp(x, out=(y,)), r"exp\(\): argument 'out' must be Tensor, not tuple"),
    (lambda x, y: torch.cumsum(x, 0, out=[y]), r"cumsum\(\): argument 'out' must be Tensor, not list"),
    (lambda x, y: torch.ones(2, 2, out=3), r"ones\(\): argument 'out' must be Tensor, not int"),
    (lambda x, y: torch.linalg.inv(x, out=(y,)), r"linalg_inv\(\): argument 'out' must be Tensor, not tuple"),
    (lambda x, y: torch.topk(x, 1, out=y), r"topk\(\): argument 'out' must be tuple of Tensors, not Tensor"),
    (lambda x, y: torch.sort(x, out=(y,)), "expected tuple of 2 elements but got 1"),
    (lambda x, y: torch.sort(x, out=(y, 3)), "expected Tensor as element 1 in argument"),
    (lambda x, y: torch.sum(x, out=y), r"sum\(\) missing 1 required positional arguments: \"dim\""),
])
def test_an_out_of_another_form_is_refused_and_left_alone(executor, call, words):
    x, y = torch.eye(2), torch.full((3,), 7.0)
    with pytest.raises(TypeError, match=words):
        call(x, y)
    assert y.tolist() == [7.0] * 3 and y._version == 0


def test_results_that_were_written_have_their_names(executor):
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.long)
    found = torch.sort(torch.tensor([2.0, 1.0]), out=[values, indices])
    assert found.values is values and found.indices is indices and values.tolist() == [1.0, 2.0]
    assert type(found) is torch.return_types.sort_out
    with pytest.raises(TypeError):
        torch.sum(torch.ones(2), out=torch.empty(()))
    assert torch.sum(torch.ones(2), None, out=torch.empty(())).item() == 2.0
    assert torch.sum(torch.ones(2), axis=0, out=torch.empty(())).item() == 2.0


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_several_results_in_one_memory_are_written_in_order(executor):
    x = torch.tensor([[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]])
    for made in (lambda b: (b[0], b[1]), lambda b: (b[0], b[0]),
                 lambda b: (b.view(-1)[1:4], b.view(-1)[2:5])):
        base, plain = torch.zeros(2, 3), np.zeros((2, 3), np.float32)
        found = torch.aminmax(x, dim=0, out=made(base))
        for part, numbers in zip(made(torch.from_numpy(plain)), ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])):
            part.copy_(torch.tensor(numbers))
        assert base.tolist() == plain.tolist() and base._version == 2 and found[1].tolist() == [4.0, 5.0, 6.0]
    for first, size in ((slice(None), 3), (slice(None), 0), (slice(0, 1), 3)):
        base = torch.zeros(size)
        torch.aminmax(x, dim=0, out=(base, base[first] if size else base))
        assert base._version == 2 and base.numel() == 3
    base = torch.zeros(2, 2)
    torch.split_with_sizes_copy(torch.arange(4.0).view(2, 2) + 1, [2, 0], out=(base, base[1:1]))
    torch.frexp(base, out=(base, torch.zeros(2, 2, dtype=torch.int32)))
    assert base.tolist() == [[0.5, 0.5], [0.75, 0.5]] and base._version == 3


def test_no_result_is_written_where_one_is_refused(executor):
    x, values, array = torch.tensor([[3.0, 1.0, 2.0]]), torch.zeros(1, 3), np.zeros(2, np.int64)
    with pytest.raises(RuntimeError, match="is not resizable"), pytest.warns(UserWarning):
        torch.sort(x, out=(values, torch.from_numpy(array)[1:]))
    assert values.tolist() == [[0.0] * 3] and values._version == 0


def test_the_warning_of_a_resized_out_names_the_users_line(executor):
    x, places = torch.ones(1, 3), torch.zeros(2, dtype=torch.long)
    for call in (lambda: torch.max(x, 1, out=(torch.zeros(2), places)),
                 lambda: torch.add(x, 1, out=torch.zeros(2))):
        with pytest.warns(UserWarning, match="was resized since it had shape") as caught:
            call()
        assert {w.filename for w in caught} == {__file__}


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_an_out_that_grows_where_objects_are_frozen(executor):
    def grown(x):
        out = torch.zeros(2)
        values, places = torch.zeros(1), torch.zeros(1, dtype=torch.long)
        torch.sort(x, out=(values, places))
        return torch.add(x, 1, out=out), values, places

    compiled, x, whole = torch.compile(grown), torch.tensor([2.0, 1.0, 3.0]), torch.zeros(2)
    alias = whole.detach()
    gc.freeze()
    try:
        for call in (grown, compiled, compiled):
            found = [t.tolist() for t in call(x)]
            assert found == [[3.0, 2.0, 4.0], [1.0, 2.0, 3.0], [1, 0, 2]]
        torch.add(x, 1, out=whole)
        alias.mul_(2)
        assert whole.tolist() == [6.0, 4.0, 4.0] and alias.tolist() == [6.0, 4.0]
    finally:
        gc.unfreeze()


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("shape, strides", [((4, 1, 3), (1, 4)), ((3,), (1, 4)), ((4, 2), (2, 1))])
def test_places_lie_column_by_column_in_an_out_of_another_shape(shape, strides):
    out = zeros(*shape, dtype="int64")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.nonzero(torch.ones(2, 2), out=out)
    assert out.stride() == strides
    assert out.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.filterwarnings("ignore:An output with one or more elements was resized")
def test_memory_that_cannot_grow_for_all_that_show_it_is_refused_by_name(executor):
    match = "its storage would have to grow, which others share"
    whole = torch.arange(4.0)
    view = whole[1:3]
    with pytest.raises(RuntimeError, match=match), torch.no_grad():
        torch.add(torch.ones(9), 1, out=whole.clone().requires_grad_()[:2])
    with pytest.raises(RuntimeError, match=match):
        torch.ones(2, dtype=torch.complex64).conj()[:1].resize_(9)
    assert view.tolist() == [1.0, 2.0] and whole.untyped_storage().nbytes() == 16

    view.resize_(5)
    with pytest.raises(RuntimeError, match="A view was given more elements than its base has"):
        view.mul_(torch.ones(5, requires_grad=True))
    whole.mul_(torch.ones(4, requires_grad=True))
    with pytest.raises(RuntimeError, match="A view was given more elements than its base has"):
        (view * 2).sum().backward()
