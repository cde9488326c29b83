"""What Python asks of a tensor: numbers, lengths, iteration, copies, comparison, formats, NumPy."""

import copy
import io
import math
import operator
import pickle
import warnings

import numpy as np

from compat_tests.harness import attempt, case, each


def _names(T):
    return dict(
        T=T, np=np, math=math, copy=copy, pickle=pickle, operator=operator, v=T.tensor([1.0, 2.0, 3.0]),
        m=T.arange(6.0).reshape(2, 3), i=T.tensor(2), f=T.tensor(2.7), b=T.tensor(True),
        k=T.tensor([1, 2, 3]), c=T.tensor(1 + 2j), z=T.tensor(3 + 0j), e=T.empty(0),
        one=T.tensor([5]), g=T.tensor([1.0, 2.0], requires_grad=True), w=T.tensor(1.5, requires_grad=True),
        h=T.tensor(1.5, dtype=T.bfloat16), mask=T.tensor([True, False, True]),
    )


def _plain(value):
    """Results in what the harness compares: arrays, iterators and odd objects as text."""
    if isinstance(value, np.ndarray):
        return ["array", str(value.dtype), list(value.shape), value.tolist()]
    if isinstance(value, np.generic):
        return ["scalar", str(value.dtype), value.item()]
    if isinstance(value, (range, bytes, slice, set, type)):
        return repr(value)
    if value is NotImplemented:
        return "NotImplemented"
    if isinstance(value, (list, tuple)) and not hasattr(value, "numel"):
        return [_plain(x) for x in value]
    return value


