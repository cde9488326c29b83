"""Transforms and constraints of distributions: values, inverses, volumes, shapes, caches, registries."""

import pytest
import torch

import jaxflow
from compat_tests.both import check_both
from compat_tests.test_distributions import plain, tried, with_gradients

REALS = [[-1.5, -0.2, 0.4], [0.3, 0.9, 1.7]]
POSITIVE = [[0.2, 0.5, 1.4], [0.3, 0.9, 2.7]]
MATRIX = [[[0.3, -0.5, 0.2], [0.7, -0.2, 0.6], [0.1, 0.4, 0.5]]]

#: name -> (transform, argument)
TRANSFORMS = {
    "exp": (lambda T, D: D.ExpTransform(), REALS),
    "sigmoid": (lambda T, D: D.SigmoidTransform(), REALS),
    "softplus": (lambda T, D: D.SoftplusTransform(), REALS),
    "tanh": (lambda T, D: D.TanhTransform(), REALS),
    "abs": (lambda T, D: D.AbsTransform(), REALS),
    "power": (lambda T, D: D.PowerTransform(T.tensor([2.0, 0.5, -1.5], dtype=T.float64)), POSITIVE),
    "power of a number": (lambda T, D: D.PowerTransform(-2.0), POSITIVE),
    "affine": (lambda T, D: D.AffineTransform(1.0, -2.0), REALS),
    "affine of tensors": (
        lambda T, D: D.AffineTransform(T.zeros(3).double(), T.tensor([1.0, -2.0, 3.0]).double()), REALS),
    "affine of vectors": (
        lambda T, D: D.AffineTransform(0.5, T.tensor([1.0, -2.0, 3.0]).double(), event_dim=1), REALS),
    "softmax": (lambda T, D: D.SoftmaxTransform(), REALS),
    "stick breaking": (lambda T, D: D.StickBreakingTransform(), REALS),
    "lower": (lambda T, D: D.LowerCholeskyTransform(), MATRIX),
    "definite": (lambda T, D: D.PositiveDefiniteTransform(), MATRIX),
    "correlations": (lambda T, D: D.CorrCholeskyTransform(), REALS),
    "reshape": (lambda T, D: D.ReshapeTransform((3,), (3, 1)), REALS),
    "distribution": (lambda T, D: D.CumulativeDistributionTransform(D.Normal(0.5, 2.0)), REALS),
    "independent": (lambda T, D: D.IndependentTransform(D.ExpTransform(), 1), REALS),
    "composed": (lambda T, D: D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.ExpTransform()]), REALS),
    "composed of vectors": (
        lambda T, D: D.ComposeTransform([D.TanhTransform(), D.StickBreakingTransform()]), REALS),
    "nothing": (lambda T, D: D.identity_transform, REALS),
    "cat": (
        lambda T, D: D.CatTransform([D.ExpTransform(), D.TanhTransform()], dim=-1, lengths=[1, 2]), REALS),
    "cat in front": (lambda T, D: D.CatTransform([D.ExpTransform(), D.TanhTransform()]), REALS),
    "stack": (lambda T, D: D.StackTransform([D.ExpTransform(), D.TanhTransform()]), REALS),
    "inverse": (lambda T, D: D.ExpTransform().inv, POSITIVE),
}


