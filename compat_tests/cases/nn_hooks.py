"""Hooks of modules: order, what they may change, removal, errors, and gradients through them."""

import copy

from compat_tests.harness import AnyStrides, case, each, leaf, raises, rand, warns


def linear(T):
    m = T.nn.Linear(2, 3)
    with T.no_grad():
        for p in m.parameters():
            p.copy_(rand(T, *p.shape))
    return m


@case
def order_of_calls(T):
    m, seen = linear(T), []
    m.register_forward_pre_hook(lambda m, a: seen.append("pre 1"))
    m.register_forward_pre_hook(lambda m, a: seen.append("pre 2"))
    m.register_forward_pre_hook(lambda m, a: seen.append("pre 0"), prepend=True)
    m.register_forward_hook(lambda m, a, o: seen.append("post 1"))
    last = m.register_forward_hook(lambda m, a, o: seen.append("post 2"))
    m.register_forward_hook(lambda m, a, o: seen.append("post 0"), prepend=True)
    m(T.ones(1, 2))
    last.remove()
    last.remove()
    m(T.ones(1, 2))
    with m.register_forward_hook(lambda m, a, o: seen.append("inside")):
        m(T.ones(1, 2))
    m(T.ones(1, 2))
    return seen


@each(
    one=lambda m, a: a[0] * 2, several=lambda m, a: (a[0] * 3,), none=lambda m, a: None,
)
def pre_hook_changes_arguments(T, hook):
    m = linear(T)
    m.register_forward_pre_hook(hook)
    return m(T.ones(2, 2))


@case
def hooks_with_keywords(T):
    class Scale(T.nn.Module):
        def forward(self, x, by=1.0):
            return x * by

    m, seen = Scale(), []
    m.register_forward_pre_hook(lambda m, a, k: ((a[0] + 1,), {"by": k["by"] * 2}), with_kwargs=True)
    m.register_forward_hook(
        lambda m, a, k, o: seen.append((len(a), dict(k), o)), with_kwargs=True
    )
    m.register_forward_hook(lambda m, a, o: o + 100)
    return m(T.ones(2), by=3.0), seen


@case
def pre_hook_with_keywords_must_return_both(T):
    m = linear(T)
    m.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    return raises(lambda: m(T.ones(1, 2)))


@case
def hook_always_called(T):
    m, seen = linear(T), []

    def note(m, a, o):
        seen.append(o is None)
        return o

    def fail(m, a, o):
        seen.append("fails")
        raise ValueError("in the hook")

    m.register_forward_hook(note, always_call=True)
    m.register_forward_hook(lambda m, a, o: seen.append("not on errors"))
    error = raises(lambda: m(T.ones(3, 3)))
    fine = m(T.ones(1, 2))
    m.register_forward_hook(fail, always_call=True)
    both = warns(lambda: raises(lambda: m(T.ones(3, 3))))
    return error, fine, both[0], both[1], raises(lambda: m(T.ones(1, 2))), seen


@case
def full_backward_hooks(T):
    m, seen = linear(T), []
    x = leaf(T, 4, 2)
    m.register_full_backward_pre_hook(lambda m, go: seen.append(("pre", go)))
    handle = m.register_full_backward_hook(lambda m, gi, go: seen.append(("full", gi, go)))
    out = m(x)
    names = type(out.grad_fn).__name__, out.grad_fn.name()
    (out * rand(T, 4, 3)).sum().backward()
    handle.remove()
    m(x).sum().backward()
    return names, AnyStrides(seen), AnyStrides([x.grad, m.weight.grad])


@case
def full_backward_hooks_change_gradients(T):
    m, x = linear(T), leaf(T, 4, 2)
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 2,))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] + 1,), prepend=True)
    (m(x) * rand(T, 4, 3)).sum().backward()
    return AnyStrides([x.grad, m.weight.grad])


@case
def full_backward_hook_of_several(T):
    class Several(T.nn.Module):
        def forward(self, x, n, y, z=None):
            return x * n, y.detach(), y * x

    m, seen = Several(), []
    x, y = leaf(T, 3), leaf(T, 3)
    m.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    a, b, c = m(x, 3, y, z=x)
    (a.sum() + (c * c).sum()).backward()
    return AnyStrides(seen), x.grad, y.grad, b.requires_grad, type(a).__name__


@case
def full_backward_hook_without_input_gradients(T):
    m, seen = linear(T), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    _, warned = warns(lambda: m(T.ones(1, 2)).sum().backward())
    return AnyStrides(seen), m.weight.grad, warned


@case
def full_backward_hook_may_not_make_gradients(T):
    m = linear(T)
    m.register_full_backward_hook(lambda m, gi, go: (go[0],))

    def act():
        m(T.ones(1, 2)).sum().backward()

    return warns(lambda: raises(act))


@each(
    hook=lambda m: m.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0])),
    pre_hook=lambda m: m.register_full_backward_pre_hook(lambda m, go: (go[0], go[0])),
)
def full_backward_hook_returns_too_many(T, register):
    m = linear(T)
    register(m)
    x = leaf(T, 1, 2)
    return raises(lambda: m(x).sum().backward())


@case
def full_backward_hook_in_no_grad(T):
    m = linear(T)
    m.register_full_backward_hook(lambda m, gi, go: None)
    with T.no_grad():
        return m(leaf(T, 1, 2))


@case
def full_backward_hook_second_order(T):
    m, x, seen = T.nn.Tanh(), leaf(T, 3), []
    m.register_full_backward_hook(lambda m, gi, go: seen.append(len(gi)))
    (g,) = T.autograd.grad(m(x).sum(), x, create_graph=True)
    g.sum().backward()
    return g.detach(), x.grad, seen[0]


