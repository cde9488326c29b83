"""Graphs of Python code: the same nodes, the same text, the same values and errors as PyTorch's."""

import copy
import math
import operator
import pickle
import re
import typing
import warnings

import pytest
import torch
import torch.fx.passes.shape_prop
import torch.fx.passes.split_module
from torch.fx.experimental import proxy_tensor
from torch.fx.passes.utils import matcher_utils

import jaxflow
import jaxflow.fx
import jaxflow.fx.experimental.optimization
import jaxflow.fx.experimental.proxy_tensor
import jaxflow.fx.passes.shape_prop
import jaxflow.fx.passes.split_module
import jaxflow.fx.passes.utils.matcher_utils
from compat_tests.both import check_both

with warnings.catch_warnings():  # of TorchScript's names, which PyTorch's module has
    warnings.simplefilter("ignore", DeprecationWarning)
    import torch.fx.experimental.optimization


def doubled(x):
    """A function that is recorded whole."""
    return x * 2 if len(x) else x


torch.fx.wrap("doubled")
jaxflow.fx.wrap("doubled")


def text(graph):
    """All that a graph says of itself."""
    nodes = [(n.op, n.name, str(n.args), str(n.kwargs), n.target if isinstance(n.target, str) else None,
              [u.name for u in n.users]) for n in graph.nodes]
    return str(graph), nodes, graph.python_code("self").src


# ------------------------------------------------------------------------------ what is done with an input

FUNCTIONAL = """
F.relu(x)|F.relu(x, True)|F.gelu(x)|F.linear(x, x)|F.linear(x, x, bias=x)|F.softmax(x, dim=-1)
F.log_softmax(x, 1)|F.dropout(x)|F.dropout(x, p=0.1, training=False)|F.layer_norm(x, (3,))
F.layer_norm(x, (3,), x)|F.group_norm(x, 2)|F.batch_norm(x, None, None)|F.instance_norm(x)
F.max_pool1d(x, 2)|F.max_pool2d(x, 2, stride=1)|F.avg_pool2d(x, 2)|F.max_pool2d(x, 2, return_indices=True)
F.adaptive_avg_pool2d(x, 1)|F.adaptive_max_pool2d(x, 1)|F.adaptive_avg_pool1d(x, 1)|F.avg_pool1d(x, 2)
F.lp_pool2d(x, 1, 1)|F.max_unpool2d(x, x, 1)|F.conv2d(x, x)|F.conv1d(x, x, padding=1)
F.conv_transpose2d(x, x)|F.unfold(x, 2)|F.fold(x, 1, 1)|F.pad(x, (1, 2))
F.interpolate(x, scale_factor=2.0)|F.interpolate(x, 2)|F.grid_sample(x, x)|F.affine_grid(x, [1])
F.pixel_shuffle(x, 2)|F.one_hot(x, 3)|F.embedding(x, x)|F.embedding_bag(x, x)|F.normalize(x)|F.glu(x)
F.elu(x)|F.celu(x)|F.selu(x)|F.silu(x)|F.mish(x)|F.hardswish(x)|F.hardsigmoid(x)|F.hardtanh(x)|F.relu6(x)
F.leaky_relu(x, 0.2)|F.rrelu(x)|F.prelu(x, x)|F.threshold(x, 1, 2)|F.softplus(x)|F.softshrink(x)
F.hardshrink(x)|F.softsign(x)|F.tanhshrink(x)|F.logsigmoid(x)|F.softmin(x)|F.tanh(x)|F.sigmoid(x)
F.gumbel_softmax(x)|F.alpha_dropout(x)|F.feature_alpha_dropout(x)|F.dropout1d(x)|F.dropout2d(x)
F.dropout3d(x)|F.rms_norm(x, (1,))|F.local_response_norm(x, 1)|F.cross_entropy(x, x)|F.nll_loss(x, x)
F.mse_loss(x, x)|F.l1_loss(x, x)|F.smooth_l1_loss(x, x)|F.huber_loss(x, x)|F.kl_div(x, x)
F.binary_cross_entropy(x, x)|F.binary_cross_entropy_with_logits(x, x)|F.ctc_loss(x, x, x, x)
F.cosine_similarity(x, x)|F.bilinear(x, x, x)|F.pairwise_distance(x, x)|F.cosine_embedding_loss(x, x, x)
F.hinge_embedding_loss(x, x)|F.soft_margin_loss(x, x)|F.margin_ranking_loss(x, x, x)
F.triplet_margin_loss(x, x, x)|F.multi_margin_loss(x, x)|F.multilabel_margin_loss(x, x)
F.poisson_nll_loss(x, x)|F.gaussian_nll_loss(x, x, x)|F.scaled_dot_product_attention(x, x, x)
F.scaled_dot_product_attention(x, x, x, is_causal=True)
"""

