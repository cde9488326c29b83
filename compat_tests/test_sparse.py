"""Sparse tensors beside PyTorch's: entries, whether they are coalesced, gradients, errors, text, files.

A row is an expression of the libraries' common names. Both evaluate it; what results is described by `shown`.
"""

import io
import re

import numpy as np
import pytest
import torch

import jaxflow

# PyTorch's: that a layout is in beta state, that indices are not looked at, and names that are deprecated.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

NAMES = """
I = T.tensor([[0, 2, 0], [1, 0, 1]])
V = T.tensor([1.0, 2.0, 3.0])
u = T.sparse_coo_tensor(I, V, (3, 3))
c = u.coalesce()
d = T.arange(9.0).reshape(3, 3) + 1
h = T.sparse_coo_tensor([[0, 2, 0]], T.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), (3, 2))
b = T.stack([u, c])
a = T.tensor([[1.0, 0, 2], [0, 0, 3]])
r = a.to_sparse_csr()
e = T.arange(6.0).reshape(3, 2) + 1
S, C = T.sparse_coo_tensor, T.sparse_csr_tensor
"""

UNARY = ("abs asin asinh atan atanh ceil conj_physical deg2rad erf erfinv expm1 floor frac isinf isnan "
         "isneginf isposinf log1p nan_to_num neg positive rad2deg relu round sgn sign signbit sin sinh "
         "sqrt square "
         "tan tanh "
         "trunc clone detach")

