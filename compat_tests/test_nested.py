"""``torch.nested``: shapes, values, text, gradients and refusals of nested tensors, against PyTorch."""

import re
import warnings

import pytest
import torch

import jaxflow

ROWS = [[[0.5, -1.0, 2.0], [3.0, 4.5, -5.0]], [[10.0, 1.5, 0.25], [-1.0, 2.0, 3.0], [0.75, 8.0, -2.5]]]


MAKE = dict(
    a=lambda c: [c.T.tensor(r, requires_grad=c.grad) for r in ROWS],
    n=lambda c: c.N.as_nested_tensor(c.a, layout=c.J),
    m=lambda c: c.n * 0.5 + 1,
    t=lambda c: c.n.transpose(1, 2),
    p=lambda c: c.N.nested_tensor([c.T.tensor([0.5, -1.5]), c.T.tensor([2.0, 1.0, 0.25])], layout=c.J,
                                  requires_grad=c.grad),
    i=lambda c: c.N.nested_tensor([c.T.tensor([1, 2]), c.T.tensor([3, 0, 5])], layout=c.J),
    other=lambda c: c.N.nested_tensor(list(c.T.tensor(ROWS[1]).split([1, 2])), layout=c.J),
    h=lambda c: c.N.nested_tensor_from_jagged(c.T.arange(10.0).reshape(5, 2), c.T.tensor([0, 2, 5]),
                                              c.T.tensor([1, 2])),
    s=lambda c: c.N.as_nested_tensor(c.a),
    r=lambda c: c.N.nested_tensor([c.T.ones(2, 4), c.T.arange(15.0).reshape(3, 5)], requires_grad=c.grad),
    w=lambda c: (c.T.arange(6.0).reshape(2, 3) / 4 - 0.5).requires_grad_(c.grad),
    b=lambda c: c.T.tensor([0.25, -1.0], requires_grad=c.grad),
    v=lambda c: c.T.tensor([1.0, -2.0, 0.5], requires_grad=c.grad),
    d=lambda c: (c.T.arange(6.0).reshape(2, 1, 3) / 2 - 1).requires_grad_(c.grad),
    e=lambda c: (c.T.arange(12.0).reshape(2, 3, 2) / 4 - 1).requires_grad_(c.grad),
)


class Case(dict):
    """What the rows below name: nested tensors and ordinary ones of a namespace, made when they are used."""

    def __init__(self, T, grad=False):
        self.T, self.N, self.F, self.J, self.grad = T, T.nested, T.nn.functional, T.jagged, grad
        super().__init__(T=self.T, N=self.N, F=self.F, J=self.J)

    def __missing__(self, name):
        if name not in MAKE:
            raise KeyError(name)
        self[name] = MAKE[name](self)
        return self[name]

    def __getattr__(self, name):
        return self[name]

    def leaves(self):
        found = [self[name] for name in "pwbvdre" if name in self]
        return [*self.get("a", ()), *found]


def text_of(x):
    return re.sub(r"\bj\d+", "j", re.sub(r" at 0x[0-9a-f]+", "", str(x)))


def numbers(x):
    return x.detach().double().reshape(-1).tolist()


def equal(a, b):
    """Whether two results of `seen` are the same, numbers to within rounding."""
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        if a and all(isinstance(x, float) for x in (*a, *b)):
            return a == pytest.approx(b, rel=1e-4, abs=1e-5, nan_ok=True)
        return len(a) == len(b) and all(map(equal, a, b))
    return a == b


def seen(x):
    if isinstance(x, (tuple, list)) and not hasattr(x, "numel"):
        return [seen(y) for y in x]
    if not hasattr(x, "requires_grad"):
        return text_of(x)
    kind = str(x.dtype).split(".")[1], str(x.layout), x.dim(), x.requires_grad
    if x.is_nested:
        shape = text_of(tuple(x.shape)) if str(x.layout) == "torch.jagged" else x.is_contiguous()
        return "nested", *kind, shape, [(tuple(r.shape), numbers(r)) for r in x.detach().unbind()]
    return *kind, tuple(x.shape), numbers(x)


def run(T, text, grad=False):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is a prototype
        case = Case(T, grad)
        try:
            return case, eval(text, {}, case)
        except Exception as error:  # noqa: BLE001 - whatever PyTorch raises
            return case, error


def rows(text):
    return [line.strip() for line in text.strip().splitlines()]


