"""``no_grad``, ``enable_grad``, ``set_grad_enabled`` and ``inference_mode``."""

import threading

from compat_tests.harness import attempt, case, each, leaf, raises, rand, warns

_MODES = dict(
    no_grad=lambda T: T.no_grad(), enable_grad=lambda T: T.enable_grad(),
    set_off=lambda T: T.set_grad_enabled(False), set_on=lambda T: T.set_grad_enabled(True),
    inference=lambda T: T.inference_mode(), inference_on=lambda T: T.inference_mode(True),
    inference_off=lambda T: T.inference_mode(False),
    set_keyword=lambda T: T.set_grad_enabled(mode=False),
    inference_keyword=lambda T: T.inference_mode(mode=False),
)


def _state(T):
    return T.is_grad_enabled(), T.is_inference_mode_enabled()


@each(**_MODES)
def as_context(T, mode):
    x = leaf(T, 3)
    with mode(T):
        y = x * 2
        inside = _state(T), y.requires_grad, y.is_inference(), y.is_leaf
    return inside, _state(T), y


@each(**{k: v for k, v in _MODES.items() if not k.startswith("set")})
def as_decorator(T, mode):
    x = leaf(T, 3)

    @mode(T)
    def double(t, *, by=2):
        """Doc."""
        return t * by, _state(T)

    y, inside = double(x, by=3)
    return y, inside, _state(T), double.__name__, double.__doc__


@each(no_grad=lambda T: T.no_grad, enable_grad=lambda T: T.enable_grad,
      inference_mode=lambda T: T.inference_mode)
def as_decorator_without_call(T, mode):
    x = leaf(T, 3)

    @mode(T)
    def double(t):
        return t * 2, _state(T)

    return double(x), _state(T), double.__name__


@each(set_off=False, set_on=True)
def set_grad_enabled_as_decorator(T, value):
    x = leaf(T, 3)

    @T.set_grad_enabled(value)
    def double(t):
        return t * 2, _state(T)

    after_decorating = _state(T)
    return after_decorating, double(x), _state(T)


@each(no_grad=lambda T: T.no_grad(), enable_grad=lambda T: T.enable_grad(),
      inference=lambda T: T.inference_mode())
def on_a_generator(T, mode):
    @mode(T)
    def steps(n):
        for i in range(n):
            sent = yield i, _state(T)
            if sent is not None:
                yield sent, _state(T)
        return "done"

    generator = steps(2)
    seen = [next(generator), _state(T), generator.send("hello"), _state(T), next(generator)]
    try:
        next(generator)
    except StopIteration as stop:
        seen.append(stop.value)
    return seen, _state(T)


@case
def on_a_generator_that_raises(T):
    @T.no_grad()
    def steps():
        try:
            yield _state(T)
        except ValueError:
            yield "caught", _state(T)
        raise KeyError("gone")

    generator = steps()
    first = next(generator)
    second = generator.throw(ValueError())
    error = raises(lambda: next(generator))
    return first, second, error, _state(T)


@case
def on_a_generator_closed_early(T):
    seen = []

    @T.no_grad()
    def steps():
        try:
            yield 1
            yield 2
        finally:
            seen.append(_state(T))

    generator = steps()
    next(generator)
    generator.close()
    return seen, _state(T)


@case
def on_a_class_is_deprecated(T):
    class Thing:
        def __init__(self):
            self.state = _state(T)

    return warns(lambda: T.no_grad()(Thing)().state)


@case
def on_methods(T):
    class Thing:
        @T.no_grad()
        def method(self):
            return _state(T)

        @classmethod
        @T.inference_mode()
        def of_class(cls):
            return _state(T)

        @staticmethod
        @T.no_grad
        def static():
            return _state(T)

    return Thing().method(), Thing.of_class(), Thing.static(), _state(T)


@case
def nested(T):
    seen = [_state(T)]
    with T.no_grad():
        seen.append(_state(T))
        with T.enable_grad():
            seen.append(_state(T))
            with T.set_grad_enabled(False):
                seen.append(_state(T))
            seen.append(_state(T))
            with T.inference_mode():
                seen.append(_state(T))
                with T.enable_grad():
                    seen.append(_state(T))
                    with T.inference_mode(False):
                        seen.append(_state(T))
            seen.append(_state(T))
        seen.append(_state(T))
    return seen, _state(T)


@case
def one_object_entered_twice(T):
    mode = T.no_grad()
    with mode:
        inside = _state(T)
    with mode:
        again = _state(T)
    return inside, again, _state(T)


@case
def left_by_an_error(T):
    def fail():
        with T.no_grad():
            raise KeyError("out")

    return raises(fail), _state(T)


@case
def set_grad_enabled_as_a_function(T):
    x = leaf(T, 3)
    T.set_grad_enabled(False)
    y = x * 2
    T.set_grad_enabled(True)
    z = x * 2
    return y.requires_grad, z.requires_grad


@each(int_=1, string="x", none=None)
def set_grad_enabled_wants_a_bool(T, value):
    error = raises(lambda: T.set_grad_enabled(value))
    T.set_grad_enabled(True)
    return error


@case
def each_thread_has_its_own(T):
    x, seen = leaf(T, 3), []

    def work():
        seen.append(_state(T))
        with T.no_grad():
            seen.append((x * 2).requires_grad)
        seen.append((x * 2).requires_grad)

    with T.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        seen.append(_state(T))
    return seen


@case
def each_thread_has_its_own_inference_mode(T):
    x, seen = leaf(T, 3), []

    def work():
        seen.append((_state(T), (x * 2).requires_grad, (x * 2).is_inference()))

    with T.inference_mode():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return seen


