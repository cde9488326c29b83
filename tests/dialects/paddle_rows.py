"""Calls of Paddle's functions beside what NumPy says of them.

``a`` is a float array, ``i`` an integer one, ``b`` a bool one, ``u`` has duplicates; in a call the names are
tensors of these values, and ``m`` in an expected value is the NumPy array of ``i``.
"""

import itertools

import numpy as np

A = np.array([[0.5, -1.25, 2.0], [3.0, 0.25, -0.75]], np.float32)
I = np.array([[1, 2, 3], [4, 5, 6]])
B = np.array([[True, False, True], [False, False, True]])
U = np.array([2, 3, 3, 1, 5, 3])

ROWS = {
    "paddle.pow(x,2.0)": A ** 2,
    "paddle.pow(x, x*0+2)": A ** 2,
    "x**2": A ** 2,
    "paddle.gcd(i,i+2)": np.gcd(I, I + 2),
    "paddle.lcm(i,i+2)": np.lcm(I, I + 2),
    "paddle.inner(x,x)": np.inner(A, A),
    "paddle.outer(x[0],x[1])": np.outer(A[0], A[1]),
    "paddle.outer(x,x)": np.outer(A, A),
    "paddle.bitwise_left_shift(i,i)": I << I,
    "paddle.bitwise_right_shift(i,paddle.ones_like(i))": I >> 1,
    "paddle.clip(x,min=0.)": A.clip(0),
    "paddle.clip(x,-1,1)": A.clip(-1, 1),
    "paddle.clip(x)": A,
    "paddle.lerp(x,x+1,0.5)": A + 0.5,
    "paddle.scale(x,2.,1.)": 2 * A + 1,
    "paddle.scale(x,2.,1.,False)": 2 * (A + 1),
    "paddle.addmm(paddle.ones([2,2]),x,x.T,beta=2.,alpha=3.)": 2 + 3 * A @ A.T,
    "paddle.baddbmm(paddle.ones([1,2,2]),x.unsqueeze(0),x.T.unsqueeze(0))": 1 + (A @ A.T)[None],
    "paddle.add_n([x,x,x])": 3 * A,
    "paddle.add_n(x)": A,
    "paddle.quantile(x,[0.1,0.5],axis=1)": np.quantile(A.astype("float64"), [0.1, 0.5], axis=1),
    "paddle.quantile(x,[0.1,0.5],axis=[0,1],keepdim=True)":
        np.quantile(A.astype("float64"), [0.1, 0.5], axis=(0, 1), keepdims=True),
    "paddle.quantile(x,[0.1,0.5],axis=1,keepdim=True)":
        np.quantile(A.astype("float64"), [0.1, 0.5], axis=1, keepdims=True),
    "paddle.median(i)": 3.5,
    'paddle.median(x,axis=1,mode="min")': [np.array([0.5, 0.25]), np.array([0, 1])],
    'paddle.sum(i,dtype="float64")': 21.0,
    "paddle.cumsum(x)": A.cumsum(),
    "paddle.cumsum(x,axis=1)": A.cumsum(1),
    "paddle.cumprod(x,dim=0)": A.cumprod(0),
    "paddle.logcumsumexp(x,axis=1)": np.log(np.exp(A).cumsum(1)),
    "paddle.cummax(x,axis=1)": [np.maximum.accumulate(A, 1), [[0, 0, 2], [0, 0, 0]]],
    'paddle.cummin(x,dtype="int32")': [np.minimum.accumulate(A.ravel()), [0, 1, 1, 1, 1, 1]],
    "paddle.diff(x)": np.diff(A),
    "paddle.trapezoid(x)": np.trapezoid(A),
    "paddle.trapezoid(x,dx=2.)": np.trapezoid(A, dx=2),
    'paddle.trapezoid(x,x=i.astype("float32"))': np.trapezoid(A, I),
    "paddle.trace(x)": np.trace(A),
    "paddle.diagonal(x,offset=1)": np.diagonal(A, 1),
    "paddle.histogram(x,bins=4,min=-2,max=2)": np.histogram(A, 4, (-2, 2))[0],
    "paddle.bincount(paddle.to_tensor([1,1,4]))": [0, 2, 0, 0, 1],
    "paddle.increment(paddle.ones([1]))": [2.0],
    "paddle.isclose(x,x+1e-9)": np.ones_like(A, bool),
    "paddle.allclose(x,x)": True,
    "paddle.equal_all(x,x)": True,
    "paddle.is_empty(x)": False,
    "paddle.is_tensor(x)": True,
    "paddle.is_complex(x)": False,
    "paddle.is_floating_point(x)": True,
    "paddle.is_integer(i)": True,
    "paddle.isin(i,paddle.to_tensor([2,5]))": np.isin(I, [2, 5]),
    "paddle.argmax(x)": 3,
    "paddle.argmax(x,axis=1)": [2, 0],
    'paddle.argmin(x,axis=0,keepdim=True,dtype="int32")': [[0, 0, 1]],
    "paddle.argsort(x,axis=0)": A.argsort(0),
    "paddle.sort(x,descending=True)": -np.sort(-A),
    "x.sort()": np.sort(A),
    "paddle.topk(x,2)": [[[2, 0.5], [3, 0.25]], [[2, 0], [0, 1]]],
    "paddle.kthvalue(x,2)": [[0.5, 0.25], [0, 1]],
    "paddle.nonzero(b)": np.argwhere(B),
    "paddle.nonzero(b,as_tuple=True)": [c[:, None] for c in np.nonzero(B)],
    "paddle.searchsorted(paddle.to_tensor([1.,2.,3.]),x)": np.searchsorted([1, 2, 3], A),
    "paddle.bucketize(x,paddle.to_tensor([1.,2.,3.]),right=True)": np.searchsorted([1, 2, 3], A, "right"),
    "paddle.index_select(x,paddle.to_tensor([2,0]),axis=1)": A[:, [2, 0]],
    "paddle.index_sample(x,paddle.to_tensor([[0,2],[1,1]]))": [[0.5, 2], [0.25, 0.25]],
    "paddle.masked_select(x,b)": A[B],
    "paddle.where(b,x,-x)": np.where(B, A, -A),
    "paddle.where(b)": [c[:, None] for c in np.nonzero(B)],
    "paddle.where(x>0,x,0.)": np.where(A > 0, A, 0),
    "paddle.unique(u,return_index=True,return_inverse=True,return_counts=True)":
        np.unique(U, True, True, True),
    "paddle.unique(paddle.to_tensor([[1,2],[1,2],[0,1]]),axis=0)": [[0, 1], [1, 2]],
    "paddle.unique_consecutive(u,return_counts=True)": [[2, 3, 1, 5, 3], [1, 2, 1, 1, 1]],
    "paddle.matmul(x,x,transpose_y=True)": A @ A.T,
    "paddle.matmul(x,x,True)": A.T @ A,
    "paddle.mm(x,x.T)": A @ A.T,
    "paddle.bmm(x.unsqueeze(0),x.T.unsqueeze(0))": (A @ A.T)[None],
    "paddle.mv(x,x[0])": A @ A[0],
    "paddle.dot(x[0],x[1])": A[0] @ A[1],
    "paddle.dot(x,x)": (A * A).sum(1),
    "paddle.cross(x,x+i)": np.cross(A, A + I),
    "paddle.cross(x,x+i,axis=1)": np.cross(A, A + I),
    "paddle.dist(x,x+1)": np.sqrt(6),
    "paddle.norm(x)": np.linalg.norm(A),
    "paddle.norm(x,p=1,axis=1)": np.abs(A).sum(1),
    'paddle.norm(x,p=float("inf"),axis=[0,1])': 3.0,
    "paddle.t(x)": A.T,
    'paddle.einsum("ij,kj->ik",x,x)': A @ A.T,
    "paddle.tensordot(x,x,axes=2)": (A * A).sum(),
    "paddle.linalg.multi_dot([x,x.T,x])": A @ A.T @ A,
    "paddle.assign(x)": A,
    "paddle.assign(a)": A,
    'paddle.cast(i,"float64")': I * 1.0,
    "paddle.clone(x)": A,
    "paddle.reshape(x,[0,1,-1])": A[:, None],
    "paddle.reshape(x,[-1])": A.ravel(),
    "paddle.view(x,[3,2])": A.reshape(3, 2),
    'paddle.view(x,"int32")': A.view("int32"),
    "paddle.transpose(x,[1,0])": A.T,
    "x.transpose(perm=[1,0])": A.T,
    "paddle.moveaxis(x.unsqueeze(0),0,2)": A[..., None],
    "paddle.moveaxis(x.unsqueeze(0),[0,1],[1,2])": np.moveaxis(A[None], [0, 1], [1, 2]),
    "paddle.swapaxes(x,0,1)": A.T,
    "paddle.flatten(x)": A.ravel(),
    "paddle.squeeze(x.unsqueeze([0,3]))": A,
    "paddle.squeeze(x.unsqueeze([0,-1]),[0])": A[..., None],
    "x.unsqueeze(1).squeeze(1)": A,
    "paddle.concat([x,x],axis=1)": np.concatenate([A, A], 1),
    "paddle.stack([x,x],axis=1)": np.stack([A, A], 1),
    "paddle.row_stack([x,x])": np.vstack([A, A]),
    "paddle.split(x,3,axis=1)": np.split(A, 3, 1),
    "paddle.split(x,[1,-1],axis=1)": [A[:, :1], A[:, 1:]],
    "x.split(2)": [A[:1], A[1:]],
    "paddle.chunk(x,3,axis=1)": np.split(A, 3, 1),
    "paddle.unbind(x,1)": list(A.T),
    "paddle.unstack(x)": list(A),
    "paddle.tile(x,[2,1])": np.tile(A, (2, 1)),
    "paddle.expand(x[0],[2,3])": np.broadcast_to(A[0], (2, 3)),
    "paddle.expand(x[:1],[2,-1])": np.broadcast_to(A[0], (2, 3)),
    "paddle.expand_as(x[0],x)": np.broadcast_to(A[0], (2, 3)),
    "paddle.broadcast_to(x,[1,2,3])": A[None],
    "paddle.broadcast_tensors([x,x[0]])": [A, np.broadcast_to(A[0], (2, 3))],
    "paddle.broadcast_shape([2,1,3],[1,3,1])": [2, 3, 3],
    "paddle.flip(x,[0,1])": A[::-1, ::-1],
    "paddle.flip(x,0)": A[::-1],
    "paddle.roll(x,1)": np.roll(A, 1),
    "paddle.roll(x,[1,1],[0,1])": np.roll(A, (1, 1), (0, 1)),
    "paddle.rot90(x)": np.rot90(A),
    "paddle.gather(x,paddle.to_tensor([1,0]))": A[[1, 0]],
    "paddle.gather(x,paddle.to_tensor([1,0]),axis=1)": A[:, [1, 0]],
    "paddle.gather_nd(x,paddle.to_tensor([[0,1],[1,2]]))": A[[0, 1], [1, 2]],
    "paddle.gather_nd(x,paddle.to_tensor([[1]]))": A[[1]],
    "paddle.scatter(paddle.ones([3,2]),paddle.to_tensor([2,1,0,1]),"
    "paddle.to_tensor([[1.,1],[2,2],[3,3],[4,4]]),overwrite=False)":
        [[3, 3], [6, 6], [1, 1]],
    "paddle.scatter(paddle.ones([3,2]),paddle.to_tensor([2,0]),paddle.to_tensor([[1.,1],[2,2]]))":
        [[2, 2], [1, 1], [1, 1]],
    "paddle.scatter_nd(paddle.to_tensor([[1],[1]]),paddle.ones([2]),[3])": [0, 2, 0],
    "paddle.scatter_nd_add(paddle.ones([3]),paddle.to_tensor([[1],[1]]),paddle.ones([2]))": [1, 3, 1],
    "paddle.take_along_axis(x,paddle.to_tensor([[0],[2]]),1)": [[0.5], [-0.75]],
    "paddle.take_along_axis(x,paddle.to_tensor([[0]]),1)": [[0.5], [3.0]],
    "paddle.put_along_axis(x,paddle.to_tensor([[0],[2]]),9.,1)": [[9, -1.25, 2], [3, 0.25, 9]],
    'paddle.put_along_axis(x,paddle.to_tensor([[0],[2]]),1.,1,reduce="add")':
        [[1.5, -1.25, 2], [3, 0.25, 0.25]],
    "paddle.put_along_axis(x,paddle.to_tensor([[0]]),paddle.to_tensor([[7.]]),1)":
        [[7, -1.25, 2], [7, 0.25, -0.75]],
    "paddle.index_add(x,paddle.to_tensor([0,0]),1,paddle.ones([2,2]))": A + [[2, 0, 0]],
    "paddle.index_fill(x,paddle.to_tensor([0]),0,5.)": [[5, 5, 5], A[1]],
    "paddle.index_put(x,(paddle.to_tensor([0]),paddle.to_tensor([1])),paddle.to_tensor(8.))":
        [[0.5, 8, 2], A[1]],
    "paddle.masked_fill(x,b,0.)": np.where(B, 0, A),
    "paddle.masked_scatter(x,b,paddle.ones([6]))": np.where(B, 1, A),
    "paddle.select_scatter(x,paddle.zeros([3]),0,1)": [A[0], [0, 0, 0]],
    "paddle.slice(x,[1],[0],[2])": A[:, :2],
    "paddle.slice(x,[0,1],[0,-2],[1,100])": A[:1, -2:],
    "paddle.strided_slice(x,[1],[2],[0],[-1])": A[:, 2:0:-1],
    "paddle.strided_slice(x,[1],[0],[3],[2])": A[:, ::2],
    "paddle.repeat_interleave(x,2,axis=1)": A.repeat(2, 1),
    "paddle.as_complex(x[:,:2])": A[:, 0] + 1j * A[:, 1],
    "paddle.as_real(paddle.complex(x,x))": np.stack([A, A], -1),
    "paddle.polar(x,x)": A * np.exp(1j * A),
    "paddle.diag(x[0],padding_value=7)": np.where(np.eye(3) > 0, np.diag(A[0]), 7),
    "paddle.diag(x)": np.diag(A),
    "paddle.diagflat(x)": np.diagflat(A),
    "paddle.diag_embed(x)": np.stack([np.diag(r) for r in A]),
    "paddle.tril(x)": np.tril(A),
    "paddle.triu(x,1)": np.triu(A, 1),
    "paddle.take(x,paddle.to_tensor([0,-1]))": A.take([0, -1]),
    'paddle.take(x,paddle.to_tensor([7,-7]),mode="wrap")': A.take([7, -7], mode="wrap"),
    'paddle.take(x,paddle.to_tensor([7,-7]),mode="clip")': A.take([7, -7], mode="clip"),
    "paddle.vander(x[0])": np.vander(A[0]),
    "paddle.bernoulli(paddle.ones([2]))": [1, 1],
    "paddle.multinomial(paddle.to_tensor([0.,1.]),3,True)": [1, 1, 1],
    "paddle.numel(x)": 6,
    "x.numel()": 6,
    "paddle.shape(x)": [2, 3],
    "paddle.rank(x)": 2,
    "paddle.zeros([2])": [0, 0],
    "paddle.ones(2)": [1, 1],
    "paddle.ones([paddle.to_tensor(2),1])": [[1], [1]],
    "paddle.full([2],3)": [3, 3],
    'paddle.full_like(x,2,dtype="int32")': np.full_like(A, 2),
    "paddle.arange(5)": np.arange(5),
    "paddle.arange(1,5,2)": [1, 3],
    "paddle.arange(0,1,0.5)": [0, 0.5],
    'paddle.arange(3,dtype="float32")': [0, 1, 2],
    "paddle.linspace(0,1,3)": [0, 0.5, 1],
    "paddle.logspace(0,2,3)": [1, 10, 100],
    "paddle.eye(2)": np.eye(2),
    "paddle.eye(2,3)": np.eye(2, 3),
    "paddle.tril_indices(2,2)": np.array(np.tril_indices(2)),
    "paddle.triu_indices(2)": np.array(np.triu_indices(2)),
    "paddle.meshgrid(paddle.arange(2),paddle.arange(3))":
        np.meshgrid(np.arange(2), np.arange(3), indexing="ij"),
    "paddle.to_tensor([x,x])": [A, A],
}

