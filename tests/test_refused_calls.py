"""Calls that fit no form of a function, and operands that do not fit each other, refused as PyTorch does."""

import numpy as np
import pytest

import jaxflow as torch
import jaxflow.nn.functional as F

pytestmark = pytest.mark.usefixtures("executor")


@pytest.mark.parametrize("weight,pos_weight", [((2, 2, 3), None), (None, (2, 2, 3)), (None, (1, 2, 3))])
def test_weights_of_a_loss_may_not_make_it_larger(weight, pos_weight):
    x = torch.zeros(2, 3)
    weights = [None if shape is None else torch.ones(shape) for shape in (weight, pos_weight)]
    shape = list(weight or pos_weight)
    with pytest.raises(RuntimeError) as raised:
        F.binary_cross_entropy_with_logits(x, x, weights[0], pos_weight=weights[1])
    assert str(raised.value) == f"output with shape [2, 3] doesn't match the broadcast shape {shape}"


def test_weights_of_a_loss_are_tensors():
    x = torch.zeros(2, 3)
    for words, named in (("'pos_weight' (position 4) must be Tensor, not float", {"pos_weight": 3.0}),
                         ("'weight' (position 3) must be Tensor, not float", {"weight": 3.0})):
        with pytest.raises(TypeError) as raised:
            F.binary_cross_entropy_with_logits(x, x, **named)
        assert words in str(raised.value)


def test_a_loss_of_logits_has_the_dtype_of_its_target():
    x, target = torch.zeros(3, dtype=torch.float64, requires_grad=True), torch.ones(3)
    loss = F.binary_cross_entropy_with_logits(x, target)
    loss.backward()
    assert loss.dtype is torch.float32 and x.grad.dtype is torch.float64
    with pytest.raises(NotImplementedError, match="\"log_sigmoid_cpu\" not implemented for 'ComplexFloat'"):
        F.binary_cross_entropy_with_logits(target.to(torch.complex64), target)


def test_the_loss_of_the_operator_library_broadcasts_its_input():
    loss = torch.binary_cross_entropy_with_logits(torch.zeros(1, 3), torch.ones(2, 3))
    assert loss.shape == (2, 3)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        torch.binary_cross_entropy_with_logits(torch.zeros(2, 3), torch.ones(2, 1))
    with pytest.raises(ValueError, match="Target size"):
        F.binary_cross_entropy_with_logits(torch.zeros(1, 3), torch.ones(2, 3))


@pytest.mark.parametrize("name,shapes", [
    ("mm", ((2, 2), (2, 2))), ("bmm", ((2, 2, 2), (2, 2, 2))), ("addmm", ((2, 2), (2, 2), (2, 2))),
    ("baddbmm", ((2, 2, 2), (2, 2, 2), (2, 2, 2)))])
def test_products_of_another_dtype_have_no_kernel_for_the_cpu(name, shapes):
    function, operands = getattr(torch, name), [torch.ones(s, dtype=torch.bfloat16) for s in shapes]
    words = f"Could not run 'aten::{name}.dtype' with arguments from the 'CPU' backend"
    for call in (lambda: function(*operands, torch.float32),
                 lambda: function(*operands, out_dtype=torch.float32)):
        with pytest.raises(NotImplementedError, match=words):
            call()
    for wrong in (None, 3.5, "float32"):
        with pytest.raises(TypeError, match=rf"{name}\(\) received an invalid combination of arguments"):
            function(*operands, out_dtype=wrong)


def test_a_product_is_added_to_what_has_its_shape():
    with pytest.raises(RuntimeError, match=r"size \[2, 3\] and output tensor size \[2, 5\] should match"):
        torch.ones(2, 3).addmm_(torch.ones(2, 4), torch.ones(4, 5))
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.ones(2, 3).addmm_(torch.ones(2, 4), torch.ones(5, 3))
    x = torch.ones(1, 1)
    assert x.addmm_(torch.ones(1, 4), torch.ones(4, 1), beta=2, alpha=3) is x and x.item() == 14