@case
def backward_from_another_thread(T):
    x = leaf(T, 3)
    y = (x * x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    return x.grad


@case
def two_threads_accumulate_into_one_leaf(T):
    x = leaf(T, 3)
    losses = [(x * x).sum(), (x * 3).sum()]
    threads = [threading.Thread(target=loss.backward) for loss in losses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return x.grad


@case
def no_grad_does_not_touch_requires_grad(T):
    with T.no_grad():
        x = leaf(T, 3)
        w = T.nn.Parameter(rand(T, 3))
        y = (x * 2).requires_grad_()
    (x + w + y).sum().backward()
    return x.requires_grad, w.grad, y.grad, y.is_leaf


@case
def a_constant_under_no_grad_is_a_constant_after(T):
    x = leaf(T, 3)
    with T.no_grad():
        c = x.exp()
    (c * x).sum().backward()
    return c, x.grad


@case
def enable_grad_inside_no_grad_records(T):
    x = leaf(T, 3)
    with T.no_grad(), T.enable_grad():
        y = (x * x).sum()
    y.backward()
    return x.grad


@case
def in_place_under_no_grad_on_a_result(T):
    x = leaf(T, 3)
    y = x * 2
    with T.no_grad():
        y += 1
    y.sum().backward()
    return y, x.grad


# --- inference mode ------------------------------------------------------------------------------


@case
def an_inference_tensor(T):
    x = leaf(T, 3)
    with T.inference_mode():
        y = x * 2
        made = T.ones(3)
        view = x[1:]
        copy = x.clone()
    return [(t.is_inference(), t.requires_grad, t.is_leaf) for t in (x, y, made, view, copy)]


@case
def an_inference_tensor_in_autograd(T):
    x = leaf(T, 3)
    with T.inference_mode():
        c = x * 2
    return (
        raises(lambda: x * c),
        attempt(lambda: (x + c).requires_grad),
        raises(lambda: (c * 1).requires_grad_() * c),
        attempt((c * 2).is_inference),
    )


@case
def an_inference_tensor_changed_outside(T):
    with T.inference_mode():
        c = T.ones(3)
        c.add_(1)
    # PyTorch raises after it wrote, so the values are no part of the promise
    return raises(lambda: c.add_(1)), raises(lambda: c[1:].mul_(2))


@case
def a_normal_tensor_changed_inside(T):
    x, h = rand(T, 3), leaf(T, 3) * 1
    with T.inference_mode():
        x.add_(1)
        x[1:].mul_(2)
        h.mul_(3)
    return x, x._version, h.detach(), h._version, attempt(lambda: h.sum().backward())


@case
def an_inference_tensor_has_no_version(T):
    with T.inference_mode():
        c = T.ones(3)
    return raises(lambda: c._version)


@case
def an_inference_tensor_requiring_grad(T):
    with T.inference_mode():
        c = T.ones(3)
        inside = attempt(lambda: c.requires_grad_().requires_grad)
    return inside, raises(lambda: T.ones(3).copy_(c).requires_grad_() * c), attempt(
        lambda: c.detach().is_inference()
    )


@case
def requires_grad_set_outside_on_an_inference_tensor(T):
    with T.inference_mode():
        c = T.ones(3)
    return raises(c.requires_grad_), c.requires_grad


@case
def a_clone_leaves_inference_mode(T):
    with T.inference_mode():
        c = T.ones(3) * 2
    x = c.clone().requires_grad_()
    (x * x).sum().backward()
    return c.clone().is_inference(), x.grad


@case
def a_view_of_a_leaf_in_inference_mode_changed_outside(T):
    x = leaf(T, 3)
    with T.inference_mode():
        part = x[1:]
    return part.is_inference(), raises(lambda: part.mul_(2)), attempt((part * 2).detach)


@case
def backward_inside_inference_mode(T):
    x = leaf(T, 3)
    y = (x * x).sum()

    def inside():
        with T.inference_mode():
            y.backward()

    return attempt(inside), x.grad


@case
def inference_results_survive_in_functions_without_grad(T):
    with T.inference_mode():
        c = T.ones(3)
    x = rand(T, 3)
    y = x * c
    return y.is_inference(), y, T.stack([c, x]).is_inference()


@case
def names_of_the_modes(T):
    return type(T.no_grad()).__name__, type(T.inference_mode()).__name__


@case
def inference_mode_off_records(T):
    x = leaf(T, 3)
    states = []
    for outer in (T.no_grad, T.inference_mode, T.enable_grad):
        with outer():
            with T.inference_mode(False):
                states.append((T.is_grad_enabled(), T.is_inference_mode_enabled(), (x * 2).requires_grad))
            states.append((T.is_grad_enabled(), T.is_inference_mode_enabled()))
    return states


@each(no_grad=lambda T: T.no_grad, enable_grad=lambda T: T.enable_grad)
def bare_modes_take_a_function_or_nothing(T, mode):
    return [
        raises(lambda: mode(T)(1, 2)), attempt(lambda: mode(T)(None) and True),
        raises(lambda: mode(T)(mode=True)),
    ]


@case
def parameters_of_an_inference_tensor(T):
    with T.inference_mode():
        x = T.ones(3)
        inside = T.nn.Parameter(x)
    return (
        raises(lambda: T.nn.Parameter(x)), attempt(lambda: x.data.add_(1)),
        T.nn.Parameter(x, requires_grad=False).is_inference(), inside.requires_grad,
        inside.is_inference(),
    )