#: Expressions whose value is compared.
VALUES = [*(f"T.{name}(u)" for name in UNARY.split()), *"""
u.detach() u.conj() u.pow(2) c**2 c.pow(-1) c.abs_() c.sin_() u.clone().neg_() c.clone().relu_() u+u c+c
T.add(c,c,alpha=2) c-c d+u d-u u*2 2*u u*d d*u u*u c*c c*d[0] c*T.ones(2,3,3) u/2 u//2 c.long()+c
c+c.double() c.long()*1.5 c*T.tensor(2) T.div(u,2,rounding_mode='floor') h+h h*T.ones(3,2)
(u+c).to_dense() (u-c).to_dense() T.mm(u,d) T.sparse.mm(u,d) T.mm(d,u) u@d d@u u@u T.sparse.mm(u,u) u@V
V@u T.mv(u,V) T.smm(u,d) T.hspmm(u,d) T.addmm(d,u,d,beta=2,alpha=3) T.addmm(d[0],u,d)
T.sparse.addmm(d,u,d) T.sspaddmm(u,u,d) d.clone().addmm_(u,d) T.bmm(b,T.stack([d,d]))
T.nn.functional.linear(d,u) T.nn.functional.linear(u,d,V) T.sparse.mm(u.long(),d.long()) u.sum() u.sum(0)
T.sum(u,(0,1)) T.sum(u,1,keepdim=True) T.sum(u,dtype=T.float64) T.sparse.sum(u) T.sparse.sum(u,0)
T.sparse.sum(h,0) T.sparse.sum(h,1) T.sparse.sum(u,dim=[0],dtype=T.float64) T.sparse.sum(u.int()) u.norm()
u.norm(1) u.any() T.sparse.softmax(u,1) T.sparse.softmax(u,0) T.sparse.log_softmax(u,1)
T.sparse.softmax(h,1) T.sparse.softmax(h,0) T.sparse.softmax(u,-1,dtype=T.float64)
T.sparse.softmax(S([[0,0,0,1],[0,1,2,1]],[1.,2.,3.,4.]),1) u.t() c.t() c.T c.mT c.transpose(0,1)
b.permute(2,0,1) c.clone().t_() u.index_select(0,T.tensor([0,0,2])) c.index_select(1,T.tensor([1]))
h.index_select(1,T.tensor([1])) c.select(0,0) u.select(0,0) u[0] u[0,1] u[:,1] u[None] h.select(1,0)
u.narrow_copy(0,0,2) c.narrow_copy(1,1,2) list(u) u.unbind() len(u) T.cat([u,c]) T.cat([u,c],1)
T.cat([h,h],1) T.stack([u,c],1) T.hstack([c,c]) T.vstack([c,c]) u.unsqueeze(0) c.unsqueeze(-1)
h.unsqueeze(2) d.sparse_mask(c) d.sparse_mask(u) u.sparse_mask(c) c.sparse_mask(u)
d.double().sparse_mask(c) u.to(T.float64) u.double() u.long() u.bool() u.to('cpu')is(u)
u.to(T.float32,copy=True) u.type() u.type(T.float64) T.zeros_like(u) T.empty_like(u)
T.zeros(2,3,layout=T.sparse_coo) T.zeros_like(d,layout=T.sparse_coo) u.new_zeros(2,2) u.clone().zero_()
u.clone().copy_(c) d.clone().add_(u) d.clone().sub_(u) d.clone().mul_(u) c.clone().add_(c,alpha=2)
u.clone().mul_(2) u.clone().div_(2) u.clone().mul_(d) c.clone().mul_(c)
u.clone().sparse_resize_((4,4),2,0) u.clone().sparse_resize_and_clear_((2,2),1,1)
S([[0]],[3.],(1,)).item() bool(S([[0]],[3.],(1,))) u.numel() u.element_size() S(I,V)
S([[0,2],[1,0]],[1,2]) S((2,3)) S(I,V,dtype=T.float64) S(I.int(),V) S([[0]],T.tensor(1.),(2,))
S(I,V,(3,3),is_coalesced=True) S(T.empty(2,0),[],(2,3)) S(T.empty(2,0).long(),T.empty(0))
S(T.empty(0,1).long(),[3.],()) S([[0,1]],T.ones(2,2)) S([[1,1]],[True,False]) d.to_sparse() d.to_sparse(1)
d.to_sparse(layout=T.sparse_coo) T.tensor(3.).to_sparse() T.tensor(0.).to_sparse() u.to_sparse()
c.coalesce()is(c) (u.sparse_dim(),u.dense_dim(),h.dense_dim(),u.layout,u.is_sparse,u.is_sparse_csr)
u._coalesced_(True) T.sparse.spdiags(T.arange(6.).reshape(2,3),T.tensor([0,-1]),(3,3))
T.sparse.FloatTensor(I,V,T.Size([3,3])) T.sparse.FloatTensor(2,3) isinstance(u,T.sparse.FloatTensor)
isinstance(d,T.sparse.FloatTensor) u.stride() u.is_contiguous() C([0,2,3],[0,2,2],[1.,2,3],(2,3))
C([0,2,3],[0,2,2],[1.,2,3]) T.sparse_csc_tensor([0,1,1,3],[0,0,1],[1.,2,3],(2,3))
T.sparse_bsr_tensor([0,1],[0],[[[1.,2],[3,4]]],(2,2)) T.sparse_bsc_tensor([0,1],[1],[[[1.,2],[3,4]]])
T.sparse_compressed_tensor([0,2,3],[0,2,2],[1.,2,3],(2,3),layout=T.sparse_csr) r.to_dense()
r.to_sparse_coo() r.to_sparse_csc() T.eye(4).to_sparse_bsr((2,2))
(d.tril()[:2]).to_sparse_bsc((1,3)).to_dense() T.eye(4).to_sparse_bsr((2,2)).to_dense()
T.stack([a,a]).to_sparse_csr().to_dense() a.to_sparse().to_sparse_csr() a.to_sparse(layout=T.sparse_csr)
(r._nnz(),r.sparse_dim(),r.dense_dim(),r.is_sparse,r.is_sparse_csr) r.t() r@e T.sparse.mm(r,e) e@r
r@(e.to_sparse_csr()) r@T.ones(3) T.addmm(T.ones(2,2),r,e) a.to_sparse_csc()@e
T.sparse.sampled_addmm(r,T.ones(2,4),T.ones(4,3),beta=2.,alpha=3.) T.nn.functional.linear(T.ones(2,3),r)
r+r r+a a+r r*2 r*a r*r -r r.sin() r.relu() r.sum() r.sum(0,keepdim=True) r.sum(1,keepdim=True) r.double()
r.clone() r.clone().zero_() r.clone().mul_(2) T.zeros_like(r) r.select(0,0) r[0] r[0,2] r.abs()
r.clone().copy_(r) a.sparse_mask(r) r.clone().add_(r) a.clone().add_(r) T.sparse.mm(r,e,'mean')
T.sparse.mm(r,e,'amax') T.sparse.mm(r,e,'sum') T.sparse.mm(r,e,'amin')
""".split()]