@case
def output_for_backward_hooks(T):
    class Pair(T.nn.Module):
        def forward(self, x):
            return [x * 2, x * 3]

    m = Pair()
    m.register_full_backward_hook(lambda m, gi, go: None)
    out, warned = warns(lambda: m(leaf(T, 2)))
    return len(out), warned


@case
def kinds_of_backward_hooks_do_not_mix(T):
    m, n = linear(T), linear(T)
    m.register_full_backward_hook(lambda *a: None)
    n.register_backward_hook(lambda *a: None)
    return (
        raises(lambda: m.register_backward_hook(lambda *a: None)),
        raises(lambda: n.register_full_backward_hook(lambda *a: None)),
    )


@case
def old_backward_hook(T):
    m, seen = T.nn.Tanh(), []
    m.register_backward_hook(lambda m, gi, go: seen.append((gi, go)))
    x = leaf(T, 3)
    _, warned = warns(lambda: m(x * 1).sum().backward())
    return AnyStrides(seen), x.grad, warned


@each(dict_="dict", tuple_="tuple", number="number", several="several")
def old_backward_hook_warns(T, what):
    class Odd(T.nn.Module):
        def forward(self, x, n=2):
            results = {
                "dict": {"a": x * 2}, "tuple": (x * 2, x * 3), "number": x * n,
                "several": (x * 2).exp(),
            }
            return results[what]

    m = Odd()
    m.register_backward_hook(lambda m, gi, go: None)
    args = (leaf(T, 2), 3) if what == "number" else (leaf(T, 2),)
    return warns(lambda: m(*args))[1]


@case
def global_hooks(T):
    from_module = T.nn.modules.module
    m, seen = T.nn.Sequential(linear(T), T.nn.ReLU()), []
    handles = [
        from_module.register_module_forward_pre_hook(
            lambda m, a: seen.append(("pre", type(m).__name__))),
        from_module.register_module_forward_hook(
            lambda m, a, o: seen.append(("post", type(m).__name__))),
        from_module.register_module_full_backward_pre_hook(
            lambda m, go: seen.append(("back pre", type(m).__name__))),
        from_module.register_module_full_backward_hook(
            lambda m, gi, go: seen.append(("back", type(m).__name__))),
    ]
    try:
        m[0].register_forward_hook(lambda m, a, o: seen.append("own"))
        m(leaf(T, 1, 2)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    m(leaf(T, 1, 2))
    return seen


@case
def registration_hooks(T):
    from_module = T.nn.modules.module
    seen = []
    handles = [
        from_module.register_module_parameter_registration_hook(
            lambda m, n, p: seen.append(("parameter", n))),
        from_module.register_module_buffer_registration_hook(
            lambda m, n, b: seen.append(("buffer", n))),
        from_module.register_module_module_registration_hook(
            lambda m, n, s: seen.append(("module", n))),
        from_module.register_module_buffer_registration_hook(
            lambda m, n, b: None if b is None else b + 1),
    ]
    try:
        m = T.nn.Module()
        m.a = T.nn.Parameter(T.ones(1))
        m.register_buffer("b", T.zeros(1))
        m.c = T.nn.ReLU()
        m.add_module("d", T.nn.ReLU())
    finally:
        for handle in handles:
            handle.remove()
    return seen, m.b


@case
def state_dict_hooks(T):
    m, seen = T.nn.Sequential(linear(T)), []
    m[0].register_state_dict_pre_hook(lambda m, p, k: seen.append(("pre", p, k)))
    m[0].register_state_dict_post_hook(
        lambda m, s, p, meta: (seen.append((list(s), p, dict(meta))), s.pop(p + "bias"))[0])
    m._register_state_dict_hook(lambda m, s, p, meta: {"all": s["0.weight"]})
    return list(m.state_dict(keep_vars=True)), seen


@case
def state_dict_post_hook_returns_nothing(T):
    m = linear(T)
    m.register_state_dict_post_hook(lambda *a: 3)
    return raises(m.state_dict)


@case
def state_dict_hook_of_one_kind(T):
    m = linear(T)

    def hook(*args):
        return None

    m.register_state_dict_post_hook(hook)
    return raises(lambda: m._register_state_dict_hook(hook))


@case
def load_hooks(T):
    m, seen = T.nn.Sequential(linear(T)), []
    old = {"0.w": T.ones(3, 2), "0.bias": T.zeros(3)}

    def rename(module, state, prefix, meta, strict, missing, unexpected, errors):
        seen.append((type(module).__name__, list(state), prefix, dict(meta), strict))
        state[prefix + "weight"] = state.pop(prefix + "w")

    m[0].register_load_state_dict_pre_hook(rename)
    m[0]._register_load_state_dict_pre_hook(lambda state, *rest: seen.append(len(rest)))
    m.register_load_state_dict_post_hook(lambda m, keys: seen.append(keys))
    result = repr(m.load_state_dict(old))
    other = copy.deepcopy(m)
    other.load_state_dict({"0.w": T.ones(3, 2), "0.bias": T.ones(3)})
    return result, seen, m[0].weight, m[0].bias, other[0].bias


@case
def load_post_hook_may_forgive(T):
    m = linear(T)
    m.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    result = m.load_state_dict({"weight": T.ones(3, 2)})
    return repr(result), m.weight


@case
def load_post_hook_returns_nothing(T):
    m = linear(T)
    m.register_load_state_dict_post_hook(lambda m, keys: 3)
    try:
        m.load_state_dict(m.state_dict())
    except AssertionError as error:
        return str(error)