UNARY = "abs atan ceil erf exp isnan log1p logical_not nan_to_num neg round sigmoid sin square tanh".split()
ACTIVATIONS = "elu gelu hardtanh leaky_relu mish relu selu silu softplus tanhshrink".split()
BINARY = "add atan2 div eq fmax gt isclose maximum mul sub".split()
STRIDED_UNARY = "abs cos isnan logical_not neg sgn sin tanh".split()

JAGGED = [
    *(f"T.{name}(n)" for name in UNARY),
    *(f"F.{name}(t)" for name in ACTIVATIONS),
    *(f"T.{name}({a})" for name in BINARY for a in ("n, m", "d, n")),
    *rows("""
        n.shape
        n.size(1)
        n.size(-1)
        n.stride()
        t.stride()
        n.numel()
        h.numel()
        n.dim()
        n.ndim
        len(n)
        n.offsets()
        n.lengths()
        h.lengths()
        n.layout
        n.dtype
        n.nbytes
        n.element_size()
        n.is_nested
        v.is_nested
        T.is_tensor(n)
        n.shape[1] == n.shape[1]
        n.shape[1] == other.shape[1]
        n.shape[1] == 5
        n.shape[1] >= 2
        n.shape[1] * 3
        n.values()
        t.values()
        h.values()
        n.unbind()
        list(n)
        t.unbind()
        h.unbind()
        n.is_contiguous()
        t.is_contiguous()
        h.is_contiguous()
        t.contiguous()
        h.contiguous()
        n.contiguous() is n
        t.clone()
        n.detach()
        n.to(T.float64)
        n.to(T.float32) is n
        n.double()
        n.half().dtype
        (n > 1).dtype
        i.float()
        n.type()
        str(n)
        str(n.detach())
        format(n.detach())
        repr(h)
        n.to_padded_tensor(-1)
        N.to_padded_tensor(n, 0.5, (2, 4, 3))
        i.to_padded_tensor(0)
        t.to_padded_tensor(0)
        N.nested_tensor_from_jagged(v, T.tensor([0, 1, 3])).to_padded_tensor(-1)
        N.nested_tensor_from_jagged(v, T.tensor([0, 1, 3]), max_seqlen=2).to_padded_tensor(-1)
        N.nested_tensor_from_jagged(v, lengths=T.tensor([2, 1]))
        N.nested_tensor_from_jagged(w, T.tensor([0, 1, 3]), jagged_dim=2)
        N.nested_tensor([[1, 2], [3]], layout=J)
        N.nested_tensor([T.ones(2, 3), T.ones(2, 4)], layout=J)
        N.nested_tensor([T.ones(2), T.ones(3)], layout=J, dtype=T.int32)
        N.nested_tensor(T.ones(2, 3), layout=J)
        N.as_nested_tensor(T.arange(12.0).reshape(2, 2, 3), layout=J)
        N.as_nested_tensor(n, layout=J) is n
        N.as_nested_tensor(n, layout=J, dtype=T.float64)
        N.narrow(T.arange(12.0).reshape(3, 4), 1, T.tensor([0, 1, 2]), T.tensor([1, 2, 2]), layout=J)
        N.narrow(T.arange(12.0).reshape(3, 4), 1, 0, 2, layout=J)
        N.narrow(T.arange(12.0).reshape(3, 4), 1, 0, 4, layout=J)
        N.masked_select(T.arange(6).reshape(2, 3), T.tensor([[True, False, True], [False, True, False]]))
        p.masked_select(p > 0)
        n + 1
        2 - n
        1 / n
        n ** 2
        -n
        n * T.tensor(2.0)
        n + d
        n + T.ones(2, 3, 3)
        n + T.ones(1, 1, 3)
        n % 2
        i & 1
        i << 1
        ~i
        n == m
        n.clamp(0, 1)
        T.clamp(n, min=0.5)
        T.lerp(n, m, 0.5)
        T.where(n > 1, n, m)
        T.where(n > 1, n, 0.0)
        T.where(n > 1, n, T.tensor(0.0))
        n.masked_fill(n > 1, 0)
        F.dropout(n, 0.5, False)
        F.threshold(n, 0.5, -1.0)
        n.sum()
        n.sum(1)
        n.sum(2)
        n.sum(-1, keepdim=True)
        n.sum(1, keepdim=True)
        n.sum((0, 1))
        n.sum((0, 1), keepdim=True)
        n.sum((0, 1, 2))
        t.sum(1)
        t.sum(2)
        i.sum(1)
        n.mean()
        n.mean(1)
        n.mean(1, keepdim=True)
        n.mean(-1)
        n.mean((0, 1))
        n.prod(1)
        n.amax(1)
        n.amin(1)
        n.amax(-1)
        i.amax(1)
        n.max()
        n.max(2)[0]
        n.max(1)[0]
        n.max(1)[1]
        n.min(2)[1]
        T.max(n, m)
        n.argmax(1)
        n.argmin(2)
        n.argmax()
        (n > 1).any(1)
        (n > 1).all(2)
        (n > 1).any()
        n.softmax(-1)
        n.softmax(1)
        p.softmax(1)
        F.softmax(n, dim=-1)
        n.log_softmax(-1)
        F.layer_norm(n, (3,), v, v)
        F.layer_norm(n, (3,))
        F.rms_norm(n, (3,), v)
        F.linear(n, w, b)
        F.linear(n, w)
        n @ w.t()
        n.matmul(e)
        T.bmm(n, e)
        w @ t
        t @ n
        F.embedding(i, w.t().repeat(2, 1))
        F.one_hot(i)
        n.transpose(1, 2)
        n.swapaxes(1, 2)
        n.permute(0, 2, 1)
        n.mT
        n.movedim(1, 2)
        n.unsqueeze(1)
        n.unsqueeze(-1)
        n.unsqueeze(-1).squeeze(-1)
        n.squeeze(-1)
        n.reshape(2, -1, 3, 1)
        n.view(2, -1, 1, 3)
        n.view(2, n.shape[1], 3)
        n.reshape(2, -1, -1)
        n.unflatten(-1, (3, 1))
        n.unsqueeze(-1).flatten(2)
        n.flatten(2)
        n.expand(2, -1, 3)
        n.unsqueeze(-1).expand(2, -1, 3, 2)
        n.expand_as(n)
        n.chunk(3, -1)
        n.chunk(2, 0)
        n.split(2, -1)
        n.split([1, 2], 2)
        n.narrow(2, 0, 2)
        n.select(2, 0)
        n.select(0, 1)
        t.select(1, 0)
        n[0]
        n[1, 2]
        n[..., 1:]
        n[..., 0]
        T.cat([n, m], -1)
        T.cat([n, T.ones(1, 3)], -1)
        T.stack([n, m], -1)
        T.zeros_like(n)
        T.ones_like(n, dtype=T.int32)
        T.full_like(n, 3.0)
        T.rand_like(n).shape
        T.randn_like(n).shape
        T.randint_like(n, 5).shape
        T.empty_like(n).shape
        n.is_same_size(m)
        n.new_tensor([1])
        n.detach().add_(1)
        n.detach().mul_(m)
        n.detach().fill_(2)
        n.detach().zero_()
        n.detach().relu_()
        (n * 1).add_(1)
        (n * 1).mul_(v)
        F.relu(n * 1, inplace=True)
        n.detach().copy_(m)
        F.scaled_dot_product_attention(*[x.unflatten(-1, (1, 3)).transpose(1, 2) for x in (n, m, n)])
        F.scaled_dot_product_attention(n.unsqueeze(1), m.unsqueeze(1), n.unsqueeze(1), scale=0.3)
        F.scaled_dot_product_attention(n.unsqueeze(2), m.unsqueeze(2), n.unsqueeze(2))
        F.scaled_dot_product_attention(n.unsqueeze(1), *[other.unsqueeze(1)] * 2)
    """),
]