def shape_of(where, shape):
    """The shape that follows from another one, or the class of the error."""
    found = tried(lambda: tuple(where(shape)))
    return found[0] if found and isinstance(found[0], str) else found


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_transform(name):
    make, numbers = TRANSFORMS[name]

    def program(T):
        transform = make(T, T.distributions)
        x = T.tensor(numbers, dtype=T.float64, requires_grad=True)
        y = transform(x)
        outcome = {
            "value": with_gradients(T, lambda: transform(x), [x]),
            "inverse": with_gradients(T, lambda: transform.inv(y.detach()), [x]),
            "volume": with_gradients(T, lambda: transform.log_abs_det_jacobian(x, transform(x)), [x]),
            "inverse volume": tried(lambda: transform.inv.log_abs_det_jacobian(y, x)),
            "shapes": [shape_of(where, shape) for shape in ((), (2,), (3,), (2, 3), (2, 3, 3), (4, 3, 1))
                       for where in (transform.forward_shape, transform.inverse_shape)],
            "same": [transform == make(T, T.distributions), transform == T.distributions.ExpTransform(),
                     transform.inv == transform.inv, transform != transform.inv,
                     transform.inv.inv is transform],
        }
        for what in ("bijective", "sign", "domain", "codomain", "event_dim", "inv"):
            outcome[what] = tried(lambda what=what: plain(repr(getattr(transform, what))))
        for what in ("domain", "codomain"):
            outcome[what, "dim"] = tried(lambda what=what: getattr(transform, what).event_dim)
        outcome["repr"] = plain(repr(transform))
        cached = tried(lambda: transform.with_cache(1))
        if not isinstance(cached, tuple):
            result = cached(x)
            outcome["cached"] = [cached(x) is result, cached.inv(result) is x, cached._cache_size,
                              cached.with_cache(1) is cached, plain(repr(cached))]
        return outcome

    check_both(program)