def test_functions_of_special_write_into_no_tensor():
    for function in (torch.special.softmax, torch.special.log_softmax):
        with pytest.raises(TypeError, match="unexpected keyword argument 'out'"):
            function(torch.ones(3), 0, out=torch.empty(3))
        assert function(torch.ones(3), 0, torch.float64).dtype is torch.float64
        with pytest.raises(TypeError, match='missing 1 required positional arguments: "dim"'):
            function(torch.ones(3))


def test_the_size_of_a_copied_view_is_a_tuple():
    x = torch.arange(6.0)
    for wrong in ((), (6,), (3,)):
        with pytest.raises(TypeError, match="invalid combination of arguments"):
            torch.view_copy(x, *wrong)
    assert torch.view_copy(x, (2, 3)).shape == (2, 3)


def test_what_is_scattered_into_one_element_seen_often_has_room_of_its_own():
    x = torch.arange(4.0).reshape(4, 1).expand(4, 3)
    result = torch.as_strided_scatter(x, torch.tensor([8.0, 9.0]), (2,), (1,), 1)
    assert result.tolist() == [[0, 8, 9], [1, 1, 1], [2, 2, 2], [3, 3, 3]]
    x = torch.arange(3.0).expand(4, 3)
    result = torch.as_strided_scatter(x, torch.full((2, 2), 9.0), (2, 2), (5, 2), 1)
    assert result.tolist() == [[0, 9, 2], [9, 1, 2], [9, 1, 9], [0, 1, 2]]


def test_activations_with_bounds_keep_the_sign_of_a_zero():
    x = torch.tensor([-0.0, 0.0], requires_grad=True)
    for result in (F.relu6(x), F.hardtanh(x, 0.0, 1.0), F.hardtanh(x, -1.0, 0.0), F.hardtanh(x, -0.0, 1.0)):
        assert torch.signbit(result).tolist() == [True, False]
        result.sum().backward()
        assert x.grad.tolist() == [0, 0]


def test_nothing_has_no_place_in_any_example():
    assert torch.func.vmap(torch.argwhere)(torch.zeros(2, 0)).shape == (2, 0, 1)
    assert torch.argwhere(torch.zeros(2, 0, 3)).shape == (0, 3)


@pytest.mark.parametrize("call", [
    lambda x: torch.celu_(x, 0), lambda x: torch.celu_(x, False), lambda x: F.celu_(x, alpha=0.0),
    lambda x: F.celu(x, 0, inplace=True), lambda x: torch.celu(x, 0),
])
def test_celu_divides_by_no_zero(call):
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="ZeroDivisionError: alpha cannot be 0 for CELU"):
        call(x)
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize("dim", [(0, 1), (0, 5), (0, 0), (0,)])
def test_norms_by_singular_values_refuse_halves_before_dims(dim):
    x = torch.ones(2, 2, dtype=torch.bfloat16)
    for call in (lambda: torch.linalg.matrix_norm(x, 2, dim), lambda: torch.linalg.norm(x, "nuc", dim),
                 lambda: torch.norm(x, "nuc", dim)):
        with pytest.raises(RuntimeError, match="Low precision dtypes not supported. Got BFloat16"):
            call()
    with pytest.raises(IndexError, match="Dimension out of range"):
        torch.linalg.matrix_norm(x, 1, (0, 5))


def test_group_norm_of_single_values_and_of_no_groups():
    for shape, groups in (((1, 2), 2), ((1, 4, 1), 4)):
        with pytest.raises(ValueError, match=rf"more than 1 value per channel .* size \[1, {groups}"):
            F.group_norm(torch.ones(shape), groups)
        assert torch.group_norm(torch.ones(shape), groups).count_nonzero() == 0
    with pytest.raises(ZeroDivisionError):
        F.group_norm(torch.ones(2, 4), 0)
    with pytest.raises(RuntimeError, match="Expected num groups to be greater than 0, got 0"):
        torch.group_norm(torch.ones(2, 4), 0)
    with pytest.raises(TypeError, match=r"argument 'num_groups' \(position 2\) must be int, not float"):
        F.group_norm(torch.ones(2, 4), 2.0)
    assert F.group_norm(torch.ones(0, 4), 2).shape == (0, 4)


