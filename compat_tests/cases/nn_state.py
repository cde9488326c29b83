"""Saving and loading module state: strictness, error text, assignment, extra state, overriding."""

from compat_tests.harness import case, each, raises, rand


def model(T):
    nn = T.nn
    m = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    m.register_buffer("offset", T.zeros(()))
    return m


def whole_error(call):
    """The full text of an error: `raises` compares its first line only."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return "no error"


def changed(T, change):
    state = model(T).state_dict()
    change(T, state)
    return state


CHANGES = dict(
    nothing=lambda T, s: None,
    missing=lambda T, s: (s.pop("0.bias"), s.pop("1.running_mean")),
    unexpected=lambda T, s: s.update({"0.more": T.ones(1), "other": T.ones(1), "2.weight": T.ones(1)}),
    shape=lambda T, s: s.update({"0.weight": T.ones(3, 3), "1.bias": T.ones(4)}),
    all_of_it=lambda T, s: (
        s.pop("0.bias"), s.update({"0.more": T.ones(1), "0.weight": T.ones(1, 1)})
    ),
    kind=lambda T, s: s.update({"0.weight": [1.0, 2.0], "0.bias": 3}),
    below=lambda T, s: s.update({"0.weight.deep": T.ones(1)}),
    old_scalar=lambda T, s: s.update({"offset": T.ones(1)}),
    dtype=lambda T, s: s.update({"0.weight": T.ones(3, 2, dtype=T.float64)}),
)


@each(**CHANGES)
def strict_load(T, change):
    m = model(T)
    result = []
    text = whole_error(lambda: result.append(repr(m.load_state_dict(changed(T, change)))))
    return text, result


@each(**CHANGES)
def lenient_load(T, change):
    m = model(T)
    result = []
    text = whole_error(
        lambda: result.append(repr(m.load_state_dict(changed(T, change), strict=False)))
    )
    return text, result


@case
def values_arrive(T):
    m = model(T)
    state = {k: rand(T, *v.shape).to(v.dtype) for k, v in m.state_dict().items()}
    weight = m[0].weight
    m.load_state_dict(state)
    return dict(m.state_dict()), m[0].weight is weight, m[0].weight.requires_grad


@case
def assign_keeps_the_given_tensors(T):
    m = model(T)
    m[0].weight.requires_grad_(False)
    state = {k: rand(T, *v.shape).to(v.dtype) for k, v in m.state_dict().items()}
    state["0.weight"] = state["0.weight"].double()
    state["0.bias"] = T.nn.Parameter(state["0.bias"], requires_grad=False)
    result = repr(m.load_state_dict(state, assign=True))
    return [
        result, m[0].weight, m[0].bias is state["0.bias"], m[0].bias.requires_grad,
        type(m[0].weight).__name__, m[1].running_mean is state["1.running_mean"],
        m[0].weight.requires_grad,
    ]


@case
def state_shares_memory(T):
    m = T.nn.Linear(2, 2)
    state = m.state_dict()
    with T.no_grad():
        state["weight"].fill_(5.0)
    return m.weight


@case
def destination_and_position(T):
    m = T.nn.Linear(2, 2)
    into = {"first": 1}
    result = m.state_dict(destination=into, prefix="p.")
    return result is into, list(into), list(m.state_dict({}, "q.")), list(m.state_dict(None, "r.", True))


@case
def extra_state(T):
    class Extra(T.nn.Module):
        def __init__(self, value):
            super().__init__()
            self.value = value

        def get_extra_state(self):
            return {"value": self.value}

        def set_extra_state(self, state):
            self.value = state["value"]

    a, b = T.nn.Sequential(Extra(1)), T.nn.Sequential(Extra(2))
    state = a.state_dict()
    b.load_state_dict(state)
    return [
        dict(state), b[0].value, whole_error(lambda: b.load_state_dict({})),
        whole_error(lambda: T.nn.Sequential(T.nn.ReLU()).load_state_dict(state)),
        raises(T.nn.Module().get_extra_state, phrase="get_extra_state()",
               because="where to report it is another project's tracker"),
    ]


@case
def overridden_methods(T):
    class Half(T.nn.Linear):
        _version = 3

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "weight"] = destination[prefix + "weight"] / 2

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            seen.append(dict(local_metadata))
            state_dict[prefix + "weight"] = state_dict[prefix + "weight"] * 2
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)
            seen.append(self.weight.detach().clone())

    seen = []
    m = T.nn.Sequential(Half(1, 1))
    with T.no_grad():
        m[0].weight.fill_(4.0)
    state = m.state_dict()
    result = repr(m.load_state_dict(state))
    return state["0.weight"], result, seen


@case
def first_version_of_batch_norm(T):
    m = T.nn.BatchNorm1d(2)
    state = {k: v for k, v in m.state_dict().items() if k != "num_batches_tracked"}
    return repr(m.load_state_dict(state)), m.num_batches_tracked


@case
def overridden_register_buffer(T):
    class Old(T.nn.Module):
        def register_buffer(self, name, tensor):
            super().register_buffer(name, tensor)

    m = Old()
    m.a = T.nn.Buffer(T.ones(1))
    return list(m._buffers), raises(lambda: setattr(m, "b", T.nn.Buffer(T.ones(1), persistent=False)))