STRIDED = [
    *(f"T.{name}(s)" for name in STRIDED_UNARY),
    *rows("""
        s
        r
        s.detach()
        s.size(0)
        s.size(2)
        s.numel()
        s.dim()
        s.layout
        s.is_nested
        s._nested_tensor_size()
        s.unbind()
        [x for x in s]
        s.values()
        s.to(T.float64)
        s.clone()
        N.nested_tensor([])
        N.nested_tensor([1.0, 2.0])
        N.nested_tensor([[1, 2], [3]])
        N.nested_tensor([T.ones(2), T.ones(2, dtype=T.int32)])
        N.nested_tensor([[1.0], [2.0, 3.0]], dtype=T.float64)
        N.as_nested_tensor(T.ones(2, 2, 3))
        N.narrow(T.arange(12.0).reshape(3, 4), 0, 1, 2)
        s.to_padded_tensor(0)
        r.to_padded_tensor(-1)
        r.to_padded_tensor(0, (2, 4, 6))
        s + 1
        2 * s
        s * s
        s - s
        s / 2
        s + T.tensor(1.5)
        s.add(s, alpha=2)
        s > 1
        s >= 1
        s.eq(0.5)
        F.gelu(s)
        F.relu(r)
        F.silu(s)
        F.dropout(s, 0.0)
        s.masked_fill(s > 1, 0.0)
        s.softmax(-1)
        s.softmax(1)
        r.softmax(-1)
        r.softmax(1)
        s.sum(-1, keepdim=True)
        F.linear(s, w, b)
        F.layer_norm(s, (3,), v, v)
        s.matmul(s.transpose(1, 2))
        r @ r.transpose(1, 2)
        T.bmm(s, s.transpose(1, 2))
        s.transpose(1, 2)
        s.transpose(1, 2).contiguous()
        s.chunk(3, -1)
        s.select(0, 1)
        s.select(1, 0)
        s.select(2, 0)
        s[0]
        s[-1]
        s[0, 0]
        s[1, 1, 2]
        s.unsqueeze(1)
        s.unsqueeze(3)
        s.squeeze(1)
        s.unsqueeze(-1).squeeze(-1)
        s.reshape(2, -1, 3, 1)
        s.view(2, -1, 1, 3).transpose(1, 2)
        T.cat([s.detach(), r.detach()])
        T.zeros_like(s)
        T.ones_like(s)
        F.embedding(N.nested_tensor([[0, 1], [1]]), w)
        s.detach().add_(1)
        s.detach().mul_(s.detach())
        s.detach().fill_(1)
        s.detach().zero_()
        F.scaled_dot_product_attention(s, s, s)
        F.scaled_dot_product_attention(*[s.reshape(2, -1, 1, 3).transpose(1, 2).contiguous()] * 3)
    """),
]

