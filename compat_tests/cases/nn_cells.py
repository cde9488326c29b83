"""Recurrent cells as functions: results, nodes, first and second gradients, and what they refuse."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand

CELLS = {"rnn_tanh_cell": 1, "rnn_relu_cell": 1, "gru_cell": 3, "lstm_cell": 4}
SIZE, IN = 2, 3


def states(T, name, n=4, **options):
    count = 2 if name == "lstm_cell" else 1
    return [rand(T, n, SIZE, **options) for _ in range(count)]


def weights(T, name, *, bias=True, **options):
    rows = CELLS[name] * SIZE
    shapes = [(rows, IN), (rows, SIZE), (rows,), (rows,)]
    return [rand(T, *shape, **options) for shape in shapes[: 4 if bias else 2]]


def run(T, name, input, hx, given):
    found = getattr(T, name)(input, hx if name == "lstm_cell" else hx[0], *given)
    return list(found) if name == "lstm_cell" else [found]


@each(**{name: name for name in CELLS})
def gradients(T, name):
    options = {"dtype": "float64", "requires_grad": True}
    hx = states(T, name, **options)
    given = [rand(T, 4, IN, **options), *hx, *weights(T, name, **options)]
    found = run(T, name, given[0], hx, given[1 + len(hx):])
    total = sum((f * rand(T, *f.shape, dtype="float64")).sum() for f in found)
    first = T.autograd.grad(total, given, create_graph=True)
    second = T.autograd.grad(sum((g * g).sum() for g in first), given)
    return found, AnyStrides([g.detach() for g in first]), AnyStrides(list(second))


@each(**{name: name for name in CELLS})
def without_biases_or_a_batch_of_any(T, name):
    """And the bias of the input alone; the other cannot be given alone by position."""
    given = weights(T, name, requires_grad=True)
    found = []
    for rows in (4, 0):
        for count in (2, 3, 4):
            found += run(T, name, rand(T, rows, IN), states(T, name, rows), given[:count])
    return found


@each(**{name: name for name in CELLS})
def overwritten_before_backward(T, name):
    """Each operand, and each result, in turn: which of them PyTorch refuses."""
    found = []
    for which in range(8):
        hx = [h * 1 for h in states(T, name, requires_grad=True)]
        given = [leaf(T, 4, IN) * 1, *hx, *(w * 1 for w in weights(T, name, requires_grad=True))]
        results = run(T, name, given[0], hx, given[1 + len(hx):])
        total = sum(r.sum() for r in results)
        operands = [*given, *results]
        if which < len(operands):
            with T.no_grad():
                operands[which].mul_(2)
            # Not the message: it names PyTorch's transposed views of the weights.
            found.append(getattr(attempt(lambda total=total: total.backward()), "kind", None))
    return found


SIZES = {
    "input": ((4, 5), (4, 2), (1, 3), (1, 2)),
    "batch": ((4, 3), (3, 2), (1, 3), (1, 2)),
    "hidden": ((4, 3), (4, 1), (1, 3), (1, 2)),
    "no_batch": ((3,), (2,), (1, 3), (1, 2)),
    "rows_ih": ((4, 3), (4, 2), (2, 3), (1, 2)),
    "rows_hh": ((4, 3), (4, 2), (1, 3), (2, 2)),
}


@each(**SIZES)
def refused(T, row):
    input, state, ih, hh = row
    found = []
    for name, gates in CELLS.items():
        hx = [rand(T, *state)] * (2 if name == "lstm_cell" else 1)
        ws = [rand(T, shape[0] * gates * SIZE, shape[1]) for shape in (ih, hh)]
        found.append(raises(lambda: run(T, name, rand(T, *input), hx, ws)))  # noqa: B023 - called at once
    return found


@case
def of_other_kinds(T):
    x, ws = rand(T, 4, IN), weights(T, "lstm_cell")
    h, c = states(T, "lstm_cell")
    wider = T.lstm_cell(x, (h, c.double()), *ws)
    return [
        raises(lambda: T.lstm_cell(x, (h,), *ws)),
        raises(lambda: T.lstm_cell(x, T.stack([h, c]), *ws)),
        raises(lambda: T.lstm_cell(x.double(), (h, c), *ws)),
        raises(lambda: T.lstm_cell(x, (h.double(), c), *ws)),
        raises(lambda: T.lstm_cell(x, (h, c), *ws[:2], ws[2][:3])),
        [t.float() for t in wider],  # where PyTorch rounds the gates to float32 first
        [str(t.dtype) for t in wider],
    ]
