"""What a node holds: overwriting it before backward is refused where PyTorch refuses it.

That depends on which gradients are wanted, so every operator is asked with several sets of operands that
require grad.
"""

import itertools

import pytest
import torch

import jaxflow
from compat_tests.ops.arguments import subject
from compat_tests.ops.records import keys, record, resolve, take_samples

#: Records none of whose operands PyTorch lets be overwritten (several views of one), or whose result here
#: (a loss that depends on the phase of eigenvectors, a sparse tensor) has no backward.
NOTHING_TO_ASK = ("chunk", "split", "split/list_args", "split_with_sizes", "unbind", "linalg.eig",
                  "to_sparse")
KEYS = [key for key in keys() if record(key).supports_autograd and key not in NOTHING_TO_ASK
        and torch.float64 in record(key).dtypes]
REFUSED = "modified by an inplace operation"


#: With up to so many operands that may require grad, each set of them is asked; else one, or all but one.
FEW = 3
SAMPLES, MOST = 2, 12  # of tensors, results among them


def overwritten(T, function, sample, which, wanted=None):
    """How backward goes after tensor number ``which`` was overwritten; None if there is no such tensor.

    Operands come first, then results. Of the operands that may require grad those with numbers in ``wanted``
    do, or all. Operands are results themselves, so that they may be written to. Backward needs none of an
    empty one.
    """
    tensors, numbers = [], itertools.count()

    def operand(t):
        if not isinstance(t, T.Tensor):
            return t
        copy = t.detach().clone()
        if t.requires_grad and (wanted is None or next(numbers) in wanted):
            copy = copy.requires_grad_() * 1
        tensors.append(copy)
        return copy

    arguments, options = sample
    result = function(*_mapped(arguments, operand), **_mapped(options, operand))
    results = [out for out in (result if isinstance(result, (tuple, list)) else (result,))
               if isinstance(out, T.Tensor)]
    tensors += results
    if which >= len(tensors):
        return None
    with T.no_grad():
        tensors[which].copy_(tensors[which].clone())
    found = []
    for out in results:
        if out.requires_grad and tensors[which].numel():
            try:
                out.backward(T.ones_like(out), retain_graph=True)
                found.append("passes")
            except RuntimeError as error:
                if REFUSED not in str(error):
                    raise
                found.append("refused")
    return found


def _mapped(x, change):
    if type(x) in (list, tuple):
        return type(x)(_mapped(i, change) for i in x)
    if isinstance(x, dict):
        return {k: _mapped(v, change) for k, v in x.items()}
    return change(x)


def sets_of(sample, executor):
    """The sets of operands that are to require grad: what is held is decided before anything runs."""
    operands = []
    _mapped(sample, lambda t: operands.append(t) if isinstance(t, torch.Tensor) and t.requires_grad else None)
    n = len(operands)
    sizes = (n,) if executor == "eager" else range(1, n + 1) if n <= FEW else (1, n - 1, n)
    return [wanted for size in sizes for wanted in itertools.combinations(range(n), size)]


@pytest.mark.filterwarnings("ignore")  # of PyTorch, about calls that are going to go
@pytest.mark.parametrize("key", KEYS)
def test_overwritten(executor, key):
    asked, differences = 0, []
    for s in take_samples(key, "float64", True, SAMPLES):
        sample = ((s.input, *s.args), s.kwargs)
        for wanted in sets_of(sample, executor):
            for which in range(MOST):
                try:
                    expected = overwritten(torch, record(key).op, sample, which, wanted)
                except RuntimeError:  # written where it shows an element twice, or nothing to differentiate
                    continue
                if expected is None:
                    break
                actual = overwritten(jaxflow, resolve(key), subject(sample), which, wanted)
                if actual != expected:
                    differences.append((wanted, which, expected, actual))
                asked += len(expected)
    assert not differences
    assert asked


HEADS = (2, 3, 4, 8)