REFUSED = rows("""
    n.sum(0)
    n.sum((1, 2))
    n.mean((1, 2))
    n.cumsum(1)
    n.sort()
    n.flatten(1, 2)
    n.flatten()
    n.transpose(0, 1)
    n.T
    n.squeeze(0)
    n.squeeze()
    n.unsqueeze(0)
    n + other
    n + T.ones(5, 3)
    n + s
    t + n
    t + T.ones(3, 1)
    n + T.ones(1, 2, 2, 3)
    n.item()
    bool(n)
    n.tolist()
    n.numpy()
    n[:, 0]
    n.softmax(0)
    n.log_softmax(1)
    h.softmax(1)
    h.sum(1)
    h.to_padded_tensor(0)
    n.chunk(2, 1)
    n.narrow(1, 0, 1)
    n.select(1, 0)
    n.view(-1, 3)
    n.view(2, 3, 3)
    n.var(1)
    n.norm()
    n.repeat(1, 1, 2)
    n @ n
    n @ v
    T.cat([n, n], 0)
    T.stack([n, n])
    n.masked_select(n > 1)
    F.linear(t, w)
    F.mse_loss(n, n)
    F.glu(n)
    F.layer_norm(p, (3,))
    F.layer_norm(n, (2, 3, 3))
    n.new_zeros(3)
    n // 2
    n.backward()
    n.shape[1] > 3
    n.gather(2, n.long())
    F.scaled_dot_product_attention(n, n, n)
    F.scaled_dot_product_attention(n.unsqueeze(1), n.unsqueeze(1), n.unsqueeze(1), attn_mask=T.ones(3, 3))
    F.scaled_dot_product_attention(n.unsqueeze(1), n.unsqueeze(1), e.unsqueeze(1))
    T.where(T.ones(3) > 0, n, n)
    n.copy_(other)
    N.nested_tensor([T.ones(2, 3), T.ones(3, 4)], layout=J)
    N.nested_tensor([], layout=J)
    N.nested_tensor([T.tensor(1.0)], layout=J)
    N.nested_tensor([T.ones(2), T.ones(2, 2)], layout=J)
    N.nested_tensor([T.ones(2), T.ones(2).int()], layout=J)
    N.nested_tensor([T.ones(2)], layout=T.sparse_coo)
    N.nested_tensor([T.ones(2).int()], layout=J, requires_grad=True)
    N.nested_tensor(3)
    N.nested_tensor([T.ones(2), T.ones(2, 2)])
    N.as_nested_tensor(3)
    N.as_nested_tensor(v)
    N.as_nested_tensor(n)
    N.nested_tensor_from_jagged(v)
    N.nested_tensor_from_jagged(v, T.tensor([0, 3]), jagged_dim=0)
    N.narrow(w, 0, 0, 2, layout=J)
    N.narrow(w, 1, 'a', 2)
    N.narrow(w, 1, 0, 2)
    N.narrow(w, 0, T.tensor([0]), 1)
    v.to_padded_tensor(0.0)
    s.shape
    s.size()
    s.size(1)
    s.stride()
    len(s)
    s + r
    s + T.ones(3)
    s == s
    s.exp()
    s < 1
    1 - s
    s ** 2
    s.sum()
    s.sum(-1)
    s.sum(1, keepdim=True)
    s.softmax(0)
    s.mean(-1)
    s.unbind(1)
    s.chunk(2, 0)
    s.chunk(2, -1)
    s.transpose(0, 1)
    s.permute(0, 2, 1)
    s.unsqueeze(0)
    s.squeeze(0)
    s.reshape(2, -1)
    s.flatten(1, 2)
    s.split(1, -1)
    s[0:1]
    s[5]
    s.to_padded_tensor(0, (2, 2, 2))
    s.transpose(1, 2).to_padded_tensor(0)
    s @ w
    T.bmm(s, s)
    F.linear(r, w)
    F.layer_norm(s, (3,))
    T.stack([s, s])
    s.tolist()
    T.equal(s, s)
""")