#: Expressions that are refused, by the same kind of error, which says the same first words.
ERRORS = """
u.exp() T.cos(u) u.log() u.sigmoid() u>0 u.max() u.amax(0) u.prod() u.argmax() u.flip(0) u.view(9)
u.cumsum(0) u.clamp(0) u.sort() T.linalg.vector_norm(u) T.dot(V.to_sparse(),V) u.nonzero()
u.masked_select(d>1) u.fill_(1) u.resize_(2,2) T.addmv(V,u,V) u.clone().relu_() u.clone().sin_() c**0 u+d
u+1 u-1 1-u d+T.eye(3)[:1].to_sparse() u/d c+T.eye(2).to_sparse() c*T.eye(2).to_sparse()
h+T.eye(3)[:,:2].to_sparse() T.addmm(u,u,d) T.addmm(d,d,u) T.sparse.addmm(u,u,u) T.bmm(T.stack([d,d]),b)
T.mm(u,T.ones(2,2)) T.sparse.mm(u,d.double()) T.mv(u,T.ones(2)) T.sparse.mm(u.bool(),d.bool())
T.sparse.sum(c,5) T.sparse.sum(d) T.sparse.sum(c,[0,0]) T.sparse.softmax(d,1) T.sparse.softmax(u,5)
T.sparse.softmax(u.long(),0) u.norm(2,0) h.transpose(0,1) h.permute(1,0) c.select(0,9) T.cat([u,d])
c.reshape(9) c.flatten() c.expand(2,3,3) u.contiguous() T.ones(2,2).sparse_mask(c) d.sparse_mask(d)
u.clone().copy_(d) d.clone().copy_(u) u.clone().add_(d) u.clone().sparse_resize_((2,2),2,0)
u.clone().sparse_resize_((3,3),1,1) u.numpy() u.tolist() u.data_ptr() u.storage() u.untyped_storage()
u.nbytes u.indices() u.values() u.crow_indices() bool(u) S([[-1]],[1.]) S([[0,1]],[1.]) S(I,V,(3,))
S(I,T.ones(3,2),(3,3)) S([0,1],[1.,2.]) S(I,V,(3,3),is_coalesced=True,check_invariants=True)
S([[5]],[1.],(3,),check_invariants=True) S(I,V.long(),(3,3),requires_grad=True) S(u,V) S() d.to_sparse(0)
d.to_sparse(3) u.to_sparse(1) u.to_dense(dtype=T.float64) d._nnz() d._indices() d._values() d.coalesce()
T.ones(2,3,layout=T.sparse_coo) u.type_as(d) C([0,2,3],[0,2,5],[1.,2,3],(2,3),check_invariants=True)
C([1,2,3],[0,2,2],[1.,2,3],(2,3),check_invariants=True) a.to_sparse_bsr((2,2)) r.ccol_indices()
r.indices() r.coalesce() r.is_coalesced() r.sum(0) T.sparse.sum(r) r.numpy()
T.sparse.sampled_addmm(a.to_sparse(),T.ones(2,4),T.ones(4,3)) T.sparse.softmax(r,1) r.norm()
T.sparse.spsolve(r,V)
""".split()


def namespace(T):
    space = {"T": T}
    exec(NAMES, space)
    return space


def shown(x):
    """What is compared of a result."""
    if isinstance(x, (tuple, list)):
        return [shown(item) for item in x]
    if not hasattr(x, "layout"):
        return str(x)
    layout = str(x.layout)
    about = [layout, tuple(x.shape), str(x.dtype)]
    if layout == "torch.strided":
        return [*about, np.asarray(x.detach().double().tolist())]
    if layout == "torch.sparse_coo":
        parts = (x._indices(), x._values())
        about.append(x.is_coalesced())
    else:
        rows = layout in ("torch.sparse_csr", "torch.sparse_bsr")
        parts = (x.crow_indices() if rows else x.ccol_indices(), x.col_indices() if rows else x.row_indices(),
                 x.values())
    return [*about, *(np.asarray(p.detach().double().tolist()) for p in parts)]


def same(mine, theirs):
    if isinstance(theirs, list):
        return isinstance(mine, list) and len(mine) == len(theirs) and all(map(same, mine, theirs))
    if isinstance(theirs, np.ndarray):
        return mine.shape == theirs.shape and np.allclose(mine, theirs, 1e-4, 1e-6, equal_nan=True)
    return mine == theirs


