"""`nn.Module`: what it holds, how it is walked, moved, copied and printed, and what it refuses."""

import copy
import pickle

from compat_tests.harness import attempt, case, each, raises, rand, warns


def net(T):
    """Two linear layers and a buffer, with a shared parameter."""
    nn = T.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.last = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
            self.last[0].weight = self.first.weight
            self.register_buffer("count", T.zeros(2))
            self.register_buffer("hidden", T.ones(1), persistent=False)
            self.scale = nn.Parameter(T.ones(3))
            self.nothing = None

        def forward(self, x):
            return self.last(self.first(x)) * self.scale

        def extra_repr(self):
            return "two lines\nof it"

    return Net()


def names(pairs):
    return [name for name, _ in pairs]


@case
def text(T):
    nn = T.nn
    one = nn.Linear(1, 2)
    one.child = nn.ReLU()
    return [
        repr(net(T)), repr(nn.Module()), repr(one), repr(nn.Sequential(nn.Module(), nn.Sequential())),
        str(nn.Linear(2, 2, bias=False)),
    ]


@case
def walks(T):
    m = net(T)
    m.again = m.first
    return [
        names(m.named_parameters()),
        names(m.named_parameters(recurse=False)),
        names(m.named_parameters(prefix="p", remove_duplicate=False)),
        names(m.named_buffers()),
        names(m.named_buffers("b", False)),
        names(m.named_children()),
        names(m.named_modules()),
        names(m.named_modules(prefix="m", remove_duplicate=False)),
        [type(x).__name__ for x in m.modules()],
        [type(x).__name__ for x in m.children()],
        [tuple(p.shape) for p in m.parameters()],
        [tuple(b.shape) for b in m.buffers()],
        len(list(m.modules(remove_duplicate=False))),
    ]


@case
def state(T):
    m = net(T)
    plain, kept = m.state_dict(prefix="x."), m.state_dict(keep_vars=True)
    return [
        list(plain), list(kept), type(plain).__name__, type(plain["x.scale"]).__name__,
        type(kept["scale"]).__name__, kept["scale"] is m.scale, plain["x.scale"].requires_grad,
        dict(plain._metadata), dict(kept._metadata),
    ]


@case
def modes(T):
    m = net(T)
    before = [x.training for x in m.modules()]
    m.eval()
    after = [x.training for x in m.modules()]
    m.last.train()
    return before, after, [x.training for x in m.modules()], raises(lambda: m.train(1))


@case
def applies_children_first(T):
    seen = []
    m = net(T).apply(lambda x: seen.append(type(x).__name__))
    return seen, type(m).__name__


@case
def requires_grad(T):
    m = net(T).requires_grad_(False)
    return [p.requires_grad for p in m.parameters()], net(T).scale.requires_grad


@each(none=True, zero=False)
def zero_grad(T, set_to_none):
    m = net(T)
    m(T.ones(2, 3)).sum().backward()
    m.zero_grad(set_to_none=set_to_none)
    return [p.grad for p in m.parameters()]


@each(
    half=lambda m, T: m.half(), double=lambda m, T: m.double(), bfloat16=lambda m, T: m.bfloat16(),
    float=lambda m, T: m.half().float(), type=lambda m, T: m.type(T.float64),
    to_dtype=lambda m, T: m.to(T.float16), to_keyword=lambda m, T: m.to(dtype=T.float64),
    to_both=lambda m, T: m.to("cpu", T.float64), to_device=lambda m, T: m.to("cpu"),
    to_device_object=lambda m, T: m.to(T.device("cpu")), to_nothing=lambda m, T: m.to(),
    to_tensor=lambda m, T: m.to(T.ones(1, dtype=T.float64)), cpu=lambda m, T: m.cpu(),
    to_format=lambda m, T: m.to(memory_format=T.contiguous_format),
    to_complex=lambda m, T: m.to(T.complex64),
)
def conversion(T, convert):
    m = T.nn.BatchNorm1d(3)
    m(T.ones(2, 3) * rand(T, 2, 3)).sum().backward()
    weight = m.weight
    result, warned = warns(lambda: convert(m, T))
    return [
        result is m, m.weight is weight, type(m.weight).__name__, m.weight.dtype, m.weight.grad.dtype,
        m.running_mean.dtype, m.num_batches_tracked.dtype, m.weight.requires_grad,
        m.weight.is_leaf, len(warned),
    ]