CALLS = """
int(f); int(i); int(b); int(one); int(v); int(e); int(c); int(z); int(w); int(h); float(i); float(f)
float(z); float(c); float(m); complex(f); complex(c); complex(v); bool(f); bool(T.tensor(0)); bool(v)
bool(e); bool(one); bool(c); operator.index(i); operator.index(f); operator.index(b); operator.index(one)
operator.index(k); [10, 20, 30][i]; [10, 20, 30][one[0] - 4]; [10][f]; range(i); list(range(T.tensor(3)))
"ab" * i; [0] * i; [0] * f; math.floor(f); math.ceil(f); math.trunc(f); math.sqrt(f); math.isnan(f)
round(f); round(f, 1); round(T.tensor(2.55), 1); round(i); round(v); round(v, 1); divmod(v, 2); divmod(2, v)
abs(-v); -v; +v; ~k; ~v; ~mask; +mask; -mask; pow(v, 2); pow(2, v); v ** None; v ** "a"; len(v); len(m)
len(f); len(e); list(m); list(f); tuple(k); [*v]; list(reversed(v)); list(reversed(f)); next(iter(m))
list(e); max(v); min(v); sum(v); sum([v, v]); sorted(v); list(zip(v, k)); list(enumerate(k)); any(v); all(v)
any(m); list(map(float, v)); dict(a=v)["a"]; 2 in v; 2.0 in k; True in mask; f in v; v in v; k[0] in k
"a" in v; None in v; [1] in v; v in [v]; f in [1, f]; i in {2: 0}; {i: 1}[i]; len({i, i, T.tensor(2)})
hash(i) == hash(i); hash(v) == hash(v); i == i; v == v; v == 1; v == None; v != None; v == "a"; v != "a"
v == [1.0, 2.0, 3.0]; v == (1, 2); v == object(); v < None; v < "a"; v > [1]; v <= object(); v >= None
"a" < v; None == v; "a" == v; v is v; v == k; v < k; 1 < v; v == np.float64(2); np.float64(2) == v
v < np.array([2.0]); v == {}; v == slice(None); v + None; v + "a"; v + [1, 2, 3]; "a" + v; None + v; [1] + v
v - None; v * "a"; v * [1]; "a" * k; v / None; v // "a"; v % None; v @ None; v @ [1.0]; v & None; k & 1.5
v & 1; k & 1; 1 & k; k | 2; k ^ 3; k << 1; 1 << k; k >> 1; 8 >> k; v << 1; k << "a"; mask & True
mask | mask; mask ^ False; True & mask; mask - mask; 1 - mask; v + object(); object() + v; v + {}; v + 1j
v + True; True + k; v + np.float32(1); np.float32(1) + v; np.int64(2) * k; k * np.float64(1.5)
v + np.ones(3); np.ones(3) + v; np.ones(3) * k; v * np.ones(3, np.float32); v @ np.ones(3)
np.ones((3, 3)) @ v; v / np.int32(2); np.sin(v); np.add(v, v); np.add(v, 1); np.sqrt(k); np.greater(v, 1)
np.maximum(v, 2.0); np.stack([v, v]); np.concatenate([v, v]); np.argmax(v); np.dot(v, v); np.matmul(m, v)
np.isnan(v); np.allclose(v, v); np.array_equal(v, v); np.exp(f); np.array(v); np.asarray(v)
np.array(k, dtype=float); np.asarray(v, dtype=np.int32); np.array([v, v]); np.array([f, f]); np.array(f)
np.asarray(g); np.array(h); np.array(c); np.array(mask); np.array(e); np.asarray(m.t()); np.array(m[:, 1])
float(np.asarray(f)); np.full(2, f); np.arange(i); np.zeros(i); np.ones(3)[i]; np.ones(3)[k - 1]
np.ones(3)[mask]; np.ones((2, 3))[i - 1, i]; np.isscalar(f); np.shape(m); np.ndim(m); np.float32(f)
np.int64(i); np.bool_(b); np.asarray(v, copy=True); np.array(w); np.linspace(0, i, 3); np.where(mask, v, 0)
v.__array__(); v.__array__(np.float64); v.__array__(dtype=np.int64); T.Tensor.__array_priority__
g.__array__(); v.__array__(None); f"{f:.2f}"; f"{i:d}"; f"{i:5d}"; f"{i:>5}"; f"{f:e}"; f"{b}"; f"{i}"
f"{v}"; f"{v!r}"; f"{v:.2f}"; f"{v:>3}"; f"{w:.1f}"; f"{w}"; f"{c:.1f}"; f"{one:d}"; f"{h:.2f}"; "%d" % i
"%.2f" % f; "%s" % f; "%d" % f; "%f" % v; "%s" % v; "{}".format(v); "{:.1f}".format(f); "%d %d" % (i, i)
"%i" % one; "%x" % i; str(v); repr(m); str(i); str(e); ascii(f); repr(g); str(w * 2); str(mask); repr(c)
str(k.to(T.int8)); repr(h); v.shape == (3,); v.shape == T.Size([3]); m.shape[0] + 1; (*m.shape, 1)
m.size() + (1,); hash(m.shape) == hash((2, 3)); m.shape * 2; m.shape[:1]; m.shape.numel(); v.missing
T.missing; v(); v[None].shape; v[...].shape; isinstance(v, T.Tensor); isinstance(v, T.FloatTensor)
issubclass(T.nn.Parameter, T.Tensor); callable(v); type(v).__name__; v.__class__ is T.Tensor
T.Tensor.__name__; T.Tensor.__qualname__; T.is_tensor(np.ones(2)); bool([v]); v.__len__(); copy.copy(v) is v
copy.copy(g).requires_grad; copy.deepcopy(g); copy.deepcopy(m.t()); copy.deepcopy(g * 2)
copy.deepcopy(m[0]); copy.deepcopy([v, v])[0] is v; pickle.loads(pickle.dumps(v))
pickle.loads(pickle.dumps(g)); pickle.loads(pickle.dumps(m.t())); pickle.loads(pickle.dumps(h))
pickle.loads(pickle.dumps(e)); pickle.loads(pickle.dumps(T.nn.Parameter(v)))
pickle.loads(pickle.dumps({"a": [v, k]}))["a"][1]; pickle.loads(pickle.dumps(T.float32)) is T.float32
pickle.loads(pickle.dumps(T.Size([2]))); pickle.loads(pickle.dumps(T.device("cpu")))
pickle.loads(pickle.dumps(g * 2)); copy.copy(T.float32) is T.float32
copy.deepcopy(T.device("cpu")) == T.device("cpu"); v.tolist(); f.tolist(); m.tolist(); e.tolist(); v.item()
one.item(); c.item(); b.item(); h.item(); e.item(); v.numpy().flags.owndata in (True, False); g.numpy()
g.detach().numpy(); h.numpy(); v.__iter__().__class__.__name__ != ""; operator.length_hint(v)
operator.add(v, 1); operator.iadd(v, 1); operator.matmul(v, v); operator.contains(v, 2.0)
operator.getitem(v, 0); operator.truth(f); operator.not_(f); not f; not v; f and 1; e or 1; v if f else k
1 < f < 3; 0 < v < 4; f is None; i == 2 and True; f != f; slice(i)  == slice(i); "abc"[i - 1:]; "abcde"[i:]
bytes(k.tolist()); k[i]; k[i:]; k[:i]; v[mask]; v[k - 1]; v[[0, 1]]; v[0, None]; v[f]; v["a"]; v[0.5]
m[i - 1, i]; int.__add__(1, i); (1).__add__(i); (1.5).__mul__(f); i.__radd__(1); f.__rsub__(1)
v.__rpow__(2); v.__rtruediv__(1); k.__rfloordiv__(7); k.__rmod__(7); v.__rmatmul__(v); k.__rand__(1)
v.__eq__("a"); v.__lt__("a"); v.__add__("a"); v.__and__("a"); v.__matmul__("a"); v.__pow__("a")
v.__floordiv__("a"); v.__mod__("a"); v.__radd__("a"); v.__truediv__("a"); k.__lshift__("a"); v.__ne__(None)
v.__iadd__("a"); v.__imul__(2); k.__ior__(1); k.__iand__("a"); v.__ipow__(2); v.__ifloordiv__(2)
v.__imod__(2); v.__itruediv__(2); k.__ilshift__(1); k.__irshift__(1); k.__ixor__(1); v.__isub__(1)
T.is_tensor(v); T.equal(v, "a"); v.__deepcopy__({}); v.__reversed__(); v.__contains__(1.0)
v.__dlpack_device__()[1]; int(v.__dlpack_device__()[0]); T.from_dlpack(v); T.from_dlpack(np.ones(2))
np.from_dlpack(v); T.as_tensor(np.float32(2)); T.tensor(np.ones(2)); T.tensor([f, f]); T.tensor([[i, 1]])
T.tensor(v); T.as_tensor(v) is v; T.tensor([v, v]); T.tensor(f); T.tensor([True, 2]); T.tensor("a")
T.tensor(None); T.tensor([None]); T.tensor({}); T.tensor(range(3)); T.tensor((1, 2.0))
T.tensor([[1], [1, 2]]); T.zeros(i, 2); T.zeros((i, 2)); T.ones(i); T.full((i,), f); T.arange(i)
""".strip().replace("\n", ";").split(";")


