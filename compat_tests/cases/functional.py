"""``autograd.functional``: every function with its options, and what they refuse."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


def f64(T, *shape):
    return rand(T, *shape, dtype="float64", low=-1.0, high=1.0)


def vector(x):
    return x.sin() * x**3


def number(x):
    return (x.sin() * x**3).sum()


def two_by_two(x, y):
    return x * y.sum(), (x[0] + y).exp()


def joint(x, y):
    return (x * x * y.sum()).sum() + y.exp().prod()


def kinds(options):
    """Inputs without a history or with one: compiling for both under all options takes long."""
    of_leaves = lambda T, *s: f64(T, *s).requires_grad_()  # noqa: E731
    return (of_leaves,) if "create_graph" in options or "vectorize" in options else (f64,)


def flags(tree):
    return [flags(t) for t in tree] if isinstance(tree, (tuple, list)) else tree.requires_grad


@each(plain={}, graph=dict(create_graph=True), strict=dict(strict=True),
      both=dict(create_graph=True, strict=True))
def products(T, options):
    F = T.autograd.functional
    out = []
    for make in kinds(options):
        x, y, v, w = make(T, 3), make(T, 2), f64(T, 3), f64(T, 2)
        found = [
            F.vjp(vector, x, v, **options), F.jvp(vector, x, v, **options),
            F.vjp(two_by_two, (x, y), (v, w), **options), F.jvp(two_by_two, (x, y), (v, w), **options),
            F.vjp(number, x, **options), F.jvp(vector, x[:1], **options),
            F.vhp(number, x, v, **options), F.hvp(number, x, v, **options),
            F.vhp(joint, (x, y), (v, w), **options), F.hvp(joint, (x, y), (v, w), **options),
            F.hvp(number, x[:1], **options), F.vhp(number, x[:1], **options),
        ]
        out += [flags(found_) for found_ in found]
        if make is not f64 and options.get("create_graph"):
            out.append(T.autograd.grad(found[0][1].sum() + found[1][1].sum(), x))
            out.append(T.autograd.grad(found[8][1][0].sum() + found[9][1][1].sum(), (x, y)))
        out.append(_detached(found))
    return AnyStrides(out)


def _detached(tree):
    return type(tree)(_detached(t) for t in tree) if isinstance(tree, (tuple, list)) else tree.detach()


@each(plain={}, graph=dict(create_graph=True), strict=dict(strict=True), vectorized=dict(vectorize=True),
      graph_vectorized=dict(create_graph=True, vectorize=True),
      forward=dict(vectorize=True, strategy="forward-mode"))
def jacobians(T, options):
    F = T.autograd.functional
    out = []
    for make in kinds(options):
        x, y = make(T, 3), make(T, 2)
        found = [
            F.jacobian(vector, x, **options), F.jacobian(two_by_two, (x, y), **options),
            F.jacobian(number, x, **options), F.jacobian(lambda x: x @ x.t(), make(T, 2, 2), **options),
            F.jacobian(lambda x: (x**2,), x, **options),
            F.jacobian(lambda x, y=y: x * x * y.sum(), (x,), **options),
        ]
        if not options.get("strict"):
            found.append(F.jacobian(lambda x, y: (x * x, y), (x, y), **options))
        out += [flags(t) for t in found]
        if options.get("create_graph") and make is not f64:
            out.append(T.autograd.grad(found[0].sum(), x))
        out.append(_detached(found))
    return AnyStrides(out)


@each(plain={}, graph=dict(create_graph=True), strict=dict(strict=True), vectorized=dict(vectorize=True),
      forward=dict(vectorize=True, outer_jacobian_strategy="forward-mode"))
def hessians(T, options):
    F = T.autograd.functional
    out = []
    for make in kinds(options):
        x, y = make(T, 3), make(T, 2)
        found = [F.hessian(number, x, **options), F.hessian(joint, (x, y), **options),
                 F.hessian(lambda x: number(x).reshape(1, 1), (x,), **options)]
        if options.get("create_graph") and make is not f64:
            out.append(T.autograd.grad(found[0].sum(), x))
        if "outer_jacobian_strategy" not in options:
            out += [flags(t) for t in found]
        out.append(_detached(found))
    return AnyStrides(out)


@case
def inputs_are_left_alone(T):
    F = T.autograd.functional
    x = leaf(T, 3)
    seen = []

    def f(x):
        seen.extend([x.is_leaf, x.requires_grad])
        return (x**3).sum()

    F.jacobian(f, x)
    F.hessian(f, x, create_graph=True)
    with T.no_grad():
        inside = [F.jacobian(f, x), F.vjp(f, x), F.vhp(f, x, rand(T, 3)), F.jvp(f, x, rand(T, 3))]
    return AnyStrides([seen, x.grad, x.requires_grad, inside])


@case
def refusals_of_products(T):
    F = T.autograd.functional
    x, y = rand(T, 3), rand(T, 2)
    products = (F.vjp, F.jvp, F.vhp, F.hvp)
    return (
        [raises(lambda p=p: p(number, 1.0)) for p in products],
        [raises(lambda p=p: p(joint, (x, 1.0))) for p in products],
        [raises(lambda p=p: p(lambda x: 1.0, x, x)) for p in products],
        [raises(lambda p=p: p(lambda x: (x.sum(), "b"), x, x)) for p in products],
        [raises(lambda p=p: p(vector, x)) for p in products],
        [raises(lambda p=p: p(vector, x, y)) for p in products],
        [raises(lambda p=p: p(joint, (x, y), (x,))) for p in products[1:]],
        [raises(lambda p=p: p(joint, (x, y), (x, x))) for p in products[1:]],
        [raises(lambda p=p: p(number, x, (x, x))) for p in products[1:]],
        raises(lambda: F.vjp(two_by_two, (x, y), (x, x))), raises(lambda: F.vjp(two_by_two, (x, y), (x,))),
        [raises(lambda p=p: p(number, x, 1.0)) for p in products],
        [raises(lambda p=p: p(vector, x, x)) for p in (F.vhp, F.hvp)],
        [raises(lambda p=p: p(lambda x: (x.sum(),), x, x)) for p in (F.vhp, F.hvp)],
    )


@case
def refusals_of_strict(T):
    F = T.autograd.functional
    x, y = rand(T, 3), rand(T, 3)
    constant, linear = lambda x: y.clone(), lambda x: x * 2  # noqa: E731
    first = lambda x, z: (x**3).sum()  # noqa: E731
    row = dict(strict=True)
    graph = dict(strict=True, create_graph=True)
    z = leaf(T, 3)
    return (
        [raises(lambda p=p: p(constant, x, y, **row)) for p in (F.vjp, F.jvp)],
        [attempt(lambda p=p: p(linear, x, y, **row)) for p in (F.vjp, F.jvp)],
        [attempt(lambda p=p: _detached(p(linear, z, y, **graph))) for p in (F.vjp, F.jvp)],
        [attempt(lambda p=p, v=v: p(lambda x, z: x**2, (x, y), v, **row))
         for p, v in ((F.vjp, y), (F.jvp, (y, y)))],
        [raises(lambda p=p: p(lambda x: y.sum(), x, y, **row)) for p in (F.vhp, F.hvp)],
        [attempt(lambda p=p: p(lambda x: x.sum(), x, y, **row)) for p in (F.vhp, F.hvp)],
        [attempt(lambda p=p: p(first, (x, y), (x, y), **row)) for p in (F.vhp, F.hvp)],
        [attempt(lambda p=p: _detached(p(lambda x: (x * x).sum(), z, y, **graph))) for p in (F.vhp, F.hvp)],
        raises(lambda: F.jacobian(constant, x, **row)), attempt(lambda: F.jacobian(linear, x, **row)),
        raises(lambda: F.jacobian(linear, z, **graph)),
        raises(lambda: F.jacobian(lambda x, z: x**2, (x, y), **row)),
        raises(lambda: F.hessian(lambda x: y.sum(), x, **row)),
        raises(lambda: F.hessian(lambda x: x.sum(), x, **row)),
        raises(lambda: F.hessian(first, (x, y), **row)),
        attempt(lambda: F.hessian(lambda x: (x * x).sum(), x, **row)),
        raises(lambda: F.hessian(lambda x: (x * x).sum(), z, **graph)),
    )


@case
def refusals_of_matrices(T):
    F = T.autograd.functional
    x = rand(T, 3)
    jac, hess = F.jacobian, F.hessian
    return (
        raises(lambda: jac(vector, x, strategy="mixed")), raises(lambda: jac(vector, 1.0)),
        raises(lambda: jac(vector, x, strategy="forward-mode")), raises(lambda: jac(lambda x: 1.0, x)),
        raises(lambda: jac(vector, x, strategy="forward-mode", create_graph=True)),
        raises(lambda: jac(vector, x, strategy="forward-mode", strict=True)),
        raises(lambda: jac(vector, x, strict=True, vectorize=True)),
        raises(lambda: jac(vector, [x])),
        raises(lambda: hess(number, x, outer_jacobian_strategy="mixed")), raises(lambda: hess(number, 1.0)),
        raises(lambda: hess(vector, x)), raises(lambda: hess(lambda x: (x.sum(),), x)),
        raises(lambda: hess(lambda x: 1.0, x)), raises(lambda: hess(number, x, strict=True, vectorize=True)),
        raises(lambda: hess(number, x, outer_jacobian_strategy="forward-mode")),
    )


@case
def complex_inputs(T):
    F = T.autograd.functional
    z, v = rand(T, 2, dtype="complex64"), rand(T, 2, dtype="complex64")
    f = lambda z: z**2 * z.conj()  # noqa: E731
    return AnyStrides([F.vjp(f, z, v), F.jvp(f, z, v), F.jacobian(lambda z: z.abs(), z)])


@case
def of_a_module(T):
    F = T.autograd.functional
    net = T.nn.Sequential(T.nn.Linear(3, 4), T.nn.Tanh(), T.nn.Linear(4, 1))
    with T.no_grad():
        for p in net.parameters():
            p.copy_(rand(T, *p.shape) / 2)
    x = rand(T, 3)
    h = F.hessian(lambda x: net(x).sum(), x, create_graph=True)
    return AnyStrides([h.detach(), T.autograd.grad(h.sum(), net[0].weight),
                       F.hessian(lambda x: net(x).sum(), x, vectorize=True)])
