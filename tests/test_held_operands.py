"""What a node holds by which gradients are wanted: the expected rows are PyTorch's.

Whatever it holds may not be overwritten before backward; all else may be.
"""

import pytest

import jaxflow as torch

F = torch.nn.functional
REFUSED = "modified by an inplace operation"


def held(shapes, wanted, function):
    """Numbers of the operands (results behind them) that may not be overwritten before backward.

    Those with numbers in ``wanted`` require grad.
    """
    refused = []
    for which in range(len(shapes) + 9):
        operands = [torch.rand(shape, dtype=torch.float64) / 2 + 0.25 for shape in shapes]
        operands = [t.requires_grad_() * 1 if i in wanted else t for i, t in enumerate(operands)]
        found = function(*operands)
        results = list(found) if isinstance(found, tuple) else [found]
        tensors = operands + results
        if which == len(tensors):
            break
        with torch.no_grad():
            tensors[which].copy_(tensors[which].clone())
        out = next(t for t in results if t.requires_grad)
        try:
            out.backward(torch.ones_like(out))
        except RuntimeError as error:
            assert REFUSED in str(error)
            refused.append(which)
    return refused


V = [(3,)] * 3
INDEX = torch.tensor([0, 2, 1])
#: Name: shapes, what is made of them, and for each set of operands that require grad what is held.
CASES = {
    "product": (V[:2], torch.mul, {(0,): [1], (1,): [0], (0, 1): [0, 1]}),
    "quotient": (V[:2], torch.div, {(0,): [1], (1,): [0, 1], (0, 1): [0, 1]}),
    "rounded quotient": (V[:2], lambda a, b: torch.div(a, b, rounding_mode="floor"),
                         {(0,): [1], (1,): [0, 1], (0, 1): [0, 1]}),
    "hypot": (V[:2], torch.hypot, {(0,): [0, 2], (1,): [1, 2], (0, 1): [0, 1, 2]}),
    "copysign": (V[:2], torch.copysign, {(0,): [0, 2], (1,): [2], (0, 1): [0, 2]}),
    "complex": (V[:2], torch.complex, {(0,): [0], (1,): [1], (0, 1): [0, 1]}),
    "polar": (V[:2], torch.polar, {(0,): [2], (1,): [2], (0, 1): [2]}),
    "addcdiv": (V, torch.addcdiv, {(0,): [2], (1,): [2], (2,): [1, 2], (0, 1): [2], (0, 1, 2): [1, 2]}),
    "ldexp": (V[:2], torch.ldexp, {(0,): [1, 2], (1,): [2], (0, 1): [1, 2]}),
    "index_add": (V[:2], lambda x, s: x.index_add(0, INDEX, s), {(0,): [], (1,): [1], (0, 1): [1]}),
    "index_copy": (V[:2], lambda x, s: x.index_copy(0, INDEX, s), {(0,): [], (1,): [1], (0, 1): [1]}),
    "put": (V[:2], lambda x, s: x.put(INDEX, s), {(0,): [], (1,): [1], (0, 1): [1]}),
    # One formula gives all gradients, so all that it reads is held for each.
    "convolution": ([(1, 2, 5), (3, 2, 2), (3,)], F.conv1d, {(0,): [0, 1], (1,): [0, 1], (2,): [0, 1]}),
    "unevenly padded": ([(1, 2, 5), (3, 2, 2)], lambda x, w: F.conv1d(x, w, padding="same"),
                        {(0,): [1], (1,): [1], (0, 1): [1]}),
    "index_put": ([(3,), (3,)], lambda x, v: x.index_put((INDEX,), v, accumulate=True), {(0,): [], (1,): []}),
    "transposed": ([(1, 2, 5), (2, 3, 2), (3,)], F.conv_transpose1d, {(0,): [0, 1], (2,): [0, 1]}),
    "batch": ([(4, 3), (3,), (3,)], lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
              {(1,): [0, 1], (2,): [0, 1]}),
    "groups": ([(2, 4, 3), (4,), (4,)], lambda x, w, b: F.group_norm(x, 2, w, b),
               {(1,): [0, 1], (2,): [0, 1]}),
    "prelu": ([(2, 3), (3,)], F.prelu, {(0,): [0, 1], (1,): [0, 1]}),
    "entropy": (V, F.binary_cross_entropy, {(0,): [0, 1, 2], (1,): [0, 1, 2]}),
    "entropy of logits": (V[:2], F.binary_cross_entropy_with_logits, {(0,): [0, 1], (1,): [0, 1]}),
    "attention": ([(1, 2, 3, 4)] * 3, F.scaled_dot_product_attention,
                  {(0,): [0, 1, 2, 3], (2,): [0, 1, 2, 3]}),
    # Composed of other operations, of which each holds what it reads: what is made of operands is nobody's.
    "attention of matrices": ([(2, 3, 4)] * 3, F.scaled_dot_product_attention,
                              {(0,): [2], (1,): [2], (2,): []}),
    "root mean square": ([(2, 3), (3,)], lambda x, w: F.rms_norm(x, (3,), w), {(0,): [0, 1], (1,): []}),
    "chain": ([(2, 3), (3, 4), (4, 2), (2, 5)], lambda *m: torch.linalg.multi_dot(m),
              {(0,): [3], (1,): [0, 2, 3], (2,): [0, 1, 3], (3,): []}),
    "probabilities": ([(2, 3), (2, 3)], F.cross_entropy, {(0,): [1], (1,): [], (0, 1): [1]}),
    # Results.
    "eigenvectors": ([(3, 3)], lambda x: tuple(torch.linalg.eigh(x @ x.mT + x)), {(0,): [0, 1, 2]}),
    "lu": ([(3, 3)], lambda x: tuple(torch.linalg.lu(x)), {(0,): [1, 2, 3]}),
    "lu_factor": ([(3, 3)], lambda x: tuple(torch.linalg.lu_factor(x)), {(0,): [1, 2]}),
    "least squares": ([(4, 2), (4, 3)], lambda a, b: torch.linalg.lstsq(a, b)[0],
                      {(0,): [0, 1, 2], (1,): [0, 1, 2]}),
}


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", CASES)
def test_held(name):
    shapes, function, rows = CASES[name]
    assert {wanted: held(shapes, wanted, function) for wanted in rows} == rows