REFUSED = {
    "cache": lambda T, D: D.ExpTransform(cache_size=2),
    "sizes": lambda T, D: D.ReshapeTransform((2,), (3,)),
    "abstract": lambda T, D: D.Transform()(T.ones(2)),
    "abstract inverse": lambda T, D: D.Transform().inv(T.ones(2)),
    "abstract volume": lambda T, D: D.Transform().log_abs_det_jacobian(1, 2),
    "sign": lambda T, D: D.ComposeTransform([D.AbsTransform()]).sign,
    "independent": lambda T, D: D.IndependentTransform(D.ExpTransform(), 1)(T.tensor(1.0)),
    "cat": lambda T, D: D.CatTransform([3]),
    "stack": lambda T, D: D.StackTransform([3]),
    "stacked": lambda T, D: D.StackTransform([D.ExpTransform()])(T.ones(2, 2)),
    "lengths": lambda T, D: D.CatTransform([D.ExpTransform()], lengths=[2])(T.ones(3)),
    "flattened": lambda T, D: D.CorrCholeskyTransform().forward_shape((2,)),
    "square": lambda T, D: D.CorrCholeskyTransform().inverse_shape((3, 2)),
    "lower": lambda T, D: D.biject_to(D.constraints.lower_cholesky),
    "boolean": lambda T, D: D.transform_to(D.constraints.boolean),
    "no constraint": lambda T, D: D.biject_to(3),
    "registered": lambda T, D: D.biject_to.register(3, lambda x: x),
    "dependent": lambda T, D: D.constraints.dependent.check(3),
    "event": lambda T, D: D.constraints.dependent(is_discrete=True).event_dim,
    "too few": lambda T, D: D.constraints.independent(D.constraints.real, 1).check(T.tensor(1.0)),
    "parts": lambda T, D: D.constraints.cat([3]),
    "base": lambda T, D: D.constraints.independent(3, 1),
    "constraint": lambda T, D: D.constraints.Constraint().check(1),
    "numbers": lambda T, D: D.utils.broadcast_all(1, "a"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    def outcome(T):
        found = tried(lambda: REFUSED[name](T, T.distributions))
        assert isinstance(found, tuple), found
        return found

    assert outcome(jaxflow) == outcome(torch)


# ----- constraints -----------------------------------------------------------------------------------------

VALUES = [
    [0.0, 1.0, 2.5], [[-1.0, 0.0], [0.5, 3.0]], [0.2, 0.3, 0.5], [float("nan"), 1.0, -0.0],
    [[1.0, 0.0], [0.5, 2.0]], [[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.6, 0.8]], [[1.0, 1.0], [1.0, 1.0]],
    [[0.0, 1.0], [1.0, 0.0]], [[1.0, 2.0, 3.0], [0.0, 1.0, 0.0]], 2.0,
]

CONSTRAINTS = {
    **{name: lambda T, C, name=name: getattr(C, name) for name in (
        "boolean corr_cholesky lower_cholesky lower_triangular nonnegative nonnegative_integer one_hot "
        "positive positive_semidefinite positive_definite positive_integer real real_vector simplex "
        "square symmetric "
        "unit_interval").split()},
    "interval": lambda T, C: C.interval(-1.0, 1.0),
    "interval of tensors": lambda T, C: C.interval(T.tensor(0.0), T.tensor(1.0)),
    "half open": lambda T, C: C.half_open_interval(0.0, 1.0),
    "integers": lambda T, C: C.integer_interval(0, 2),
    "above": lambda T, C: C.greater_than(0.5),
    "from": lambda T, C: C.greater_than_eq(T.tensor(0.5)),
    "below": lambda T, C: C.less_than(1.0),
    "counts": lambda T, C: C.multinomial(2),
    "independent": lambda T, C: C.independent(C.positive, 1),
    "independent matrices": lambda T, C: C.independent(C.nonnegative, 2),
    "cat": lambda T, C: C.cat([C.real, C.positive], dim=-1, lengths=[1, 1]),
    "stack": lambda T, C: C.stack([C.real, C.positive]),
    "mixture": lambda T, C: C.MixtureSameFamilyConstraint(C.positive),
    "mixture of vectors": lambda T, C: C.MixtureSameFamilyConstraint(C.simplex),
}
_MATRICES = ("corr_cholesky", "lower_cholesky", "lower_triangular", "positive_semidefinite",
             "positive_definite", "square", "symmetric")


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint(name):
    def program(T):
        constraint = CONSTRAINTS[name](T, T.distributions.constraints)
        outcome = [plain(repr(constraint)), constraint.is_discrete, constraint.event_dim]
        for numbers in VALUES:
            value = T.tensor(numbers)
            if value.dim() >= 2 or name not in _MATRICES:
                found = tried(lambda value=value: constraint.check(value))
                outcome.append(found[0] if isinstance(found, tuple) else found)
        return outcome

    check_both(program)


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_transforms_onto_a_constraint(name):
    def program(T):
        D = T.distributions
        constraint, outcome = CONSTRAINTS[name](T, D.constraints), []
        for registry in (D.biject_to, D.transform_to):
            found = tried(lambda registry=registry: registry(constraint))
            if isinstance(found, tuple):
                outcome.append(found)
            elif name not in ("cat", "stack"):
                x = T.tensor(MATRIX if name in _MATRICES[1:] else REALS)
                outcome += [plain(repr(found)), found(x), constraint.check(found(x)), found.inv(found(x))]
            else:
                outcome.append(found(T.tensor([[0.1, 0.2], [0.3, -0.4]])))
        return outcome

    check_both(program)


def test_what_is_registered_is_found():
    def program(T):
        D = T.distributions

        class Small(D.constraints.Constraint):
            pass

        before = dict(D.transform_to._registry)
        try:
            D.transform_to.register(Small, lambda c: D.ExpTransform())
            D.transform_to.register(Small)(lambda c: D.TanhTransform())
            return repr(D.transform_to(Small()))
        finally:
            D.transform_to._registry.clear()
            D.transform_to._registry.update(before)

    check_both(program)


def test_helpers():
    def program(T):
        utils = T.distributions.utils
        x = T.arange(9.0).reshape(3, 3)
        vectors = [utils.tril_matrix_to_vec(x, k) for k in (-1, 0, 1)]
        matrices = [utils.vec_to_tril_matrix(v, k) for v, k in zip(vectors, (-1, 0, 1), strict=True)]
        p = T.tensor([[0.2, 0.8], [0.0, 1.0]])
        return [vectors, matrices, utils.clamp_probs(p), utils.probs_to_logits(p), utils.logits_to_probs(p),
                utils.probs_to_logits(p, is_binary=True), utils.logits_to_probs(p, is_binary=True),
                utils.broadcast_all(1, T.ones(2, 1).double(), T.ones(3).double()),
                utils.broadcast_all(1, 2.0),
                utils.euler_constant, tried(lambda: utils.tril_matrix_to_vec(x, 3))]

    check_both(program)