@pytest.fixture(scope="module")
def spaces():
    return namespace(jaxflow), namespace(torch)


@pytest.mark.parametrize(("mode", "each"), [("deferred", 1), ("eager", 8)])
def test_values(mode, each):
    with jaxflow.execution(mode):
        mine, theirs = namespace(jaxflow), namespace(torch)
        wrong = [text for row in VALUES[::each] if (text := compared(row, mine, theirs))]
    assert not wrong, "\n".join(wrong)


def compared(row, mine, theirs):
    """What is different of the values of an expression; nothing where they are the same."""
    want, got = (shown(eval(row, dict(space))) for space in (theirs, mine))
    return "" if same(got, want) else f"{row}: {got} instead of {want}"


def first_words(error):
    """The name of the operation that there is none of, or the words up to a number or a name."""
    text = str(error).splitlines()[0]
    found = re.match(r"Could not run 'aten::[\w.]+' with arguments from the '(\w+)' backend", text)
    return found[0] if found else " ".join(re.split(r"[\d\[(]", text)[0].split()[:5])


def test_errors(spaces):
    wrong = []
    for row in ERRORS:
        raised = []
        for space in spaces[::-1]:
            with pytest.raises((NotImplementedError, RuntimeError, TypeError, IndexError)) as error:
                eval(row, dict(space))
            raised.append(error.value)
        theirs, mine = raised
        names = ["Could not run" in str(e) for e in raised]
        kind = next(k for k in (NotImplementedError, RuntimeError, TypeError,
                                IndexError) if isinstance(theirs, k))
        if not isinstance(mine, kind) or (names[0] != names[1]) or (
                not names[0] and first_words(mine) != first_words(theirs)):
            wrong.append(f"{row}: {mine!r} instead of {theirs!r}")
    assert not wrong, "\n".join(wrong)


#: Functions of a sparse leaf ``s`` and a dense one ``x``; ``c`` makes the leaf, ``u`` does for those of both.
GRADIENTS = """
T.sparse.mm(s,x) T.mm(s,x) s@x T.mm(x,s) T.mv(s,x[0]) s.to_dense() s.to_dense(masked_grad=False) x+s x-s
s*2 s*x s/2 -s s+T.eye(3).to_sparse() T.sparse.sum(s) T.sparse.sum(s,0) s.sum() T.sparse.softmax(s,1)
T.sparse.log_softmax(s,0) s.t() s.coalesce() T.sparse.mm(s,T.eye(3).to_sparse()) T.sparse.addmm(x,s,x)
T.addmm(x,s,x) s.sparse_mask(c) x.sparse_mask(s.detach()) s.double() s**2 s.clone() s.coalesce().values()
s.to_dense().to_sparse() T.smm(s.detach(),d)*x x.to_sparse()
""".split()


@pytest.mark.parametrize("leaf", ["c", "u"])
def test_gradients_of_leaves(spaces, leaf):
    wrong = []
    for row in GRADIENTS:
        found = []
        for space in spaces:
            s, x = (space[name].detach().clone().requires_grad_() for name in (leaf, "d"))
            y = eval(row, dict(space, s=s, x=x))
            y = y.to_dense() if y.is_sparse else y
            (y * space["T"].arange(float(y.numel())).reshape(y.shape)).sum().backward()
            found.append([None if t.grad is None else (str(t.grad.layout), shown(t.grad.to_dense()))
                          for t in (s, x)])
        if [g and g[0] for g in found[0]] != [g and g[0] for g in found[1]] or not all(
                a is None or same(a[1], b[1]) for a, b in zip(*found)):
            wrong.append(f"{row}: {found[0]} instead of {found[1]}")
    assert not wrong, "\n".join(wrong)