#: Name: what is made of a square matrix, and the shapes that saved-tensor hooks get.
PACKED = {
    "eigh": (lambda x: torch.linalg.eigh(x + x.mT).eigenvectors.abs(), [(3,), (3, 3), (3, 3)]),
    "lu": (lambda x: torch.linalg.lu(x)[2], [(3, 3)] * 3),
    "lu_factor": (lambda x: torch.linalg.lu_factor(x)[0], [(3,), (3, 3)]),
    "svd": (lambda x: torch.linalg.svd(x).S, [(3,), (3, 3), (3, 3)]),
    "lstsq": (lambda x: torch.linalg.lstsq(x, torch.eye(3))[0], [(3, 3)] * 3),
    "hypot": (lambda x: torch.hypot(x, torch.ones(3, 3)), [(3, 3)] * 2),
    "addcdiv": (lambda x: torch.addcdiv(x, torch.eye(3), torch.ones(3, 1)), [(3, 1)]),
}


@pytest.mark.usefixtures("executor")
@pytest.mark.parametrize("name", PACKED)
def test_packed(name):
    function, expected = PACKED[name]
    data, gradients, packed = [[4.0, 1.0, 0.5], [0.0, 3.0, 1.0], [0.5, 0.0, 2.0]], [], []

    def pack(t):
        packed.append(tuple(t.shape))
        return t

    for hooks in (False, True):
        x = torch.tensor(data, requires_grad=True)
        if hooks:
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t.clone()):
                out = function(x)
        else:
            out = function(x)
        out.sum().backward()
        gradients.append(x.grad)
    assert sorted(packed) == expected
    assert torch.allclose(*gradients, atol=1e-5)


@pytest.mark.usefixtures("executor")
def test_what_is_not_held_is_shown_as_none():
    a, b, c = (torch.ones(3, requires_grad=k == 0) for k in range(3))
    node = torch.addcdiv(a, b, c).grad_fn
    assert node._saved_tensor1 is None
    with pytest.raises(AttributeError, match="keeps no 'tensor2' here"):  # which the formula does not read
        node._saved_tensor2  # noqa: B018
    assert torch.addcdiv(b, a, c).grad_fn._saved_tensor2.tolist() == [1.0, 1.0, 1.0]
    assert torch.hypot(b, a).grad_fn._saved_self is None