ALIKE = """
abs ceil cos cosh exp expm1 floor sin sinh sqrt square tan tanh sign trunc isnan isinf isfinite isneginf
isposinf signbit deg2rad rad2deg sinc i0 log log2 log10 log1p reciprocal isreal real conj angle
""".split()
RENAMED = dict(asinh="arcsinh", atan="arctan", acosh="arccosh", asin="arcsin", acos="arccos", atanh="arctanh",
               neg="negative")
BINARY = dict(
    add="add", subtract="subtract", multiply="multiply", divide="divide", floor_divide="floor_divide",
    mod="mod", remainder="mod", floor_mod="mod",
    maximum="maximum", minimum="minimum", fmax="fmax", fmin="fmin",
    atan2="arctan2", hypot="hypot", copysign="copysign", nextafter="nextafter", heaviside="heaviside",
    logaddexp="logaddexp", kron="kron", equal="equal", not_equal="not_equal", greater_than="greater",
    greater_equal="greater_equal", less_than="less", less_equal="less_equal",
)
REDUCTIONS = """
sum mean prod max min amax amin median nanmedian nansum nanmean all any count_nonzero std var logsumexp
quantile nanquantile
""".split()


def _reduced(name, axis, keepdims):
    options = dict(axis=axis, keepdims=keepdims)
    if name in ("std", "var"):
        return getattr(np, name)(A, ddof=1, **options)
    if name == "logsumexp":
        return np.log(np.exp(A).sum(**options))
    if name in ("quantile", "nanquantile"):
        return getattr(np, name)(A.astype(np.float64), 0.3, **options)
    return getattr(np, name)(A, **options)