def test_gradients_of_values(executor):
    def work(T):
        space = namespace(T)
        v, x = space["V"].clone().requires_grad_(), space["d"].clone().requires_grad_()
        s = T.sparse_coo_tensor(space["I"], v, (3, 3))
        y = (T.sparse.mm(T.sparse.softmax(s, 1),
                         x) * x).sum() + (s * s).coalesce().values().sum() + (s @ x).sum()
        grads = T.autograd.grad(y, (v, x), create_graph=True)
        (grads[0].square().sum() + grads[1].square().sum()).backward()
        return [shown(t) for t in (*grads, v.grad, x.grad)]

    # PyTorch has no second derivative of its sparse softmax: first derivatives, and those of a product.
    def first(T):
        space = namespace(T)
        v, x = space["V"].clone().requires_grad_(), space["d"].clone().requires_grad_()
        s = T.sparse_coo_tensor(space["I"], v, (3, 3))
        (T.sparse.mm(T.sparse.softmax(s, 1), x) * x).sum().backward(retain_graph=True)
        T.sparse.sum(s * s).backward(retain_graph=True)
        (s @ x).sum().backward()
        return [shown(v.grad), shown(x.grad), type(s.grad_fn).__name__]

    assert same(first(jaxflow), first(torch))
    assert all(np.isfinite(part).all() for part in work(jaxflow)[2] if isinstance(part, np.ndarray))


def look_ups(T):
    """Gradients of tables by look-ups with ``sparse=True``."""
    F, found = T.nn.functional, []
    index = T.tensor([[1, 3], [1, 0]])
    for options in ({}, {"padding_idx": 1}):
        w = T.ones(4, 2, requires_grad=True)
        (F.embedding(index, w, sparse=True, **options) * T.arange(8.0).reshape(2, 2, 2)).sum().backward()
        found.append(shown(w.grad))
        F.embedding(T.tensor([2]), w, sparse=True).sum().backward()
        found.append(shown(w.grad.to_dense()))
        (w * 1).sum().backward()
        found.append(shown(w.grad))
    for options in ({"mode": "sum"}, {"mode": "mean"}, {"mode": "sum", "padding_idx": 1}):
        w = T.ones(4, 2, requires_grad=True)
        y = F.embedding_bag(T.tensor([1, 3, 1, 0]), w, T.tensor([0, 2]), sparse=True, **options)
        (y * T.tensor([[1.0, 2], [3, 4]])).sum().backward()
        found.append(shown(w.grad))
    w = T.ones(4, 2, requires_grad=True)
    found.append(shown(T.autograd.grad((F.embedding(index, w, sparse=True)**2).sum(), w, create_graph=True)))
    return found


def test_look_ups(executor):
    assert same(look_ups(jaxflow), look_ups(torch))
    for T in (jaxflow, torch):
        w = T.ones(4, 2, requires_grad=True)
        y = T.nn.functional.embedding(T.tensor([1]), w, sparse=True, scale_grad_by_freq=True)
        with pytest.raises(RuntimeError, match="scale_grad_by_freq not supported with sparse gradients"):
            y.sum().backward()


OPTIMIZERS = [("SGD", {}), ("SGD", {"momentum": 0.9}), ("SGD", {"momentum": 0.9, "nesterov": True}),
              ("SGD", {"maximize": True}), ("Adagrad", {}), ("Adagrad", {"lr_decay": 0.1, "maximize": True}),
              ("SparseAdam", {}), ("SparseAdam", {"maximize": True, "betas": (0.5, 0.9)})]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS)
def test_optimizers(name, options, executor):
    def work(T):
        w = T.arange(10.0).reshape(5, 2).requires_grad_()
        optimizer = getattr(T.optim, name)([w], lr=0.1, **options)
        for step in range(4):
            optimizer.zero_grad()
            index = T.tensor([[1, 3], [1, step]])
            T.nn.functional.embedding(index, w, sparse=True).pow(2).sum().backward()
            optimizer.step()
        states = {k: shown(v.to_dense() if hasattr(v, "to_dense") else v) for k,
                  v in optimizer.state[w].items()}
        return [shown(w), *[[k, states[k]] for k in sorted(states)]]

    assert same(work(jaxflow), work(torch))


def test_optimizers_that_take_none():
    for T in (jaxflow, torch):
        w = T.ones(4, 2, requires_grad=True)
        T.nn.functional.embedding(T.tensor([1]), w, sparse=True).sum().backward()
        for name in "Adam AdamW RMSprop Adadelta Adamax ASGD Rprop NAdam RAdam".split():
            with pytest.raises(RuntimeError, match="does not support sparse gradients"):
                getattr(T.optim, name)([w]).step()
        with pytest.raises(RuntimeError, match="weight_decay option is not compatible"):
            T.optim.Adagrad([w], weight_decay=0.1).step()
        with pytest.raises(NotImplementedError, match="Could not run"):
            T.nn.utils.clip_grad_norm_([w], 0.5)
        w.grad = T.ones(4, 2)
        with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
            T.optim.SparseAdam([w]).step()
        with pytest.raises(ValueError, match=r"Sparse params at indices \[\[0, 0\]\]"):
            T.optim.SparseAdam([T.eye(2).to_sparse().requires_grad_()])