TOP = """
T.relu(x)|T.add(x, 1)|T.add(T.ones(2), x)|T.flatten(x, 1)|T.flatten(input=x, start_dim=1)
T.add(input=x, other=x)|T.cat([x, T.ones(2)], dim=1)|T.stack((x, x))|T.einsum('a,b->ab', x, x)
T.split(x, 2)|T.split(x, [1, 2], dim=1)|T.chunk(x, 2)|T.unbind(x)|T.norm(x)
T.meshgrid(x, x, indexing='ij')|T.cdist(x, x)|T.tensordot(x, x)|T.unique(x)|T.block_diag(x, x)
T.atleast_1d(x)|T.broadcast_tensors(x, x)|T.zeros(x.shape)|T.zeros(2, device=x.device, dtype=x.dtype)
T.full((x.size(0),), 1)|T.arange(x.shape[0], device=x.device)|T.zeros_like(x)|T.rand_like(x)
T.where(x > 0, x, -x)|T.linalg.norm(x)|T.linalg.inv(x)|T.fft.rfft(x, n=4)|T.special.entr(x)
T._assert(x, 'no')|T.is_tensor(x)|T.baddbmm(x, x, x)|T.clamp(x, min=0)|T.topk(x, 2)[0]
T.sum(x, dim=(0, 1), keepdim=True)|T.ones(2) + x|T.ones(2) * x|T.ones(2) / x|T.ones(2) @ x|T.ones(2) - x
T.ones(2) ** x|T.ones(2) == x|T.ones(2) < x|T.ones(2) != x|T.ones(2) >= x|T.ones(2) // x|T.ones(2) % x
T.ones(2, dtype=T.int64) & x|T.ones(2, dtype=T.int64) << x|T.ones(2)[x]|T.ones(2).view(x)|T.ones(2).sum(x)
T.tensor(2.0) * x
"""

PLAIN = """
x + 1|1 + x|x - 1|1 - x|x * 2|x / 2|2 / x|x // 2|x % 2|x ** 2|2 ** x|x @ x|2 @ x|x << 1|1 >> x|x & 1|1 | x
x ^ x|-x|+x|~x|abs(x)|x == 1|x != x|x < 1|1 < x|x >= x|x[0]|x[0:1]|x[:, None, ..., -1]|x[x > 0]
x[1:x.size(0)]|x.T|x.shape|x.shape[0]|x.size(0) + 1|x.view(x.size(0), -1)|x.add_(1)|x.foo.bar(1)
x.sum(dim=1, keepdim=True)|x()|x.to(T.float32)|x.to(T.device('cpu'))
x.to(device='cpu', dtype=T.int64, non_blocking=True)|x.clone().detach()
x.contiguous(memory_format=T.channels_last)|x.max(dim=float('inf'))|x.keys()|getattr(x, 'a b')
math.sqrt(x.size(0))|math.floor(x) + math.pi|operator.concat(x, x)
(x, [x, {'a': x, 'b': None}], slice(x, None))|[x, 1j, -2.5, 'a"b', ...]|{'a': (), 'b': [], 'c': {}}
doubled(x)|x.split(2)|x.type(T.float16)|(x, T.float32, T.strided)|isinstance(x, T.Tensor)|x is None
range(3)
"""


