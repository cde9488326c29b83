"""What old programs and the first lines of training scripts call."""

from compat_tests.harness import attempt, case, leaf, raises


@case
def variables(T):
    from_data = T.ones(2)
    x = T.autograd.Variable(from_data, requires_grad=True)
    (x * x).sum().backward()
    from_data.add_(1)
    return (
        x, x.grad, x._version, isinstance(x, T.autograd.Variable), isinstance(3, T.autograd.Variable),
        T.autograd.Variable(leaf(T, 2) * 2),
    )


@case
def variables_of_other_things(T):
    return (
        raises(lambda: T.autograd.Variable(3)),
        raises(lambda: T.autograd.Variable(T.ones(2, dtype=T.int64), requires_grad=True)),
        attempt(lambda: T.autograd.Variable(T.ones(2), volatile=True)),
        attempt(lambda: T.autograd.Variable(T.ones(2, dtype=T.int64))),
    )


@case
def switches_for_equal_results(T):
    before = T.are_deterministic_algorithms_enabled()
    T.use_deterministic_algorithms(True, warn_only=True)
    inside = (
        T.are_deterministic_algorithms_enabled(),
        T.is_deterministic_algorithms_warn_only_enabled(),
    )
    T.use_deterministic_algorithms(False)
    return before, inside, raises(lambda: T.use_deterministic_algorithms(1))


@case
def switches_of_libraries(T):
    cudnn = T.backends.cudnn
    found = cudnn.benchmark, cudnn.deterministic, cudnn.enabled, T.backends.cuda.matmul.allow_tf32
    cudnn.benchmark = True
    changed, cudnn.benchmark = cudnn.benchmark, False
    return found, changed, cudnn.is_available(), T.backends.mps.is_available()