# What is said is compared with these words of it: after them PyTorch speaks of its kernels, of shapes as C++
# prints them, or of its own bugs.
SAID = re.compile(r"aten\.\w+|Could not run 'aten::\w+|[\w' ,()!=.:-]+")
OTHER_WORDS = {"F.linear(t, w)": "expected input to be a contiguous jagged layout NestedTensor",
               "T.where(T.ones(3) > 0, n, n)": "expected condition to be a jagged layout NestedTensor",
               "n + s": "one nested tensor has the strided layout", "n.item()": "a Tensor with",
               "s.flatten(1, 2)": "Could not run"}

# PyTorch refuses on CPUs to pass gradients through sums and means over the ragged dimension, its softmax and
# attention; `tests/test_nested.py` holds those against the same of each row.
GRADIENTS = rows("""
    n[0].square().sum()
    (n * n).sum()
    (n * m + v).sum()
    (n * d).sum()
    n.tanh().sum()
    n.mean(-1).square().sum()
    n.amax(1).square().sum()
    n.softmax(-1).values().square().sum()
    F.layer_norm(n, (3,), v, v).square().sum()
    F.linear(n, w, b).square().sum()
    F.linear(n, w, b).relu().to_padded_tensor(0.0).square().sum()
    (n @ e).square().sum()
    (w @ t).square().sum()
    (t @ n).square().sum()
    n.unbind()[1].square().sum()
    n.chunk(3, -1)[1].square().sum()
    T.cat([n, m], -1).square().sum()
    T.where(n > 1, n, m * 2).square().sum()
    n.masked_fill(n > 1, 0).square().sum()
    n.unflatten(-1, (3, 1)).transpose(1, 2).square().sum()
    p.square().sum()
    F.embedding(i, w.t().repeat(2, 1)).square().sum()
    (n * 1).mul_(v).square().sum()
    s.to_padded_tensor(0.0).square().sum()
    (s * s).to_padded_tensor(0.0).sum()
    r.to_padded_tensor(0.0).square().sum()
    r.softmax(-1).to_padded_tensor(0.0).square().sum()
    F.linear(s, w, b).to_padded_tensor(0.0).square().sum()
    F.layer_norm(s, (3,), v, v).to_padded_tensor(0.0).square().sum()
    s.matmul(s.transpose(1, 2)).to_padded_tensor(0.0).square().sum()
    F.gelu(s).to_padded_tensor(0.0).square().sum()
""")


def same(text, grad=False):
    (_, ours), (_, theirs) = run(jaxflow, text, grad), run(torch, text, grad)
    assert not isinstance(theirs, Exception), f"torch: {theirs!r}"
    assert not isinstance(ours, Exception), f"{ours!r}"
    left, right = seen(ours), seen(theirs)
    assert equal(left, right), f"{left} is not {right}"


@pytest.mark.parametrize("text", JAGGED)
def test_jagged(text):
    same(text, grad=True)


@pytest.mark.parametrize("text", STRIDED)
def test_strided(text):
    same(text, grad=True)


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    (_, ours), (_, theirs) = run(jaxflow, text), run(torch, text)
    assert isinstance(theirs, Exception) and isinstance(ours, Exception), (ours, theirs)
    if text in OTHER_WORDS:
        assert OTHER_WORDS[text] in str(ours)
        return
    assert type(ours) is type(theirs), (ours, theirs)
    first = SAID.match(text_of(theirs))
    assert first and first.group()[:40].strip() in text_of(ours), (ours, theirs)