def expressions():
    for table in (FUNCTIONAL, TOP, PLAIN):
        for row in table.strip().splitlines():
            # A bar within an expression has spaces around it.
            yield from (e.replace("\0", " | ") for e in row.replace(" | ", "\0").split("|"))


@pytest.mark.parametrize("expression", list(expressions()))
def test_each_expression_makes_the_same_nodes(expression):
    def program(T):
        fn = eval(f"lambda T, F: lambda x: {expression}")(T, T.nn.functional)
        return text(T.fx.symbolic_trace(fn).graph)

    check_both(program)


# ------------------------------------------------------------------------------------- modules


def block(T):
    class Block(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = T.nn.Linear(4, 4)
            self.layers = T.nn.ModuleList([T.nn.Linear(4, 4), T.nn.ReLU()])
            self.rest = T.nn.Sequential(T.nn.Linear(4, 4), T.nn.Sequential(T.nn.Tanh(), T.nn.LayerNorm(4)))
            self.scale = T.nn.Parameter(T.arange(4.0) / 4)
            self.register_buffer("shift", T.ones(4))
            self.register_buffer("hidden", T.ones(4), persistent=False)
            self.plain = T.full((4,), 0.5)
            for p in self.parameters():
                T.nn.init.constant_(p, 0.25)

        def forward(self, x, y: T.Tensor = None, *, k=2.0):
            x = self.first(x) + self.scale
            for layer in self.layers:
                x = layer(x)
            if self.plain.dim() == 1:
                x = x * self.shift + self.plain + self.hidden + T.ones(4)
            z = self.rest(x)
            return {"a": z, "b": (self.first(z), [self.layers[0].weight.sum(), None])}

    return Block()


def shared(T):
    class Shared(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = T.nn.Linear(3, 3)
            self.b = self.a
            T.nn.init.eye_(self.a.weight)
            T.nn.init.ones_(self.a.bias)

        def forward(self, x):
            return self.a(self.b(x)), doubled(x)

    return Shared()


def buffered(T):
    class Buffered(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.p = T.nn.Parameter(T.ones(2, 3))
            self.register_buffer("b", T.ones(3))

        def forward(self, x):
            return x * self.p.size()[1] * self.p.ndim * self.p.numel() + self.b.sum() * self.p

    return Buffered()


def several(T):
    class Several(T.nn.Module):
        def forward(self, x, *others, scale=1, **named):
            return x * scale, others, named

    return Several()


def nested(T):
    class Nested(T.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = T.fx.symbolic_trace(shared(T))

        def forward(self, x):
            return self.inner(x)[0] + 1

    return Nested()


@pytest.mark.parametrize(("make", "shape"), [
    (block, (2, 4)), (shared, (3,)), (buffered, (2, 3)), (nested, (3,))])
def test_modules_have_the_same_code_and_values(make, shape):
    def program(T):
        module = make(T)
        traced = T.fx.symbolic_trace(module)
        x = (T.arange(float(math.prod(shape))).reshape(shape) / 5).requires_grad_()
        result = traced(x)
        leaves = T.utils._pytree.tree_leaves(result)
        sum(leaf.sum() for leaf in leaves if leaf is not None).backward()
        grads = [p.grad for p in module.parameters()]
        return (text(traced.graph), traced.code, str(traced), traced.print_readable(print_output=False),
                result, x.grad, grads, list(traced.state_dict()), type(traced).__name__,
                [n.meta.get("nn_module_stack") is not None for n in traced.graph.nodes])

    check_both(program)


@pytest.mark.parametrize("options", [
    {"param_shapes_constant": True}, {"autowrap_functions": (operator.concat,)}, {}])
def test_options_of_the_tracer(options):
    def program(T):
        tracer = T.fx.Tracer(**options)
        tracer.proxy_buffer_attributes = not options
        return text(tracer.trace(buffered(T)))

    check_both(program)


def test_a_tracer_that_keeps_all_modules_whole():
    def program(T):
        class Whole(T.fx.Tracer):
            def is_leaf_module(self, m, module_qualified_name):
                return module_qualified_name != "rest"

        tracer = Whole()
        graph = tracer.trace(nested(T))
        traced = T.fx.GraphModule(tracer.root, graph)
        return (text(graph), traced.print_readable(print_output=False), tracer.node_name_to_scope["inner"][0],
                text(Whole().trace(block(T))))

    check_both(program)


def test_variable_parameters():
    def program(T):
        module = several(T)
        traced = T.fx.symbolic_trace(module)
        return text(traced.graph), traced(T.ones(2), 3)

    check_both(program)


def test_annotations():
    def f(T):
        def traced(x: T.Tensor, y: list[int], z: typing.Optional[T.Tensor] = None,  # noqa: UP045
                   w: int | None = None, v: "int" = 3) -> tuple[T.Tensor, int]:
            return x + v, 1

        return traced

    def program(T):
        made, _, code = text(T.fx.symbolic_trace(f(T)).graph)
        return made, code

    check_both(program)


# ----------------------------------------------------------------------------- values given beforehand


def of_dict(d, n, t=None):
    return d["a"] + d["b"][0], {"n": n, "rest": d["b"][1]}


@pytest.mark.parametrize("given", [
    lambda PH: {"d": {"a": PH, "b": [PH, PH]}},
    lambda PH: {"n": 3}, lambda PH: {"n": None}, lambda PH: {"n": True, "t": "word"},
    lambda PH: ({"a": PH, "b": (PH, 2)}, PH, None)])
def test_concrete_arguments(given):
    def fn(d, n, t):
        return of_dict(d, n, t)

    def program(T):
        return text(T.fx.symbolic_trace(fn, concrete_args=given(T.fx.PH)).graph)

    check_both(program)


def test_calls_with_nested_arguments_and_what_is_fixed():
    def program(T):
        class Nest(T.nn.Module):
            def forward(self, d, n):
                return of_dict(d, n)

        traced = T.fx.symbolic_trace(Nest(), concrete_args={
            "d": {"a": T.fx.PH, "b": (T.fx.PH, T.fx.PH)}, "n": 5})
        d = {"a": T.ones(2), "b": (T.ones(2), T.zeros(1))}
        refused = ""
        try:
            traced(d, 6)
        except AssertionError as error:
            refused = str(error)
        again = pickle.loads(pickle.dumps(traced))
        results = [T.utils._pytree.tree_leaves(r) for r in (
            traced(d, 5), T.fx.Interpreter(traced).run(d, 5), again(d, 5))]
        return traced.code, results, refused, again.code

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        check_both(program)


# -------------------------------------------------------------------------------------- the graph


def chain(T):
    graph = T.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(T.add, (x, 1))
    z = graph.call_method("relu", (y,))
    return graph, x, y, z, graph.output((z, y))


def insertions(T):
    graph, x, y, z, _ = chain(T)
    with graph.inserting_before(y):
        first = graph.call_function(T.neg, (x,))
    with graph.inserting_after(y):
        graph.call_function(T.sin, (first,))
        graph.call_function(T.cos, (first,), name="last")
    with graph.inserting_before():
        graph.placeholder("w", default_value=2)
    graph.inserting_after(z)
    graph.create_node("call_function", operator.mul, (z, z), type_expr=T.Tensor)
    return [x < y, z < y, y <= y, y.next.name, y.prev.name]


def uses(T):
    graph, x, y, z, out = chain(T)
    found = [str(y.users), str(z.all_input_nodes)]
    found.append([n.name for n in y.replace_all_uses_with(x, lambda user: user.op != "output")])
    z.replace_input_with(x, y)
    z.args = (y, [x, {"a": x}], slice(x, None))
    z.kwargs = {"k": (x,)}
    z.update_arg(1, 5)
    z.insert_arg(1, y)
    z.update_kwarg("m", x)
    found += [str(n.users) for n in (x, y, z, out)] + [str(z.args), str(z.kwargs)]
    y.append(z)
    x.prepend(z)
    return [*found, text(graph)]


def dead(T):
    graph, x, y, z, out = chain(T)
    with graph.inserting_before(out):
        unused = graph.call_function(T.sin, (y,))
        graph.call_function(T.cos, (unused,))
        graph.call_method("add_", (y, 1))
        graph.call_function(T._assert, (y, "kept"))
        graph.call_function(operator.setitem, (y, 0, 1))
    changed = graph.eliminate_dead_code()
    return [changed, graph.eliminate_dead_code(), len(graph.nodes), text(graph)]


def copies(T):
    graph, _, _, z, _ = chain(T)
    z.meta["note"] = 1
    other = T.fx.Graph()
    inner = other.graph_copy(graph, {}, return_output_node=True)
    again = copy.deepcopy(graph)
    found = [n.meta for n in again.nodes]
    return [text(other), str(inner), text(again), found, again is graph]


def names(T):
    graph = T.fx.Graph()
    for name in ("x", "x", "sum", "if", "1a", "a.b", "torch", "device", "inf", "BatchNorm2d", "x_1", "x_1",
                 "__add__", "getHTTPResponse", "aBC1D", "Conv2dReLU", "self", "", "print_2", "print", "x_3",
                 "x"):
        graph.placeholder(name)
    for fn in (T.relu, T.nn.functional.relu, operator.getitem, T.nn.functional.max_pool2d, abs, T.linalg.norm,
               T.nn.functional.logsigmoid, math.sqrt, dict, T.float32.__class__):
        graph.call_function(fn, (1,))
    return [n.name for n in graph.nodes]


def statements(T):
    graph = T.fx.Graph()
    a = graph.placeholder("a", T.Tensor, default_value=None)
    b = graph.call_function(operator.iadd, (a, 1))
    graph.call_function(operator.setitem, (b, 0, 5))
    graph.call_function(getattr, (b, "shape"))
    graph.call_function(getattr, (b, "not a name"))
    graph.call_function(T.relu, (b,), type_expr=T.Tensor, name="mine")
    graph.output(b, T.Tensor)
    with graph.on_generate_code(lambda before: lambda body: ["# first\n", *body]):
        inside = graph.python_code("self").src
    return [inside, graph.python_code("root").src, graph.python_code("self", expanded_def=True).src]


def finding(T):
    graph, *_ = chain(T)
    return [graph.output_node().name, [n.name for n in graph.find_nodes(op="call_function", target=T.add)],
            [n.name for n in graph.find_nodes(op="placeholder")], [n.name for n in reversed(graph.nodes)]]


def own_code(T):
    class Listed(T.fx.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation, **kwargs):
            first = f"def forward(self, args_list){maybe_return_annotation}:"
            return f"{first}\n    {', '.join(free_vars)}, = args_list"

        def additional_globals(self):
            return [("List", typing.List)]  # noqa: UP006

        def process_inputs(self, *inputs):
            return inputs[0]

    traced = T.fx.symbolic_trace(lambda x, y: x - y)
    traced.graph.set_codegen(Listed())
    traced.recompile()
    both = [T.ones(2), T.zeros(2)]
    return [traced.code, traced(both), T.fx.Interpreter(traced).run(both)]


def appended(T):
    graph = T.fx.Graph()
    tracer = T.fx.proxy.GraphAppendingTracer(graph)
    x = T.fx.Proxy(graph.placeholder("x"), tracer)
    y = T.relu(x) * 2 + T.fx.Proxy(graph.get_attr("w"))
    graph.output(y.node)
    return [text(graph), repr(y), repr(x)]


@pytest.mark.parametrize("change", [
    insertions, uses, dead, copies, names, statements, finding, own_code, appended])
def test_changes_of_graphs(change):
    check_both(change)


# ------------------------------------------------------------------------------------- errors


def two(x, y):
    return x


def traced(fn):
    return lambda T: T.fx.symbolic_trace(fn)


def bad_nodes(index):
    def make(T):
        graph, x, y, z, out = chain(T)
        other = T.fx.Graph()
        return (
            lambda: graph.erase_node(y), lambda: other.erase_node(out), lambda: graph.create_node("no", "x"),
            lambda: graph.call_function("a"), lambda: graph.create_node("call_method", T.add),
            lambda: graph.create_node("call_function", T.add, [1]),
            lambda: graph.create_node("call_function", T.add, (1,), (2,)), lambda: other.inserting_before(x),
            lambda: y.append(other.placeholder("x")), lambda: (other.placeholder("x"), other.output_node()),
            lambda: y.insert_arg(9, 1),
            lambda: graph.call_function(T.add, ([1],)).args[0].append(1),
            lambda: graph.call_function(T.add, ({},)).args[0].update(a=1),
            lambda: (x.prepend(z), graph.lint()), lambda: (other.call_function(T.add, (x,)), other.lint()),
            lambda: T.fx.GraphModule(3, graph),
            lambda: (graph.call_module("a"), T.fx.GraphModule({}, graph)),
            lambda: setattr(T.fx.symbolic_trace(T.nn.ReLU()), "graph", 3),
            lambda: (graph.call_module("a.b"), T.fx.GraphModule(T.nn.ReLU(), graph)),
            lambda: T.fx.Interpreter(T.fx.symbolic_trace(lambda x, y: x)).run(1),
            lambda: T.fx.wrap(3), lambda: T.fx.wrap("len"),
            lambda: T.fx.map_arg(1, 2),
        )[index]()

    return make


@pytest.mark.parametrize(("run", "words"), [
    (traced(lambda x: x if x.sum() > 0 else -x), "cannot be used as inputs to control flow"),
    (traced(lambda x: [a + 1 for a in x]), "Proxy object cannot be iterated"),
    (traced(lambda x: doubled(*x)), "Proxy object cannot be iterated"),
    (traced(lambda x: dict(**x)), "Proxy object cannot be iterated"),
    (traced(lambda x: len(x) + 1), "'len' is not supported in symbolic tracing by default"),
    (traced(lambda x: [object()]), "argument of type: <class 'object'>"),
    (traced(lambda x: {x: 1}), "Keys for dictionaries used as an argument cannot contain a Node"),
    (traced(3), "Expected FunctionType, got <class 'int'>"),
    (lambda T: T.fx.symbolic_trace(lambda x: T.nn.ReLU()(x) + 1), "module is not installed as a submodule"),
    (lambda T: T.fx.symbolic_trace(lambda x: x + T.nn.Parameter(T.ones(1))), "parameter is not a member"),
    (lambda T: T.fx.symbolic_trace(two, concrete_args=(T.fx.PH,)), "expected 2 arguments but got 1"),
    (bad_nodes(0), "still had 2 users in the graph"), (bad_nodes(1), "from wrong graph"),
    (bad_nodes(2), "op 'no'"),
    (bad_nodes(3), "but a Callable is expected"), (bad_nodes(4), "but a str is expected"),
    (bad_nodes(5), "args must be a tuple"), (bad_nodes(6), "kwargs must be a dict"),
    (bad_nodes(7), "Node to insert before is not in graph"), (bad_nodes(8), "into a different Graph"),
    (bad_nodes(9), "Expected output node"), (bad_nodes(10), "index must be between 0 and len"),
    (bad_nodes(11), "object does not support mutation"), (bad_nodes(12), "object does not support mutation"),
    (bad_nodes(13), "was used before it has been defined"), (bad_nodes(14), "does not belong to this Graph"),
    (bad_nodes(15), "Unsupported type 3 passed for root"), (bad_nodes(16), "was not provided in ``root``"),
    (bad_nodes(17), "Expected a Graph instance"), (bad_nodes(18), "has no attribute 'a'"),
    (bad_nodes(19), "Expected positional argument for parameter y"),
    (bad_nodes(20), "Must be either a callable or string name"),
    (bad_nodes(21), "at the top level of a module"),
    (bad_nodes(22), "fn must be a callable"),
])
def test_errors_have_the_same_type_and_words(run, words):
    kinds = []
    for T in (torch, jaxflow):
        with pytest.raises(Exception, match=re.escape(words)) as caught:
            run(T)
        kinds.append(caught.type.__name__)
    assert kinds[0] == kinds[1]


# ---------------------------------------------------------------------------- runs, patterns, passes


def several_times(x, w):
    v, u = (x + w).relu(), (x + w).relu()
    return v.sigmoid() * (u - w).sum() + v


@pytest.mark.parametrize(("pattern", "replacement"), [
    (lambda x, w: (x + w).relu(), lambda x, w: x.tanh() - w),
    (lambda x: x.sigmoid(), lambda x: x * 2),
    (lambda x: (x.sigmoid(),), lambda x: (x.exp(),)),
    (lambda x: x.relu().sigmoid(), lambda x: x),
    (lambda x, y: x * y, lambda x, y: y * x),
    (lambda x: x.nothing(), lambda x: x),
    (lambda x, w: ((x + w).relu(), x - w), lambda x, w: (x, x * w)),
    (lambda x, w: x - w, lambda x, w: (x - w).abs()),
])
def test_patterns_are_replaced(pattern, replacement):
    def program(T):
        traced = T.fx.symbolic_trace(several_times)
        found = T.fx.replace_pattern(traced, pattern, replacement)
        matched = [sorted(k.name for k in match.nodes_map) for match in found]
        return traced.code, [match.anchor.name for match in found], matched, traced(T.ones(2), T.ones(2))

    check_both(program)


def test_patterns_with_filters():
    def program(T):
        traced = T.fx.symbolic_trace(lambda x: T.add(x, 1) * T.add(x, 2))
        rewriter = T.fx.subgraph_rewriter
        kept = rewriter.replace_pattern_with_filters(
            traced, lambda x: T.add(x, 2), lambda x: T.sub(x, 2), [lambda match, graph, pattern: True])
        none = rewriter.replace_pattern_with_filters(
            traced, lambda x: T.add(x, 1), lambda x: x, [lambda match, graph, pattern: False])
        loose = rewriter.replace_pattern_with_filters(
            traced, lambda x: T.add(x, 7), lambda x: T.mul(x, x), ignore_literals=True)
        counts = [len(found) for found in (kept, none, loose)]
        return counts, [n.name for n in kept[0].replacements], traced.code

    check_both(program)


def test_the_matcher():
    def program(T):
        of = matcher_utils if T is torch else jaxflow.fx.passes.utils.matcher_utils
        graph = T.fx.symbolic_trace(several_times).graph
        pattern = T.fx.symbolic_trace(lambda x, w: (x + w).relu()).graph
        found = of.SubgraphMatcher(pattern).match(graph)
        return [([n.name for n in m.anchors], [n.name for n in m.returning_nodes],
                 [n.name for n in m.placeholder_nodes]) for m in found]

    check_both(program)


def test_interpreters_and_transformers():
    def program(T):
        class Swap(T.fx.Interpreter):
            def call_method(self, target, args, kwargs):
                return super().call_method("neg" if target == "relu" else target, args, kwargs)

        class Other(T.fx.Transformer):
            def call_method(self, target, args, kwargs):
                return super().call_method("neg" if target == "relu" else target, args, kwargs)

            def call_module(self, target, args, kwargs):
                return args[0] if "1" in target else super().call_module(target, args, kwargs)

        traced, x = T.fx.symbolic_trace(several_times), T.arange(3.0)
        first = traced.graph.output_node().prev
        made = Other(T.fx.symbolic_trace(block(T))).transform()
        return (Swap(traced).run(x, x), Other(traced).transform().code, made.code,
                T.fx.Interpreter(traced).run(x, x, initial_env={first: 3}),
                T.fx.Interpreter(traced).boxed_run([x, x]), Other(traced).transform()(x, x))

    check_both(program)


@pytest.mark.parametrize("options", [
    {}, {"keep_original_order": True}, {"keep_original_node_name": True}, {"keep_original_input_name": False},
    {"partition_affix": "part"}, {"tuple_return": True}])
def test_split_modules(options):
    def program(T):
        traced, count = T.fx.symbolic_trace(block(T)), iter(range(99))
        path = {}
        parts = T.fx.passes.split_module.split_module(
            traced, None, lambda node: next(count) // 4, path, **options)
        x = T.arange(8.0).reshape(2, 4)
        return parts.print_readable(print_output=False), path, parts(x)

    check_both(program)


def test_shapes_are_noted():
    def program(T):
        traced = T.fx.symbolic_trace(block(T))
        result = T.utils._pytree.tree_leaves(T.fx.passes.shape_prop.ShapeProp(traced).propagate(T.ones(2, 4)))
        metas = [(n.name, str(n.meta.get("tensor_meta"))) for n in traced.graph.nodes if n.op != "output"]
        return result, metas, traced.print_readable(print_output=False)

    check_both(program)


def test_batch_norms_are_fused():
    def program(T):
        optimization = T.fx.experimental.optimization
        model = T.nn.Sequential(T.nn.Conv2d(1, 2, 1), T.nn.BatchNorm2d(2), T.nn.Dropout(), T.nn.Linear(2, 2),
                                T.nn.ReLU()).eval()
        for p in model.parameters():
            T.nn.init.constant_(p, 0.5)
        x = T.arange(4.0).reshape(1, 1, 2, 2)
        fused = optimization.fuse(model)
        nodes = list(fused.graph.nodes)
        part = optimization.extract_subgraph(fused, nodes[2:4], nodes[1:2], nodes[3:4])
        dry = optimization.remove_dropout(model).code
        return fused.code, fused(x), dry, part.code, model(x), len(model)

    check_both(program)


def test_make_fx_has_the_same_inputs_and_values():
    """The nodes are public functions here, and operations of the library in PyTorch."""
    def program(T):
        make_fx = proxy_tensor.make_fx if T is torch else jaxflow.fx.experimental.proxy_tensor.make_fx
        made = make_fx(lambda x, y: T.relu(x[0]) * y)([T.arange(3.0) - 1], 2)
        inputs = [n.name for n in made.graph.nodes if n.op == "placeholder"]
        return inputs, made([T.arange(3.0) - 2], 2)

    check_both(program)


# -------------------------------------------------------------------------------------- modules of graphs


def test_submodules_are_added_and_deleted():
    def program(T):
        traced = T.fx.symbolic_trace(block(T))
        found = [traced.add_submodule("a.b.c", T.nn.ReLU()),
                 traced.add_submodule("first.weight.x", T.nn.ReLU()),
                 traced.delete_submodule("a.b.c"), traced.delete_submodule("no"), repr(traced)]
        traced.delete_all_unused_submodules()
        return [*found, repr(traced)]

    check_both(program)


def test_copies_and_pickles():
    def program(T):
        traced = T.fx.symbolic_trace(block(T))
        x = T.ones(2, 4)
        deep, flat, back = copy.deepcopy(traced), copy.copy(traced), pickle.loads(pickle.dumps(traced))
        found = [(type(m).__name__, m.code == traced.code, list(m.state_dict()), m(x))
                 for m in (deep, flat, back)]
        return found, deep.first is traced.first, flat.first is traced.first, flat.training

    check_both(program)


def test_notes_at_nodes():
    def program(T):
        noting = T.fx.traceback
        graph = T.fx.Graph()
        tracer = T.fx.proxy.GraphAppendingTracer(graph)
        x = T.fx.Proxy(graph.placeholder("x"), tracer)
        x.node.meta["note"] = 1
        with noting.preserve_node_meta(), noting.annotate({"stage": 0}):
            first = (x + 1).node.meta["custom"]
            with noting.annotate({"part": 1}):
                second = (x + 2).node.meta["custom"]
        return (dict(first), dict(second), noting.has_preserved_node_meta(), (x + 3).node.meta)

    check_both(program)


def test_hooks_and_training_flags():
    def program(T):
        traced, calls = T.fx.symbolic_trace(block(T)).eval(), []
        traced.register_forward_hook(lambda module, args, result: calls.append(type(module).__name__))
        traced.first.register_forward_hook(lambda module, args, result: calls.append("first"))
        traced(T.ones(2, 4))
        return calls, traced.training, [m.training for m in traced.modules()]

    check_both(program)