PRINTED = """
u c S(size=(2,3)) h u.double() u.long() S(I,V.clone().requires_grad_()) u.clone().requires_grad_()
S([[0]],[1+2j]) S([[0]],[True]) T.eye(40).to_sparse() S(T.arange(1500)[None],T.arange(1500.),(2000,))
S(T.empty(0,1).long(),[3.],()) S([[0,1]],T.ones(2,2,2)) T.nn.Parameter(u.clone()) S([[0,1]],T.empty(2,0))
S(I,V.clone().requires_grad_()).coalesce() u.bfloat16() T.mm(u,u) u.t() u*u r a.double().to_sparse_csc()
T.ones(4,4).to_sparse_bsr((2,2)) a.to_sparse_csr().requires_grad_() T.stack([a,a]).to_sparse_csr()
C([0,0],T.tensor([],dtype=T.long),T.tensor([])) T.nn.Parameter(a.to_sparse_csr())
""".split()


def test_text(spaces):
    for row in PRINTED:
        assert repr(eval(row, dict(spaces[0]))) == repr(eval(row, dict(spaces[1]))), row
        assert str(eval(row, dict(spaces[0]))) == str(eval(row, dict(spaces[1]))), row


FILES = ("u", "c", "h", "u.double()", "c.bool()", "r", "a.to_sparse_csc()", "T.eye(4).to_sparse_bsr((2,2))",
         "T.nn.Parameter(u)", "{'a':[u,c],'b':d}")


@pytest.mark.parametrize("zipped", [True, False])
def test_files_both_ways(spaces, zipped):
    for row in FILES:
        mine, theirs = (eval(row, dict(space)) for space in spaces)
        for given, save, load in ((mine, jaxflow.save, torch.load), (theirs, torch.save, jaxflow.load),
                                  (mine, jaxflow.save, jaxflow.load)):
            file = io.BytesIO()
            save(given, file, _use_new_zipfile_serialization=zipped)
            file.seek(0)
            found = load(file)
            if isinstance(found, dict):
                found, wanted = [*found["a"], found["b"]], [*theirs["a"], theirs["b"]]
            else:
                wanted = theirs
                assert type(found).__name__ == type(theirs).__name__
                assert found.requires_grad == theirs.requires_grad
            assert same(shown(found), shown(wanted)), row


def _converted(module):
    tensor, to_csr = module.tensor, module._convert_indices_from_coo_to_csr
    to_coo, rows = module._convert_indices_from_csr_to_coo, [0, 0, 1, 3]
    yield to_csr(tensor(rows), 5)
    yield to_csr(tensor(rows, dtype=module.int32), 5)
    yield to_csr(tensor(rows), 4, out_int32=True)
    yield to_csr(tensor([], dtype=module.int64), 2)
    yield to_csr(tensor(3), 4)
    starts, columns = tensor([0, 2, 2, 3]), tensor([1, 0, 2])
    yield to_coo(starts, columns)
    yield to_coo(starts.int(), columns.int())
    yield to_coo(starts, columns, transpose=True, out_int32=True)
    yield to_coo(module.stack([starts, starts.flip(0).mul(-1).add(3)]), module.stack([columns, columns]))
    yield to_coo(starts.expand(2, 3, 4), columns.expand(2, 3, 3), transpose=True)


def test_indices_of_entries_and_starts_of_rows():
    for ours, theirs in zip(_converted(jaxflow), _converted(torch), strict=True):
        assert ours.tolist() == theirs.tolist() and str(ours.dtype) == str(theirs.dtype)
    for module in (torch, jaxflow):
        with pytest.raises(RuntimeError, match="Input is supposed to be a vector"):
            module._convert_indices_from_coo_to_csr(module.zeros(2, 2, dtype=module.int64), 4)
        with pytest.raises(NotImplementedError, match="not implemented for 'Float'"):
            module._convert_indices_from_coo_to_csr(module.zeros(2), 4)
        with pytest.raises(RuntimeError, match="same dimensionality"):
            module._convert_indices_from_csr_to_coo(module.tensor([0, 1]), module.tensor(1))