@each(
    integer=lambda m, T: m.to(T.int32), twice=lambda m, T: m.to("cpu", "cpu"),
    unknown=lambda m, T: m.to(wrong=1), copy=lambda m, T: m.to(T.float32, True, False),
    dtype_kind=lambda m, T: m.to(dtype=3), device_name=lambda m, T: m.to("nowhere"),
    cuda=lambda m, T: m.to(dtype=T.int8, device="cpu"),
)
def conversion_refused(T, convert):
    return raises(lambda: convert(T.nn.Linear(2, 2), T))


@case
def assignment(T):
    nn = T.nn
    m = nn.Module()
    m.a = nn.Parameter(T.ones(2))
    m.a = None
    m.b = nn.Linear(1, 1)
    m.b = nn.ReLU()
    m.register_buffer("c", None)
    m.c = T.ones(1)
    m.d = 3
    m.d = nn.Parameter(T.zeros(1))
    m.e = nn.Buffer(T.ones(2), persistent=False)
    m.f = nn.Buffer(T.ones(2))
    m.f = T.zeros(3)
    m.g = T.ones(2)
    m.b = None
    m.c = nn.Parameter(T.ones(1))
    held = list(m._parameters), list(m._buffers), list(m._modules), list(m.state_dict())
    del m.d, m.e, m.b, m.g
    return held, list(m._parameters), list(m._buffers), list(m._modules), repr(m)


@each(
    parameter=lambda m, T: setattr(m, "weight", T.ones(2, 2)),
    parameter_number=lambda m, T: setattr(m, "weight", 3),
    module=lambda m, T: setattr(m, "sub", 3),
    buffer=lambda m, T: setattr(m, "buf", "text"),
    buffer_over_attribute=lambda m, T: setattr(m, "in_features", T.nn.Buffer(T.ones(1))),
    missing=lambda m, T: m.nope,
    delete=lambda m, T: delattr(m, "nope"),
    register_number=lambda m, T: m.register_buffer(3, None),
    register_dot=lambda m, T: m.register_buffer("a.b", None),
    register_empty=lambda m, T: m.register_buffer("", None),
    register_taken=lambda m, T: m.register_buffer("weight", None),
    register_kind=lambda m, T: m.register_buffer("q", 3),
    register_parameter_kind=lambda m, T: m.register_parameter("q", 3),
    register_parameter_tensor=lambda m, T: m.register_parameter("q", T.ones(1)),
    register_parameter_name=lambda m, T: m.register_parameter(None, None),
    register_parameter_dot=lambda m, T: m.register_parameter("a.b", None),
    register_parameter_empty=lambda m, T: m.register_parameter("", None),
    register_parameter_taken=lambda m, T: m.register_parameter("forward", None),
    add_module_kind=lambda m, T: m.add_module("q", 3),
    add_module_name=lambda m, T: m.add_module(None, T.nn.ReLU()),
    add_module_dot=lambda m, T: m.add_module("a.b", T.nn.ReLU()),
    add_module_empty=lambda m, T: m.add_module("", T.nn.ReLU()),
    add_module_taken=lambda m, T: m.register_module("weight", T.nn.ReLU()),
    get_submodule=lambda m, T: m.get_submodule("a.b"),
    get_submodule_kind=lambda m, T: m.get_submodule("weight"),
    get_parameter=lambda m, T: m.get_parameter("zz"),
    get_parameter_kind=lambda m, T: m.get_parameter("sub"),
    get_parameter_buffer=lambda m, T: m.get_parameter("buf"),
    get_buffer=lambda m, T: m.get_buffer("zz"),
    get_buffer_kind=lambda m, T: m.get_buffer("weight"),
    set_submodule_empty=lambda m, T: m.set_submodule("", T.nn.ReLU()),
    set_submodule_kind=lambda m, T: m.set_submodule("sub", 3),
    set_submodule_strict=lambda m, T: m.set_submodule("new", T.nn.ReLU(), strict=True),
    set_submodule_path=lambda m, T: m.set_submodule("a.b", T.nn.ReLU()),
    set_submodule_over=lambda m, T: m.set_submodule("weight", T.nn.ReLU()),
    no_forward=lambda m, T: T.nn.Module()(3),
    too_many=lambda m, T: T.nn.Module(3),
    unknown_keyword=lambda m, T: T.nn.Module(a=3),
    load_kind=lambda m, T: m.load_state_dict(3),
)
def refused(T, act):
    m = T.nn.Linear(2, 2)
    m.sub = T.nn.ReLU()
    m.register_buffer("buf", T.ones(1))
    return raises(lambda: act(m, T))


