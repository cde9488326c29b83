"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict: everything they can do."""

from collections import OrderedDict

from compat_tests.harness import attempt, case, each, raises, rand


def sequence(T):
    nn = T.nn
    return nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Tanh())


@each(
    built=lambda s, nn: s,
    add=lambda s, nn: s + nn.Sequential(nn.GELU()),
    iadd=lambda s, nn: s.__iadd__(nn.Sequential(nn.GELU())),
    mul=lambda s, nn: s * 2,
    rmul=lambda s, nn: 2 * s,
    imul=lambda s, nn: s.__imul__(3),
    append=lambda s, nn: s.append(nn.ELU()),
    extend=lambda s, nn: s.extend([nn.ELU(), nn.CELU()]),
    insert_front=lambda s, nn: s.insert(0, nn.ELU()),
    insert_back=lambda s, nn: s.insert(-1, nn.ELU()),
    insert_end=lambda s, nn: s.insert(3, nn.ELU()),
    slice=lambda s, nn: s[1:],
    slice_step=lambda s, nn: s[::-2],
    item=lambda s, nn: s[-1],
    pop=lambda s, nn: [s.pop(0), s],
    pop_slice=lambda s, nn: [s.pop(slice(0, 2)), s],
    delete=lambda s, nn: [s.__delitem__(1), s],
    delete_slice=lambda s, nn: [s.__delitem__(slice(0, 2)), s],
    replace=lambda s, nn: [s.__setitem__(-1, nn.ELU()), s],
    named=lambda s, nn: nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh())),
    named_delete=lambda s, nn: [
        q := nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh(), c=nn.ELU())), q.__delitem__(0), q
    ],
    named_append=lambda s, nn: nn.Sequential(OrderedDict(a=nn.ReLU())).append(nn.ELU()),
    with_none=lambda s, nn: nn.Sequential(None),
    length=lambda s, nn: len(s),
    iterate=lambda s, nn: list(s),
    too_far=lambda s, nn: s[5],
    bad_index=lambda s, nn: s["0"],
    bad_add=lambda s, nn: s + 3,
    bad_iadd=lambda s, nn: s.__iadd__(3),
    bad_insert=lambda s, nn: s.insert(99, nn.ReLU()),
    bad_append=lambda s, nn: s.append(3),
    bad_extend=lambda s, nn: s.extend(3),
    bad_item=lambda s, nn: s.__setitem__(0, 3),
    bad_start=lambda s, nn: nn.Sequential(3),
    bad_start_dict=lambda s, nn: nn.Sequential({"a": nn.ReLU()}),
    bad_times=lambda s, nn: s * 0,
)
def sequential(T, act):
    return attempt(lambda: repr(act(sequence(T), T.nn)))


@case
def sequential_runs(T):
    nn = T.nn
    m = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1, bias=False))
    with T.no_grad():
        for p in m.parameters():
            p.copy_(rand(T, *p.shape))
    return m(rand(T, 4, 3)), list(m.state_dict())


@case
def sequential_insert_refuses_other_things(T):
    try:
        sequence(T).insert(0, 3)
    except AssertionError as error:
        return str(error).replace("jaxflow", "torch")


@each(
    built=lambda m, nn: m,
    empty=lambda m, nn: nn.ModuleList(),
    nested=lambda m, nn: nn.ModuleList([nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())]),
    one=lambda m, nn: nn.ModuleList([nn.ReLU()]),
    add=lambda m, nn: m + [nn.Tanh()],
    iadd=lambda m, nn: m.__iadd__([nn.Tanh()]),
    append=lambda m, nn: m.append(nn.Tanh()),
    extend=lambda m, nn: m.extend(nn.ModuleList([nn.Tanh()])),
    insert=lambda m, nn: [m.insert(1, nn.GELU()), m],
    slice=lambda m, nn: m[0:2],
    item=lambda m, nn: m[-1],
    pop=lambda m, nn: [m.pop(0), m],
    pop_slice=lambda m, nn: [m.pop(slice(0, 2)), m],
    replace=lambda m, nn: [m.__setitem__(0, nn.ELU()), m],
    delete=lambda m, nn: [m.__delitem__(0), m],
    delete_slice=lambda m, nn: [m.__delitem__(slice(1, None)), m],
    length=lambda m, nn: len(m),
    iterate=lambda m, nn: list(m),
    from_generator=lambda m, nn: nn.ModuleList(nn.ReLU() for _ in range(2)),
    too_far=lambda m, nn: m[5],
    bad_index=lambda m, nn: m["a"],
    bad_add=lambda m, nn: m + 3,
    bad_append=lambda m, nn: m.append(3),
    bad_extend=lambda m, nn: m.extend(3),
    bad_member=lambda m, nn: m.extend([3]),
    bad_start=lambda m, nn: nn.ModuleList(3),
    bad_item=lambda m, nn: m.__setitem__(0, 4),
    bad_place=lambda m, nn: m.__setitem__(9, nn.ELU()),
    bad_delete=lambda m, nn: m.__delitem__(7),
    call=lambda m, nn: m(1),
)
def module_list(T, act):
    nn = T.nn
    m = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()])
    return attempt(lambda: repr(act(m, nn)))


