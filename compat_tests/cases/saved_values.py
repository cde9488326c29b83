"""What ``grad_fn`` shows of what it saved: names, values, the leaf itself, and nothing once freed."""

from compat_tests.harness import AnyStrides, attempt, case, each, leaf, raises, rand


def shown(node):
    """All saved values of a node by name; a tensor without its history, and nothing about strides."""
    found = {}
    for name in sorted(n for n in dir(node) if n.startswith("_saved_") and "strides" not in n):
        value = getattr(node, name)
        if isinstance(value, (tuple, list)):
            value = [v.detach() if hasattr(v, "detach") else v for v in value]
        found[name] = value.detach() if hasattr(value, "detach") else (
            str(value).rpartition(".")[2] if type(value).__name__ == "dtype" else value
        )
    return found


_FAMILIES = dict(
    products=dict(
        mul=lambda T, x, w: x * w, mul_int=lambda T, x, w: x * 2, mul_float=lambda T, x, w: x * 2.5,
        mul_constant=lambda T, x, w: x * w.detach(), div=lambda T, x, w: x / w, div_int=lambda T, x, w: x / 4,
        mm=lambda T, x, w: x @ w.t(), mv=lambda T, x, w: x.mv(w[0]), dot=lambda T, x, w: x[0].dot(w[0]),
        bmm=lambda T, x, w: x[None].bmm(w.t()[None]), addcmul=lambda T, x, w: x.addcmul(w, w, value=0.5),
        addcdiv=lambda T, x, w: x.addcdiv(w, w), add=lambda T, x, w: x.add(w, alpha=3),
        sub=lambda T, x, w: x - w, maximum=lambda T, x, w: x.maximum(w), atan2=lambda T, x, w: x.atan2(w),
        lerp=lambda T, x, w: x.lerp(w, 0.25),
        addmm=lambda T, x, w: x[:, :2].addmm(x, w.t(), alpha=2.0),
    ),
    pointwise=dict(
        exp=lambda T, x, w: x.exp(), sigmoid=lambda T, x, w: x.sigmoid(), tanh=lambda T, x, w: x.tanh(),
        relu=lambda T, x, w: x.relu(), sqrt=lambda T, x, w: x.abs().sqrt(), sin=lambda T, x, w: x.sin(),
        log=lambda T, x, w: (x.abs() + 1).log(), square=lambda T, x, w: x**2, cube=lambda T, x, w: x**3,
        cube_float=lambda T, x, w: x**3.0,
        pow=lambda T, x, w: x.abs() ** w, rpow=lambda T, x, w: 2.0**x, abs=lambda T, x, w: x.abs(),
        clamp=lambda T, x, w: x.clamp(-1, 1), clamp_min=lambda T, x, w: x.clamp_min(0.5),
        gelu=lambda T, x, w: T.nn.functional.gelu(x), silu=lambda T, x, w: T.nn.functional.silu(x),
        leaky=lambda T, x, w: T.nn.functional.leaky_relu(x, 0.2), rsqrt=lambda T, x, w: (x.abs() + 1).rsqrt(),
        where=lambda T, x, w: T.where(x > 0, x, w),
        masked=lambda T, x, w: x.masked_fill(x > 0, 1.5), reciprocal=lambda T, x, w: x.reciprocal(),
    ),
    reductions=dict(
        sum=lambda T, x, w: x.sum(), sum_dim=lambda T, x, w: x.sum(-1),
        sum_dims=lambda T, x, w: x.sum((0, 1), True),
        mean=lambda T, x, w: x.mean(), mean_dim=lambda T, x, w: x.mean(1, keepdim=True),
        max=lambda T, x, w: x.max(), max_dim=lambda T, x, w: x.max(1).values,
        min_dim=lambda T, x, w: x.min(0, True).values, amax=lambda T, x, w: x.amax(-1),
        logsumexp=lambda T, x, w: x.logsumexp(1), prod=lambda T, x, w: x.prod(),
        softmax=lambda T, x, w: x.softmax(1), log_softmax=lambda T, x, w: x.log_softmax(-1),
        cumsum=lambda T, x, w: x.cumsum(-1), sort=lambda T, x, w: x.sort(1).values,
        topk=lambda T, x, w: x.topk(2).values, norm=lambda T, x, w: x.norm(),
        mse=lambda T, x, w: T.nn.functional.mse_loss(x, w), var=lambda T, x, w: x.var(1, correction=0),
    ),
    places=dict(
        view=lambda T, x, w: x.view(3, 2),
        index_select=lambda T, x, w: x.index_select(1, T.tensor([0, 2])),
        transpose=lambda T, x, w: x.transpose(0, 1), permute=lambda T, x, w: x.permute(1, 0),
        select=lambda T, x, w: x.select(1, 2), narrow=lambda T, x, w: x.narrow(1, 1, 2),
        expand=lambda T, x, w: x.expand(2, 2, 3), unsqueeze=lambda T, x, w: x.unsqueeze(1),
        squeeze=lambda T, x, w: x[:1].squeeze(0), cat=lambda T, x, w: T.cat([x, w], 1),
        stack=lambda T, x, w: T.stack([x, w], 1), flip=lambda T, x, w: x.flip(1),
        roll=lambda T, x, w: x.roll(1, 1),
        diagonal=lambda T, x, w: x.diagonal(1), repeat=lambda T, x, w: x.repeat(2, 1),
        triu=lambda T, x, w: x.triu(1),
        embedding=lambda T, x, w: T.nn.functional.embedding(T.tensor([1, 0]), x),
        pad=lambda T, x, w: T.nn.functional.pad(x, (1, 2)), unbind=lambda T, x, w: x.unbind(1)[0],
        reshape=lambda T, x, w: x.reshape(6),
        scatter_add=lambda T, x, w: x.scatter_add(1, T.tensor([[0], [2]]), w),
    ),
)