@each(
    parameter=lambda m, T: setattr(m, "x", T.nn.Parameter(T.ones(1))),
    module=lambda m, T: setattr(m, "x", T.nn.ReLU()),
    buffer=lambda m, T: setattr(m, "x", T.nn.Buffer(T.ones(1))),
    register=lambda m, T: m.register_buffer("x", None),
    number=lambda m, T: setattr(m, "x", 3),
    missing=lambda m, T: m.x,
)
def before_init(T, act):
    class Early(T.nn.Module):
        def __init__(self):
            act(self, T)

    return attempt(lambda: type(Early()).__name__)


@case
def non_leaf_parameter(T):
    m = T.nn.Module()
    p = T.nn.Parameter(T.ones(2))
    q = T.nn.Parameter(T.ones(2))
    q.data = (p * 2).detach()
    m.q = q
    return m.q


@case
def lookups(T):
    m = net(T)
    m.set_submodule("last.0", T.nn.Tanh())
    m.set_submodule("last.new", T.nn.ReLU())
    return [
        m.get_submodule("") is m, repr(m.get_submodule("last")), m.get_parameter("first.bias") is
        m.first.bias, m.get_buffer("count") is m.count,
    ]


@case
def call_super_init(T):
    class Mixin:
        def __init__(self, a, b=0):
            self.total = a + b

    class Net(T.nn.Module, Mixin):
        call_super_init = True

    return Net(1, b=2).total


@each(copy=copy.deepcopy, pickle=lambda m: pickle.loads(pickle.dumps(m)))
def duplicate(T, twice):
    m = T.nn.Sequential(T.nn.Linear(2, 2), T.nn.BatchNorm1d(2))
    m.append(m[0])
    m[0].weight.requires_grad_(False)
    m[0].weight.note = "kept"
    other = twice(m)
    x = rand(T, 3, 2)
    with T.no_grad():
        m[0].bias.fill_(7.0)
        for a, b in zip(m.eval().parameters(), other.eval().parameters()):
            b.copy_(a)
    return [
        repr(other), other[0] is other[2], other[0].weight is m[0].weight, type(other[0].weight).__name__,
        [p.requires_grad for p in other.parameters()], bool((other(x) == m(x)).all()),
        list(other.state_dict()) == list(m.state_dict()),
    ]


@case
def parameter(T):
    nn = T.nn
    data = T.ones(2)
    p = nn.Parameter(data)
    p.data.add_(1)
    frozen = nn.Parameter(T.zeros(1, dtype=T.long), requires_grad=False)
    again = copy.deepcopy(p)
    return [
        repr(p), data, p, frozen, repr(nn.Parameter()), again, again is p,
        isinstance(p, T.Tensor), isinstance(data, nn.Parameter), isinstance(nn.Parameter(p), nn.Parameter),
        type(p * 2).__name__, type(p.detach()).__name__, type(p.data).__name__,
        raises(lambda: nn.Parameter(T.ones(2, dtype=T.long))), p.is_leaf,
        raises(lambda: nn.Parameter(3)),
    ]


@case
def buffer(T):
    nn = T.nn
    b, c = nn.Buffer(T.ones(2)), nn.Buffer(persistent=False)
    return [
        type(b).__name__, b, b.persistent, c.persistent, tuple(c.shape), isinstance(b, nn.Buffer),
        isinstance(T.ones(2), nn.Buffer), isinstance(b, nn.Parameter),
    ]


@case
def directory(T):
    m = net(T)
    shown = dir(m)
    return [name in shown for name in ("first", "count", "scale", "forward", "training", "0")], (
        "0" in dir(m.last)
    )
