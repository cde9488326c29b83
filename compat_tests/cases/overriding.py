"""``__torch_function__``: what subclasses, other classes and modes are asked, and what they make of it."""

import copy

import numpy as np

from compat_tests.harness import case, each, raises


def _classes(T):
    """A class that keeps a diary, one below it, and what else the calls name."""
    diary = []

    class Noting(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            result = super().__torch_function__(func, types, args, kwargs or {})
            diary.append((func.__name__, [t.__name__ for t in types], _kind(result)))
            return result

    class Below(Noting):
        pass

    class Plain(T.Tensor):
        pass

    class Other(T.Tensor):
        pass

    class Refusing(T.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            diary.append((func.__name__, [t.__name__ for t in types], sorted(kwargs or {})))
            return "quack"

    made = {cls.__name__.lower(): T.ones(2, 3).as_subclass(cls)
            for cls in (Noting, Below, Plain, Other, Refusing)}
    return diary, dict(made, T=T, F=T.nn.functional, p=T.ones(2, 3), np=np, copy=copy,
                       Plain=Plain, Noting=Noting, duck=Duck())


def _kind(result):
    return type(result).__name__


NOTED = """
T.add(noting, 1); noting + 1; 1 + noting; p + noting; noting - p; 1 - noting; noting.add_(1); noting.shape
noting.size(); noting.dim(); noting.T; noting.grad; noting.requires_grad; noting.sum(); T.stack([p, noting])
noting[0]; len(noting); repr(noting); list(noting)[0]; noting.numpy(); noting.tolist(); noting[0].clone()
bool(noting.sum() > 1); F.relu(noting); F.linear(noting, noting); T.zeros_like(noting); noting.new_zeros(2)
T.tensor(noting.numpy()); T.as_tensor(noting); T.is_tensor(noting); noting.max(dim=0); noting.max(dim=0)[0]
noting.split(1); noting.split(1)[0]; noting.detach(); noting.data; noting.dtype; T.matmul(noting, p.t())
noting @ p.t(); noting == 1; noting.is_leaf; noting.to(T.float64); below + noting; noting + below; abs(noting)
-noting; ~(noting > 1); noting ** 2; 2 ** noting; noting // 2; noting.numel(); noting.stride(); noting.mT
np.asarray(noting); noting.type(); noting.is_floating_point(); noting.device; noting.H
plain + 1; plain.sum(); plain[0]; plain.T; plain.float(); plain.max(0)[0]; plain.clone(); T.ones_like(plain)
plain.new_ones(2); plain.unbind()[0]; next(iter(plain)); repr(plain); plain.view(-1); plain.t(); Plain([1, 2])
Plain(p); T.nn.Parameter(plain); T.nn.Linear(3, 2)(plain); F.mse_loss(plain, p); p.add_(plain)
plain.requires_grad_().exp().sum().grad_fn.name(); hash(plain) == id(plain)
T.add(duck, 1); T.add(p, duck); T.cat([p, duck]); p * duck; T.exp(duck, out=p)
T.nn.functional.linear(p, duck); T.mean(duck, dim=1)
""".replace("\n", ";").split(";")


@each(**{text.strip(): text.strip() for text in NOTED if text.strip()})
def noted(T, text):
    diary, names = _classes(T)
    if "duck" in text:
        T.add(names["duck"], 0)  # the first one met
    diary.clear()
    return _kind(eval(text, names)), [list(map(str, entry)) for entry in diary]


REFUSED = dict(
    operator="refusing + 1", function="T.add(refusing, 1)", strangers="plain + other",
    strangers_function="T.add(plain, other)",
    format="f'{plain[0, 0]:.2f}'",
)


@each(**REFUSED)
def refused(T, text):
    _, names = _classes(T)
    return raises(lambda: eval(text, names), phrase="" if "T.add" in text else None,
                  because="the text goes on about logs of torch" if "T.add" in text else None)


@case
def modes(T):
    seen = []

    class Seeing(T.overrides.TorchFunctionMode):
        def __init__(self, name):
            self.name = name

        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((self.name, func.__name__))
            return func(*args, **(kwargs or {}))

    with Seeing("outer"), Seeing("inner"):
        x = T.zeros(2, 3)
        x.add(1).shape  # noqa: B018 - the asking is what is seen
        with T._C.DisableTorchFunction():
            x.mul(2)
    x.sum()
    return [list(entry) for entry in seen], x


@case
def switched_off(T):
    _, names = _classes(T)
    with T._C.DisableTorchFunctionSubclass():
        first = _kind(names["plain"] + 1)
    return first, _kind(names["plain"] + 1)


@case
def data_of_their_own(T):
    class Named(T.Tensor):
        @staticmethod
        def __new__(cls, data, name):
            return T.as_tensor(data).as_subclass(cls)

        def __init__(self, data, name):
            self.label = name

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            result = super().__torch_function__(func, types, args, kwargs or {})
            names = [a.label for a in args if hasattr(a, "label")]
            if isinstance(result, cls) and names:
                result.label = "+".join(names)
            return result

    a, b = Named([1.0, 2.0], "a"), Named([3.0, 4.0], "b")
    a.requires_grad_()
    c = a * b
    c.sum().backward()
    return c.label, T.add(b, 1).label, _kind(a.grad), a.grad.as_subclass(T.Tensor), c.as_subclass(T.Tensor)


@case
def asking(T):
    _, names = _classes(T)
    o = T.overrides
    return [o.has_torch_function((names["plain"], names["p"])), o.has_torch_function((names["p"], 1)),
            o.is_tensor_like(names["duck"]), o.is_tensor_like(1), o.resolve_name(T.add),
            o.resolve_name(T.nn.functional.linear), o.is_tensor_method_or_property(T.Tensor.add),
            o.handle_torch_function(T.add, (names["duck"],), names["duck"], 1)]