@each(**{text.strip(): text.strip() for text in CALLS if text.strip()})
def asked(T, text):
    # NumPy deprecates the forms of __array__ and __array_wrap__ that torch has.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    return _plain(attempt(lambda: eval(text, _names(T))))


@case
def in_place_operators(T):
    n = _names(T)
    kept = []
    for name in "iadd isub imul itruediv ifloordiv imod ipow".split():
        x = T.tensor([4.0, 9.0])
        before = x
        x = getattr(operator, name)(x, 2)
        kept += [x is before, x, attempt(lambda x=x, name=name: getattr(operator, name)(x, "a")),
                 attempt(lambda x=x, name=name: getattr(operator, name)(x, None))]
    for name in "iand ior ixor ilshift irshift".split():
        x = T.tensor([4, 9])
        kept += [getattr(operator, name)(x, 2),
                 attempt(lambda x=x, name=name: getattr(operator, name)(x, "a")),
                 attempt(lambda x=x, name=name: getattr(operator, name)(x, 1.5))]
    x = 3
    x += n["k"]
    y = [1, 2]
    kept += [x, attempt(lambda: operator.iadd(y, n["k"])), attempt(lambda: operator.imatmul(n["m"], n["v"]))]
    return kept


@case
def attributes(T):
    x = T.ones(2)
    x.anything = "kept"
    twin, deep = copy.copy(x), copy.deepcopy(x)

    def delete():
        del x[0]

    def unset():
        del x.shape

    def set_shape():
        x.shape = (1, 2)

    return [x.anything, twin.anything, deep.anything, sorted(vars(x)), attempt(delete), attempt(unset),
            attempt(set_shape), attempt(lambda: x.nothing), hasattr(x, "nothing"), "anything" in dir(x),
            "add_" in dir(x), "__add__" in dir(T.Tensor)]


@case
def copies_are_apart(T):
    g = T.tensor([1.0, 2.0], requires_grad=True)
    (g * g).sum().backward()
    deep, pickled = copy.deepcopy(g), pickle.loads(pickle.dumps(g))
    both = copy.deepcopy([g, g, g.detach()])
    file = io.BytesIO()
    T.save(g, file)
    file.seek(0)
    saved = T.load(file)
    with T.no_grad():
        g.add_(1)
    return [deep, deep.grad, pickled, both[0] is both[1], both[2], saved, saved.grad, copy.copy(g), g]


@case
def unpacking(T):
    a, b = T.tensor([1.0, 2.0], requires_grad=True)
    (first, *rest), = [T.arange(3)]
    kept = {a: "a", b: "b"}
    a.backward()
    return a, b, first, rest, kept[a], kept[b], len(kept), [x is y for x, y in zip((a, b), kept)]


@case
def writing_through_iteration(T):
    m = T.zeros(2, 3)
    for row in m:
        row += 1
    for i, x in enumerate(m[0]):
        x.fill_(i)
    return m