@each(
    built=lambda m, nn: m,
    keys=lambda m, nn: [list(m), list(m.keys()), list(m.values()), list(m.items())],
    member=lambda m, nn: ["a" in m, "z" in m, len(m), m["a"]],
    update=lambda m, nn: [m.update({"z": nn.Tanh(), "a": nn.ELU()}), m],
    update_pairs=lambda m, nn: [m.update([("q", nn.Tanh())]), m],
    update_dict=lambda m, nn: [m.update(nn.ModuleDict({"k": nn.Tanh()})), m],
    pop=lambda m, nn: [m.pop("a"), m],
    delete=lambda m, nn: [m.__delitem__("a"), m],
    clear=lambda m, nn: [m.clear(), m],
    replace=lambda m, nn: [m.__setitem__("a", nn.Mish()), m],
    from_pairs=lambda m, nn: nn.ModuleDict([["a", nn.ReLU()]]),
    attribute=lambda m, nn: m.a,
    missing=lambda m, nn: m["x"],
    bad_pop=lambda m, nn: m.pop("zz"),
    bad_update=lambda m, nn: m.update(3),
    bad_pairs=lambda m, nn: m.update([3]),
    long_pairs=lambda m, nn: m.update([(1, 2, 3)]),
    bad_value=lambda m, nn: m.__setitem__("k", 3),
    bad_key=lambda m, nn: nn.ModuleDict({3: nn.ReLU()}),
    dotted_key=lambda m, nn: nn.ModuleDict({"x.y": nn.ReLU()}),
    taken_key=lambda m, nn: nn.ModuleDict({"type": nn.ReLU()}),
    bad_start=lambda m, nn: nn.ModuleDict(3),
    call=lambda m, nn: m(1),
)
def module_dict(T, act):
    nn = T.nn
    return attempt(lambda: repr(act(nn.ModuleDict({"b": nn.Linear(1, 1), "a": nn.ReLU()}), nn)))


@each(
    built=lambda p, T: p,
    empty=lambda p, T: T.nn.ParameterList(),
    one=lambda p, T: T.nn.ParameterList([T.ones(1)]),
    item=lambda p, T: p[-1],
    slice=lambda p, T: p[1:],
    append=lambda p, T: p.append(T.ones(1)),
    extend=lambda p, T: p.extend([1.5, T.ones(1)]),
    extend_list=lambda p, T: p.extend(T.nn.ParameterList([4])),
    iadd=lambda p, T: p.__iadd__([4]),
    replace=lambda p, T: [p.__setitem__(0, T.zeros(1)), p, list(p.parameters())],
    listing=lambda p, T: [list(p), len(p), list(p.state_dict()), list(p.parameters())],
    half=lambda p, T: p.half(),
    too_far=lambda p, T: p[9],
    bad_index=lambda p, T: p["a"],
    bad_item=lambda p, T: p.__setitem__(0, 5),
    bad_place=lambda p, T: p.__setitem__(9, 5),
    bad_extend=lambda p, T: p.extend(3),
    bad_start=lambda p, T: T.nn.ParameterList(3),
    integer=lambda p, T: p.append(T.ones(1, dtype=T.long)),
    call=lambda p, T: p(),
)
def parameter_list(T, act):
    p = T.nn.ParameterList([T.ones(2), T.nn.Parameter(T.zeros(2, 3)), 3, "a"])
    return attempt(lambda: repr(act(p, T)))


@each(
    built=lambda d, T: d,
    empty=lambda d, T: T.nn.ParameterDict(),
    listing=lambda d, T: [list(d), list(d.keys()), list(d.values()), list(d.items()), len(d)],
    ordered=lambda d, T: list(T.nn.ParameterDict(OrderedDict(b=1, a=2))),
    backwards=lambda d, T: list(reversed(d)),
    state=lambda d, T: [list(d.state_dict()), list(d.parameters())],
    get=lambda d, T: [d.get("b"), d.get("x"), d.get("x", 3)],
    member=lambda d, T: ["b" in d, "x" in d, d["c"], d.b],
    update=lambda d, T: [d.update({"z": T.ones(1), "d": 2}), d],
    update_pairs=lambda d, T: [d.update([("q", T.ones(1))]), d],
    pop=lambda d, T: [d.pop("b"), d],
    popitem=lambda d, T: [d.popitem(), d],
    delete=lambda d, T: [d.__delitem__("b"), d],
    clear=lambda d, T: [d.clear(), d],
    setdefault=lambda d, T: [d.setdefault("n", T.ones(1)), d.setdefault("n"), d],
    fromkeys=lambda d, T: [d.fromkeys(["x", "y"]), d.fromkeys(["x"], T.ones(1))],
    union=lambda d, T: d | T.nn.ParameterDict({"o": T.ones(1)}),
    union_dict=lambda d, T: {"o": T.ones(1)} | d,
    update_in_place=lambda d, T: d.__ior__({"o": T.ones(1)}),
    copy=lambda d, T: d.copy(),
    pairs=lambda d, T: T.nn.ParameterDict([["z", T.ones(2)], ["a", T.ones(1)]]),
    missing=lambda d, T: d["x"],
    bad_pop=lambda d, T: d.pop("zz"),
    bad_key=lambda d, T: d[3],
    bad_update=lambda d, T: d.update(3),
    bad_pairs=lambda d, T: d.update([3]),
    long_pairs=lambda d, T: d.update([(1, 2, 3)]),
    bad_delete=lambda d, T: d.__delitem__("zz"),
    dotted_key=lambda d, T: d.__setitem__("x.y", T.ones(1)),
    union_number=lambda d, T: d | 3,
)
def parameter_dict(T, act):
    d = T.nn.ParameterDict({"b": T.ones(2), "a": T.nn.Parameter(T.zeros(2, 3)), "c": 3})
    return attempt(lambda: repr(act(d, T)))


@case
def names_of_children_are_not_listed(T):
    nn = T.nn
    return ["0" in dir(nn.ModuleList([nn.ReLU()])), "0" in dir(nn.Sequential(nn.ReLU()))], raises(
        lambda: nn.ModuleList([nn.ReLU()]).missing
    )
