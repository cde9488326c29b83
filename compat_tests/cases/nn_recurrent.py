"""RNN, LSTM and GRU over sequences: results, gradients, names of parameters, refusals."""

import copy

from compat_tests.cases.nn_layers import filled
from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand

_OPTIONS = {
    "plain": {}, "two": {"num_layers": 2}, "no_bias": {"bias": False},
    "batch_first": {"batch_first": True}, "both_ways": {"bidirectional": True},
    "everything": {"num_layers": 2, "bidirectional": True, "batch_first": True},
}
_KINDS = {
    "RNN": lambda nn, **kw: nn.RNN(3, 4, **kw),
    "relu": lambda nn, **kw: nn.RNN(3, 4, nonlinearity="relu", **kw),
    "GRU": lambda nn, **kw: nn.GRU(3, 4, **kw),
    "LSTM": lambda nn, **kw: nn.LSTM(3, 4, **kw),
    "projected": lambda nn, **kw: nn.LSTM(3, 4, proj_size=2, **kw),
}
_ROWS = {f"{k}_{o}": (_KINDS[k], _OPTIONS[o]) for k in _KINDS for o in _OPTIONS}


def last_states(found):
    return found if isinstance(found, tuple) else (found,)


def make(T, row):
    build, options = row
    return filled(T, build(T.nn, **options)).double()


@each(**_ROWS)
def values_and_gradients(T, row):
    net = make(T, row)
    x = leaf(T, 2, 5, 3, dtype="float64")
    output, lasts = net(x)
    total = (output * output.sin()).sum() + sum((h * h).sum() for h in last_states(lasts))
    total.backward()
    return (
        AnyStrides((output.detach(), [h.detach() for h in last_states(lasts)])), output.stride(),
        AnyStrides((x.grad, {name: p.grad for name, p in net.named_parameters()})),
    )


@each(**{k: (_KINDS[k], _OPTIONS["everything"]) for k in _KINDS})
def states_given(T, row):
    net = make(T, row)
    x = rand(T, 2, 5, 3, dtype="float64")
    size = getattr(net, "proj_size", 0) or 4
    h, c = leaf(T, 4, 2, size, dtype="float64"), leaf(T, 4, 2, 4, dtype="float64")
    output, lasts = net(x, (h, c) if net.mode == "LSTM" else h)
    (output.exp().sum() + sum(h.sum() for h in last_states(lasts))).backward()
    return AnyStrides((output.detach(), h.grad, c.grad))


@each(**{k: (_KINDS[k], {"batch_first": True}) for k in _KINDS})
def without_a_batch(T, row):
    net = make(T, row)
    output, lasts = net(rand(T, 5, 3, dtype="float64"))
    return AnyStrides((output.detach(), [h.detach() for h in last_states(lasts)]))


@each(**{k: (_KINDS[k], {}) for k in _KINDS if k != "projected"})
def nodes(T, row):
    found = []
    for dtype in ("float64", "float32"):
        net = make(T, row).to(getattr(T, dtype))
        output, lasts = net(leaf(T, 5, 2, 3, dtype=dtype))
        found.append((output.grad_fn, [h.grad_fn for h in last_states(lasts)]))
    return found


@each(**_ROWS)
def parameters_and_text(T, row):
    net = row[0](T.nn, **row[1])
    return (
        repr(net), {n: p.shape == q.shape and tuple(p.shape) for (n, p), q in zip(
            net.named_parameters(), net._flat_weights, strict=True)},
        net._all_weights, list(net.state_dict()), net.mode, net.flatten_parameters(),
    )


@case
def positional_nonlinearity(T):
    net = T.nn.RNN(3, 4, 2, "relu", False)
    return net.mode, net.nonlinearity, repr(net), T.nn.RNN(3, 4).nonlinearity


@case
def state_dict_and_copies(T):
    net = make(T, (_KINDS["LSTM"], {"num_layers": 2}))
    other = T.nn.LSTM(3, 4, 2).double()
    loaded = str(other.load_state_dict(net.state_dict()))
    x = rand(T, 5, 2, 3, dtype="float64")
    return loaded, AnyStrides((other(x)[0].detach(), copy.deepcopy(net)(x)[0].detach()))


@case
def dropout_between_layers(T):
    net = make(T, (_KINDS["GRU"], {"num_layers": 2, "dropout": 0.999}))
    x = rand(T, 5, 2, 3, dtype="float64")
    evaluated = net.eval()(x)[0].detach()
    return AnyStrides(evaluated), bool(T.allclose(evaluated, net.train()(x)[0]))


@case
def training_over_steps(T):
    # hidden states are detached between pieces, as in language modelling
    net, head = make(T, (_KINDS["LSTM"], {})), filled(T, T.nn.Linear(4, 3)).double()
    optimizer = T.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
    state, losses = None, []
    for _ in range(3):
        output, state = net(rand(T, 4, 2, 3, dtype="float64"), state)
        state = tuple(s.detach() for s in state)
        loss = T.nn.functional.cross_entropy(head(output).flatten(0, 1), T.arange(8) % 3)
        optimizer.zero_grad()
        loss.backward()
        T.nn.utils.clip_grad_norm_(net.parameters(), 0.25)
        optimizer.step()
        losses.append(loss.item())
    return losses, AnyStrides(net.weight_hh_l0.detach())


@case
def second_order(T):
    net = make(T, (_KINDS["GRU"], {}))
    x = leaf(T, 3, 1, 3, dtype="float64")
    (g,) = T.autograd.grad((net(x)[0] ** 2).sum(), x, create_graph=True)
    (g**2).sum().backward()
    return AnyStrides((x.grad, net.weight_ih_l0.grad))


@each(RNN=_KINDS["RNN"], GRU=_KINDS["GRU"], LSTM=_KINDS["LSTM"])
def calls_refused(T, build):
    net = build(T.nn)

    def state(*shape):
        return (T.ones(shape), T.ones(shape)) if net.mode == "LSTM" else T.ones(shape)

    return (
        raises(lambda: net(T.ones(5))), raises(lambda: net(T.ones(5, 2, 7))),
        raises(lambda: net(T.ones(5, 2, 3), state(1, 3, 4))),
        raises(lambda: net(T.ones(5, 2, 3), state(2, 4))),
        raises(lambda: net(T.ones(5, 3), state(1, 2, 4))),
        raises(lambda: net(T.ones(5, 2, 3, dtype=T.float64))),
        raises(lambda: net(T.ones(0, 2, 3))), attempt(lambda: net(T.ones(5, 0, 3))[0].shape == (5, 0, 4)),
    )


@each(
    nonlinearity=lambda nn: nn.RNN(3, 4, nonlinearity="foo"), mode=lambda nn: nn.RNNBase("X", 3, 4),
    hidden=lambda nn: nn.LSTM(3, 0),
    layers=lambda nn: nn.LSTM(3, 4, num_layers=0), dropout=lambda nn: nn.LSTM(3, 4, dropout=2),
    projection=lambda nn: nn.LSTM(3, 4, proj_size=4), negative=lambda nn: nn.LSTM(3, 4, proj_size=-1),
    gru=lambda nn: nn.GRU(3, 4, proj_size=2), float_=lambda nn: nn.LSTM(3.0, 4),
    float_hidden=lambda nn: nn.GRU(3, 4.0), input=lambda nn: nn.RNN(0, 4),
)
def sizes_refused(T, build):
    return raises(lambda: build(T.nn))


@case
def dropout_of_one_layer_warns(T):
    return T.nn.LSTM(3, 4, dropout=0.5).dropout
