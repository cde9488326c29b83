"""Writes to tensors that a transformed function captured, and modes around ``vjp``."""

from compat_tests.harness import AnyStrides, case, each, leaf, raises, rand

KERNEL = "torch names the overload of its kernel"
PHRASE = "that would mutate a captured Tensor. This is not supported; please rewrite the function being"


def _values(*tensors):
    return AnyStrides([t.detach() for t in tensors])


@each(
    grad=lambda T, f, x: T.func.grad(f)(x),
    vjp=lambda T, f, x: T.func.vjp(f, x),
    jvp=lambda T, f, x: T.func.jvp(f, (x,), (x,)),
    jacrev=lambda T, f, x: T.func.jacrev(f)(x),
    jacfwd=lambda T, f, x: T.func.jacfwd(f)(x),
)
def writing_to_a_captured_tensor(T, run):
    x, kept = rand(T, 3), rand(T, 3)

    def direct(a):
        kept.copy_(a)
        return kept.sum()

    def through_a_view(a):
        kept[1:].mul_(a[0])
        return kept.sum()

    refused = [
        raises(lambda f=f: run(T, f, x), phrase=PHRASE, because=KERNEL) for f in (direct, through_a_view)
    ]
    return refused, kept


@case
def writing_to_what_was_made_inside(T):
    def f(a):
        made = T.zeros(3)
        made[1:] = a[1:]
        made.mul_(a)
        return made.sum()

    x = rand(T, 3)
    return _values(T.func.grad(f)(x), *T.func.jvp(f, (x,), (x,)))


@case
def a_vjp_made_without_grad(T):
    x = leaf(T, 3)
    with T.no_grad():
        out, pull = T.func.vjp(lambda a: a**2, x)
    (y,) = pull(T.ones(3))
    return out.requires_grad, y.requires_grad, _values(out, y, *T.autograd.grad(y.sum(), x))


@case
def a_vjp_used_without_grad(T):
    x = leaf(T, 3)
    out, pull = T.func.vjp(lambda a: a**2, x)
    with T.no_grad():
        (y,) = pull(T.ones(3))
    return out.requires_grad, y.requires_grad, _values(out, y)