def _attention(shapes, moved=(), **options):
    """Attention of operands of those shapes, the numbered ones with two dimensions exchanged before."""
    def run(T, *operands):
        operands = [t.transpose(*moved[i]) if i in moved else t for i, t in enumerate(operands)]
        T.manual_seed(0)
        return T.nn.functional.scaled_dot_product_attention(*operands, **options)

    return shapes, run


#: Operands, and what is made of them. PyTorch's kernel holds an operand, or a copy that it made of it.
COPIED_OR_HELD = {
    "attention": _attention([HEADS] * 3),
    "attention of matrices": _attention([HEADS[1:]] * 3, is_causal=True),
    "attention of moved heads": _attention([(2, 4, 3, 8)] * 3, dict.fromkeys(range(3), (1, 2))),
    "attention of columns": _attention([HEADS, (2, 3, 8, 4), HEADS], {1: (2, 3)}),
    "attention of fewer heads": _attention([(2, 4, 4, 8), (2, 2, 4, 8), (2, 2, 4, 8)], enable_gqa=True),
    "attention of one head": _attention([HEADS, (2, 1, 4, 8), (2, 1, 4, 8)]),
    "attention with a mask": _attention([HEADS] * 3 + [(4, 4)]),
    "attention with dropout": _attention([HEADS] * 3, dropout_p=0.5),
    "attention of moved heads with dropout": _attention(
        [(2, 4, 3, 8)] * 3, dict.fromkeys(range(3), (1, 2)), dropout_p=0.5),
    "ldexp": ([(3,), (3,)], lambda T, x, e: T.ldexp(x, e)),
    "a factor reduced alone": ([(2, 3), (4,)], lambda T, a, b: T.einsum("ik,j->ij", a, b)),
    "instance_norm": ([(2, 3, 4), (3,)], lambda T, x, w: T.nn.functional.instance_norm(x, weight=w)),
}


@pytest.mark.parametrize("name", COPIED_OR_HELD)
def test_copied_or_held(executor, name):
    shapes, function = COPIED_OR_HELD[name]
    data = [torch.rand(shape, dtype=torch.float64).requires_grad_() for shape in shapes]
    for which in range(len(shapes)):
        expected = overwritten(torch, lambda *a: function(torch, *a), (data, {}), which)
        ours = [jaxflow.tensor(t.detach().numpy(), requires_grad=True) for t in data]
        assert overwritten(jaxflow, lambda *a: function(jaxflow, *a), (ours, {}), which) == expected


@pytest.mark.parametrize("T", [torch, jaxflow], ids=lambda T: T.__name__)
def test_running_averages(executor, T):
    """They move without being counted: a pass before may still go on to backward. A write is counted."""
    for training in (False, True):
        for write in (False, True):
            norm = T.nn.BatchNorm1d(3).train(training)
            x = T.tensor([[0.5, 1.0, 2.0], [1.5, 0.0, 3.0]], requires_grad=True)
            loss = (norm(x) * x.detach()).sum()
            with T.no_grad():
                if write:
                    norm.running_var.fill_(9.0)
                else:
                    norm.train()(x + 1)
            if write:
                with pytest.raises(RuntimeError, match=REFUSED):
                    loss.backward()
                continue
            loss.backward()
            if not training and T is jaxflow:  # by the statistics that were there, which PyTorch overwrote
                torch.testing.assert_close(torch.tensor(x.grad.numpy()),
                                           torch.tensor(x.detach().numpy() / (1 + 1e-5) ** 0.5))


def test_ldexp_of_integers(executor):
    """Exponents are added: no power of two overflows on the way. Denormal numbers are XLA's business."""
    x, e = [3.0, 1e-30, 3e38, 0.0, -1.5], [2, 120, -250, 100000, -7]
    for dtype in ("float16", "float32", "float64"):
        found = jaxflow.ldexp(jaxflow.tensor(x, dtype=getattr(jaxflow, dtype)), jaxflow.tensor(e))
        expected = torch.ldexp(torch.tensor(x, dtype=getattr(torch, dtype)), torch.tensor(e))
        torch.testing.assert_close(torch.tensor(found.numpy()), expected, equal_nan=True)