@pytest.mark.parametrize("text", GRADIENTS)
def test_gradients(text):
    (mine, ours), (other, theirs) = run(jaxflow, text, True), run(torch, text, True)
    for result in (ours, theirs):
        assert not isinstance(result, Exception), repr(result)
        result.backward()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-4, abs=1e-4)
    for x, y in zip(mine.leaves(), other.leaves(), strict=True):
        assert (x.grad is None) == (y.grad is None)
        if x.grad is not None:
            assert x.grad.is_nested == y.grad.is_nested
            if x.grad.is_nested:
                assert [tuple(r.shape) for r in x.grad.unbind()] == [tuple(r.shape) for r in y.grad.unbind()]
                x, y = (T.cat([r.reshape(-1) for r in z.grad.unbind()])
                        for T, z in ((jaxflow, x), (torch, y)))
            else:
                x, y = x.grad, y.grad
            assert x.reshape(-1).tolist() == pytest.approx(y.reshape(-1).tolist(), rel=1e-3, abs=1e-4)


LAYERS = rows("""
    MHA(x, x, x)
    MHA(x, x, x, need_weights=False)
    MHA(x, x, x, average_attn_weights=False)
    LAYER(x)
    ENC(x)
    ENC(y, src_key_padding_mask=pad)
    ENC(y, src_key_padding_mask=T.zeros(2, 4).masked_fill(pad, -T.inf))
    ENC(y, src_key_padding_mask=~pad)
    ENC(y, mask=T.zeros(4, 4), src_key_padding_mask=pad)
    ENC(y)
    LAYER(y, src_key_padding_mask=pad)
    T.nn.TransformerEncoder(LAYER, 2, norm=NORM)(y, src_key_padding_mask=pad)
    T.nn.TransformerEncoder(LAYER, 2, mask_check=False)(y, src_key_padding_mask=~pad)
    T.nn.TransformerEncoder(LAYER, 2, enable_nested_tensor=False)(y, src_key_padding_mask=pad)
    T.nn.MultiheadAttention(4, 2)(x, x, x)
    MHA.train()(x, x, x)
    MHA(x, y, y)
    MHA(jagged, jagged, jagged)
    LAYER.train()(x)
""")


def layers_of(T):
    """Modules with the same weights in both, and what goes in."""
    layer = T.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    for k, x in enumerate(layer.parameters()):
        size = x.numel()
        x.data = (T.sin(T.arange(float(size)) + k) / 2).reshape(x.shape)
    y = T.sin(T.arange(32.0)).reshape(2, 4, 4)
    pieces = [y[0, :2], y[1, :3]]
    norm = T.nn.LayerNorm(4)
    norm.bias.data = T.arange(4.0)
    return dict(T=T, LAYER=layer.eval(), MHA=layer.self_attn, ENC=T.nn.TransformerEncoder(layer, 2).eval(),
                NORM=norm, y=y, x=T.nested.nested_tensor(pieces),
                jagged=T.nested.nested_tensor(pieces, layout=T.jagged),
                pad=T.tensor([[False, False, True, True], [False, False, False, True]]))


@pytest.mark.parametrize("text", LAYERS)
@pytest.mark.parametrize("grad", [False, True])
def test_layers_of_transformers(text, grad):
    found = []
    for T in (jaxflow, torch):
        with warnings.catch_warnings(), T.set_grad_enabled(grad):
            warnings.simplefilter("ignore")
            try:
                found.append(eval(text, layers_of(T)))
            except AssertionError as error:
                found.append(error)
    ours, theirs = found
    if isinstance(theirs, Exception):
        assert str(ours) == str(theirs)
        return
    assert equal(seen(ours), seen(theirs)), (ours, theirs)


def test_the_encoder_says_why_it_makes_no_nested_tensors():
    for kwargs in ({}, dict(batch_first=True, norm_first=True), dict(batch_first=True, bias=False),
                   dict(batch_first=True, activation=None), dict(batch_first=True, nhead=1)):
        said = []
        for T in (jaxflow, torch):
            given = {"nhead": 2, **kwargs}
            if "activation" in given:
                given["activation"] = T.tanh
            layer = T.nn.TransformerEncoderLayer(4, dim_feedforward=8, **given)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                T.nn.TransformerEncoder(layer, 1)
            said.append([str(w.message) for w in caught])
        assert said[0] == said[1] and said[0]