@pytest.mark.parametrize("sizes", [(0, 2, 3, 4), (2, 0, 3, 4), (2, 2, 0, 4), (2, 2, 3, 0)])
def test_products_of_nothing_look_at_no_dtype(sizes, executor):
    """Products of nothing are filled before the kernel looks at dtypes, and have the second operand's."""
    b, n, k, m = sizes
    left, right = torch.ones(b, n, k, dtype=torch.float64), torch.ones(b, k, m, dtype=torch.bfloat16)
    nothing = np.zeros((b, n, m)).tolist()
    for result in (left @ right, torch.bmm(left, right), left[0] @ right if b else left @ right):
        assert result.dtype is torch.bfloat16 and result.tolist() == nothing
    flags = torch.ones(b, n, k, dtype=torch.bool)
    for result in (flags @ right.bool(), flags @ torch.ones(k, m, dtype=torch.bool),
                   torch.nn.functional.linear(flags, torch.ones(m, k, dtype=torch.bool))):
        assert result.dtype is torch.bool and not any(result.flatten().tolist())


def test_bools_are_refused_before_another_dtype():
    with pytest.raises(NotImplementedError, match="\"bmm\" not implemented for 'Bool'"):
        torch.ones(1, 2, 3, dtype=torch.bool) @ torch.ones(1, 3, 2)


def test_a_matrix_times_a_stack_is_folded_for_its_own_gradient_alone():
    matrix, stack = torch.ones(2, 3), torch.ones(2, 3, 4)
    assert type((matrix @ stack.requires_grad_()).grad_fn).__name__ == "UnsafeViewBackward0"
    assert type((matrix.requires_grad_() @ stack).grad_fn).__name__ == "CloneBackward0"


@pytest.mark.parametrize("write", [
    lambda x: x.__setitem__([False, False], 0.5),
    lambda x: x.__setitem__((0, torch.tensor([True])), 0.5),
    lambda x: x.__setitem__(torch.tensor([0.5]), 1.0),
    lambda x: x.index_put_((torch.tensor([True]),), torch.ones(())),
    lambda x: x.index_put_((torch.tensor([0.5]),), torch.ones(())),
], ids=["mask", "mask of a row", "fraction", "index_put_ of a mask", "index_put_ of a fraction"])
def test_a_leaf_is_refused_before_an_index_array(write):
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place"):
        write(torch.ones(5, 2, requires_grad=True))
    for x in (torch.ones(5, 2), torch.ones(5, 2, requires_grad=True) * 1):
        with pytest.raises(IndexError):
            write(x)
    with torch.no_grad(), pytest.raises(IndexError):
        write(torch.ones(5, 2, requires_grad=True))
    with pytest.raises(IndexError, match="too many indices"):  # which needs no kernel to be seen
        torch.ones(5, 2, requires_grad=True)[0, 0, torch.tensor([1])] = 0.5


def test_a_none_that_is_written_out_is_no_count_of_columns():
    for call in (lambda: torch.eye(2, None), lambda: torch.eye(2, m=None), lambda: torch.eye(2, 2.5)):
        with pytest.raises(TypeError, match=r"eye\(\) received an invalid combination of arguments"):
            call()


def test_new_tensor_has_no_say_in_where_the_memory_lies():
    for given in (dict(pin_memory=None), dict(pin_memory=False), dict(layout=torch.strided)):
        with pytest.raises(TypeError, match=r"new_tensor\(\) got an unexpected keyword argument"):
            torch.ones(2).new_tensor([1.0], **given)
