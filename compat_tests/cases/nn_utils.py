"""`nn.utils`: clipping gradients, and parameters as one vector."""

from compat_tests.harness import case, each, leaf, raises, rand

INF = float("inf")


def parameters(T):
    """Two parameters with gradients, the norms 5 and 12, and one without."""
    a, b, c = (T.nn.Parameter(T.ones(*shape)) for shape in ((2,), (1, 1), (2,)))
    a.grad, b.grad = T.tensor([3.0, -4.0]), T.tensor([[12.0]])
    return [a, b, c]


@each(one=1, two=2, three=3.0, zero=0, half=0.5, inf=INF, minus_inf=-INF, text="inf")
def clip_grad_norm(T, norm_type):
    p = parameters(T)
    norm = T.nn.utils.clip_grad_norm_(p, 1.5, norm_type)
    return norm, [x.grad for x in p]


@each(below=100.0, equal=13.0, integer=1)
def clip_grad_norm_bound(T, bound):
    p = parameters(T)
    return T.nn.utils.clip_grad_norm_(p, bound), [x.grad for x in p]


@case
def clip_grad_norm_arguments(T):
    clip = T.nn.utils.clip_grad_norm_
    p = parameters(T)
    kept = p[0].grad
    return [
        clip([], 1.0), clip(p[2], 1.0), clip(p[0], 1.0), clip(iter(p), 1.0), clip((x for x in p), 1.0),
        clip(p, 1.0, foreach=False), clip(p, 1.0, foreach=True), clip(p, T.tensor(0.5)),
        p[0].grad is kept, clip((x for x in ()), 1.0),
    ]


@each(nan=float("nan"), inf=INF)
def clip_grad_norm_not_finite(T, value):
    p = parameters(T)
    p[0].grad[0] = value
    error = raises(lambda: T.nn.utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True))
    kept = [x.grad.clone() for x in p[:2]]
    norm = T.nn.utils.clip_grad_norm_(p, 1.0)
    return error, kept, norm, [x.grad for x in p]


@each(float16="float16", bfloat16="bfloat16", float64="float64")
def clip_grad_norm_dtype(T, dtype):
    kind = getattr(T, dtype)
    p = [T.nn.Parameter(T.zeros(3, 4, dtype=kind)) for _ in range(3)]
    for x in p:
        x.grad = rand(T, 3, 4).to(kind)
    return T.nn.utils.clip_grad_norm_(p, 0.5), [x.grad for x in p]


@case
def clip_grad_norm_mixed_dtypes(T):
    kinds = (T.float16, T.float32, T.float64)
    p = [T.nn.Parameter(T.zeros(4, dtype=kind)) for kind in kinds]
    for x in p:
        x.grad = rand(T, 4).to(x.dtype)
    return T.nn.utils.clip_grad_norm_(p, 0.5), [x.grad for x in p]


@case
def clip_grad_value(T):
    p = parameters(T)
    nothing = T.nn.utils.clip_grad_value_(p, 3.5)
    first = [None if x.grad is None else x.grad.clone() for x in p]
    T.nn.utils.clip_grad_value_(p[0], 2)
    return nothing, first, [x.grad for x in p]


@case
def total_norm(T):
    norm = T.nn.utils.get_total_norm
    return [
        norm([T.ones(2), T.ones(3)]), norm([]), norm(T.ones(4)), norm([leaf(T, 3)]),
        norm([T.ones(2), T.ones(2, 2) * 3], INF), norm([T.ones(2, dtype=T.complex64) * 2j]),
        raises(lambda: norm([T.ones(2, dtype=T.long)])),
    ]


@case
def clip_with_norm(T):
    p = parameters(T)
    nothing = T.nn.utils.clip_grads_with_norm_(p, 1.0, T.tensor(2.0))
    return nothing, [x.grad for x in p]


@case
def deprecated_name(T):
    return T.nn.utils.clip_grad_norm(parameters(T), 1.0)


@case
def vectors(T):
    m = T.nn.Linear(2, 2)
    weight = m.weight
    v = T.arange(6.0)
    T.nn.utils.vector_to_parameters(v, m.parameters())
    flat = T.nn.utils.parameters_to_vector(m.parameters())
    v[0] = 99
    return [
        flat, m.weight is weight, m.weight, m.bias,
        raises(lambda: T.nn.utils.vector_to_parameters([1.0], m.parameters())),
        raises(lambda: T.nn.utils.vector_to_parameters(T.arange(5.0), m.parameters())),
    ]


@case
def skip_init(T):
    m = T.nn.utils.skip_init(T.nn.Linear, 2, 3)
    return repr(m), [tuple(p.shape) for p in m.parameters()], [
        raises(lambda: T.nn.utils.skip_init(dict)),
    ]
