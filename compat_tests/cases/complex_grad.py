"""Complex gradients: the conjugate convention, real parts, and what may be differentiated."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand

_UNARY = dict(
    conj=lambda z: z.conj(), neg=lambda z: -z, square=lambda z: z * z, cube=lambda z: z**3,
    exp=lambda z: z.exp(), log=lambda z: z.log(), sin=lambda z: z.sin(), cos=lambda z: z.cos(),
    tanh=lambda z: z.tanh(), sqrt=lambda z: z.sqrt(), reciprocal=lambda z: z.reciprocal(),
    sigmoid=lambda z: z.sigmoid(), abs=lambda z: z.abs(), angle=lambda z: z.angle(),
    real=lambda z: z.real, imag=lambda z: z.imag, mean=lambda z: z.mean(), sum=lambda z: z.sum(),
    prod=lambda z: z.prod(), by_real=lambda z: z * 2.5, by_imaginary=lambda z: z * 2.5j,
    real_of_product=lambda z: (z * z.conj()).real, squared_norm=lambda z: (z.abs() ** 2).sum(),
    index=lambda z: z[1], flip=lambda z: z.flip(0), cumsum=lambda z: z.cumsum(0),
)


@each(**_UNARY)
def unary(T, fn):
    z = leaf(T, 3, dtype="complex64")
    y = fn(z)
    y.backward(rand(T, *y.shape, dtype="complex64" if y.is_complex() else "float32"))
    return y.detach().resolve_conj() + 0, z.grad


@each(add=lambda a, b: a + b, sub=lambda a, b: a - b, mul=lambda a, b: a * b,
      div=lambda a, b: a / b, matmul=lambda a, b: a @ b, vdot=lambda a, b: (a.conj() * b).sum())
def binary(T, fn):
    a, b = leaf(T, 3, dtype="complex64"), leaf(T, 3, dtype="complex64")
    y = fn(a, b)
    y.backward(rand(T, *y.shape, dtype="complex64"))
    return a.grad, b.grad


@each(add=lambda a, b: a + b, mul=lambda a, b: a * b, div=lambda a, b: a / b,
      swapped_div=lambda a, b: b / a)
def real_with_complex(T, fn):
    x, z = leaf(T, 3), leaf(T, 3, dtype="complex64")
    y = fn(x, z)
    y.backward(rand(T, 3, dtype="complex64"))
    return x.grad, z.grad


@case
def a_real_input_gets_the_real_part(T):
    x, z = leaf(T, 3), rand(T, 3, dtype="complex64")
    (x * z).backward(rand(T, 3, dtype="complex64"))
    return x.grad


@case
def a_complex_scalar_needs_a_gradient(T):
    z = leaf(T, dtype="complex64")
    y = z * z
    return (
        raises(y.backward),
        raises(lambda: T.autograd.grad(y, z)),
        raises(lambda: T.autograd.backward([y.real, y])),
        z.grad,
    )


@case
def a_complex_scalar_with_a_gradient(T):
    z = leaf(T, dtype="complex64")
    (z * z).backward(T.tensor(1.0 + 0j))
    return z.grad


@case
def a_complex_scalar_that_needs_no_grad(T):
    return raises(T.tensor(1.0 + 2j).backward)


@each(float32="float32", float64="float64", complex128="complex128", int64="int64")
def gradient_of_other_dtype(T, dtype):
    z = leaf(T, 3, dtype="complex64")
    return attempt(lambda: (z * z).backward(rand(T, 3, dtype=dtype))), z.grad


@case
def real_loss_of_complex_parameter(T):
    z = leaf(T, 3, dtype="complex64")
    for _ in range(3):
        loss = ((z * z - 1).abs() ** 2).sum()
        loss.backward()
        with T.no_grad():
            z -= 0.01 * z.grad
        z.grad = None
    return z, loss.detach()


@case
def step_along_minus_grad_reduces_the_loss(T):
    z = leaf(T, 4, dtype="complex128")
    loss = ((z.exp() - (1 + 2j)).abs() ** 2).sum()
    loss.backward()
    with T.no_grad():
        after = (((z - 1e-4 * z.grad).exp() - (1 + 2j)).abs() ** 2).sum()
    return bool(after < loss)


@case
def view_as_real_and_back(T):
    z = leaf(T, 3, dtype="complex64")
    r = T.view_as_real(z)
    (r * rand(T, 3, 2)).sum().backward()
    x = leaf(T, 3, 2)
    c = T.view_as_complex(x * 1)
    (c * c).backward(rand(T, 3, dtype="complex64"))
    return z.grad, x.grad


@case
def complex_from_parts(T):
    re, im = leaf(T, 3), leaf(T, 3)
    z = T.complex(re, im)
    (z * z).backward(rand(T, 3, dtype="complex64"))
    return re.grad, im.grad


@case
def second_order(T):
    z = leaf(T, 3, dtype="complex128")
    y = (z**3).abs().sum()
    (first,) = T.autograd.grad(y, z, create_graph=True)
    second = T.autograd.grad(first, z, rand(T, 3, dtype="complex128"))
    return first.detach(), AnyStrides(second)


@case
def through_a_cast_to_complex(T):
    x = leaf(T, 3)
    z = x.to(T.complex64)
    (z * (1 + 2j)).backward(rand(T, 3, dtype="complex64"))
    return x.grad


@case
def dropping_the_imaginary_part_warns(T):
    z = leaf(T, 3, dtype="complex64")
    y = z.to(T.float32)
    y.sum().backward()
    return y.detach(), z.grad


@case
def abs_and_angle_at_zero(T):
    z = T.zeros(2, dtype=T.complex64, requires_grad=True)
    z.abs().sum().backward()
    first = z.grad.clone()
    z.grad = None
    (z * z).sum().abs().backward()
    return first, z.grad


@case
def conj_in_place_chain(T):
    z = leaf(T, 3, dtype="complex64")
    y = (z * 1).conj_physical_()
    y.mul_(2j)
    y.backward(rand(T, 3, dtype="complex64"))
    return z.grad


@case
def write_into_the_real_view(T):
    z = leaf(T, 3, dtype="complex64")
    y = z * 1
    y.real.mul_(3)
    y.backward(rand(T, 3, dtype="complex64"))
    return y.detach(), z.grad


@case
def hooks_see_complex_gradients(T):
    z = leaf(T, 3, dtype="complex64")
    seen = []
    z.register_hook(lambda g: seen.append(g.clone()))
    (z * z).sum().abs().backward()
    return seen