@each(**_FAMILIES)
def values_by_name(T, family):
    x, w = leaf(T, 2, 3), leaf(T, 2, 3)
    found = {}
    for name, op in family.items():
        node = op(T, x, w).grad_fn
        found[name] = node.name(), shown(node)
    return AnyStrides(found)


@case
def tensors_are_the_saved_ones(T):
    x = leaf(T, 3)
    y = x * 2
    product, exp = x * y, x.exp()
    result = exp.grad_fn._saved_result
    raw = product.grad_fn._raw_saved_self
    return (
        product.grad_fn._saved_self is x, product.grad_fn._saved_other, result, result.grad_fn is exp.grad_fn,
        (x * rand(T, 3)).grad_fn._saved_self, type(raw).__name__,
    )


@case
def of_a_linear_layer(T):
    x, w, b = leaf(T, 2, 3), leaf(T, 4, 3), leaf(T, 4)
    y, plain = T.nn.functional.linear(x, w, b).grad_fn, T.nn.functional.linear(x, w).grad_fn
    return (y.name(), y._saved_mat1, y._saved_mat2, y._saved_alpha, y._saved_beta, plain.name(),
            plain._saved_self, plain._saved_mat2, y._saved_mat2_sym_sizes, plain._saved_self_sym_sizes)


@case
def of_convolutions_and_padding(T):
    x, w = leaf(T, 1, 2, 5), leaf(T, 3, 2, 2)
    functional = T.nn.functional
    conv = functional.conv1d(x, w, padding=1, stride=2).grad_fn
    pool = functional.avg_pool2d(x[None], (1, 2)).grad_fn
    names = ("padding", "stride", "dilation", "groups", "transposed")
    return (conv.name(), [getattr(conv, f"_saved_{name}") for name in names], conv._saved_input,
            conv._saved_weight, functional.pad(x, (1, 2), mode="reflect").grad_fn._saved_padding,
            functional.pad(x, (1, 2)).grad_fn._saved_pad, pool._saved_kernel_size, pool._saved_ceil_mode)


@case
def nothing_once_freed(T):
    x = leaf(T, 3)
    product, exp, summed, power = x * x, x.exp(), x.sum(), x**2
    kept = (product.sum() + exp.sum() + summed + power.sum()).sum()
    kept.backward()
    return (
        raises(lambda: product.grad_fn._saved_self), raises(lambda: exp.grad_fn._saved_result),
        raises(lambda: power.grad_fn._saved_self), summed.grad_fn._saved_self_sym_sizes,
        attempt(lambda: power.grad_fn._saved_exponent), type(product.grad_fn._raw_saved_other).__name__,
    )


@case
def overwritten_since(T):
    x = leaf(T, 3)
    y = x * 1
    z, e = y * y, y.exp()
    with T.no_grad():
        y.add_(1)
        e.add_(1)
    return raises(lambda: z.grad_fn._saved_self), raises(lambda: e.grad_fn._saved_result)


_SEVERAL = dict(
    sort=lambda T, x: x.sort(), topk=lambda T, x: x.topk(2), max=lambda T, x: x.view(2, 2).max(1),
    min=lambda T, x: x.view(2, 2).min(1), median=lambda T, x: x.view(2, 2).median(1),
    mode=lambda T, x: x.view(2, 2).mode(1), kthvalue=lambda T, x: x.view(2, 2).kthvalue(1, 1),
    nanmedian=lambda T, x: x.view(2, 2).nanmedian(1), cummax=lambda T, x: x.cummax(0),
    cummin=lambda T, x: x.cummin(0), aminmax=lambda T, x: x.aminmax(), frexp=lambda T, x: x.frexp(),
    qr=lambda T, x: T.linalg.qr(x.view(2, 2)),
    max_pool=lambda T, x: T.nn.functional.max_pool2d(x.view(1, 1, 2, 2), 2, return_indices=True),
    adaptive=lambda T, x: T.nn.functional.adaptive_max_pool2d(x.view(1, 1, 2, 2), 1, return_indices=True),
    std_mean=lambda T, x: T.std_mean(x, 0), var_mean=lambda T, x: T.var_mean(x, 0),
)


@case
def one_of_several_results_overwritten(T):
    found = {}
    for name, op in _SEVERAL.items():
        for k in (0, 1):
            results = op(T, T.tensor([4.0, 1.0, 3.0, 2.0], requires_grad=True))
            with T.no_grad():
                results[k].mul_(1)
            total = sum(r.sum() for r in results if r.requires_grad)
            found[f"{name} {k}"] = attempt(total.backward)
    return found