with np.errstate(all="ignore"):
    for _name in (*ALIKE, *RENAMED):
        _value = getattr(np, RENAMED.get(_name, _name))(A)
        ROWS |= {f"paddle.{_name}(x)": _value, f"x.{_name}()": _value}
for _name, _numpy in BINARY.items():
    ROWS[f"paddle.{_name}(x, x.flip([0]) + 0.5)"] = getattr(np, _numpy)(A, A[::-1] + np.float32(0.5))
for _name in ("and", "or", "xor"):
    ROWS[f"paddle.bitwise_{_name}(i, i + 1)"] = getattr(np, f"bitwise_{_name}")(I, I + 1)
    ROWS[f"paddle.logical_{_name}(b, b.flip(1))"] = getattr(np, f"logical_{_name}")(B, B[:, ::-1])
for _name, _axis, _keep in itertools.product(REDUCTIONS, (None, -1, [0, 1]), (False, True)):
    if _name == "prod" and _axis == [0, 1]:
        continue  # Paddle's takes one axis
    _q = "q=0.3, " if "quantile" in _name else ""
    ROWS[f"paddle.{_name}(x, {_q}axis={_axis}, keepdim={_keep})"] = _reduced(
        _name, tuple(_axis) if isinstance(_axis, list) else _axis, _keep
    )
