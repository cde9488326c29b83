"""Tensors that take another shape, unrecorded, between being used in a graph and its backward."""

import warnings

from compat_tests.harness import case, each, leaf, raises, rand

_CHANGES = dict(
    t=lambda T, x: x.t_(), transpose=lambda T, x: x.transpose_(0, -1),
    swapaxes=lambda T, x: x.swapaxes_(0, 1), squeeze=lambda T, x: x.squeeze_(),
    front=lambda T, x: x.unsqueeze_(0), middle=lambda T, x: x.unsqueeze_(1),
    flat=lambda T, x: x.as_strided_((x.numel(),), (1,)), part=lambda T, x: x.as_strided_((2,), (1,)),
    other=lambda T, x: setattr(x, "data", rand(T, 2, 3)), row=lambda T, x: setattr(x, "data", x.data[:1]),
    turned=lambda T, x: setattr(x, "data", x.data.T), more=lambda T, x: setattr(x, "data", x.data[None]),
)


def _changed(T, x, change):
    with T.no_grad():
        change(T, x)


def _answer(call, *found):
    refused = []
    try:
        call()
    except RuntimeError as error:
        refused.append(str(error).partition("\n")[0])
    return refused, [t.grad for t in found]


@each(**_CHANGES)
def of_a_leaf(T, change):
    x = leaf(T, 4, 3)
    y = x + 1
    given = rand(T, 4, 3)
    _changed(T, x, change)
    first = _answer(lambda: y.backward(given), x)
    return first, _answer(lambda: (x * 2).sum().backward(), x), x.requires_grad


@each(**_CHANGES)
def of_a_leaf_that_has_a_gradient(T, change):
    x = leaf(T, 4, 3)
    (x * 2).sum().backward()
    y = x + 1
    _changed(T, x, change)
    first = _answer(y.sum().backward, x)
    del y
    return first, _answer(lambda: (x + 2).sum().backward(), x)


@each(**_CHANGES)
def of_a_leaf_that_is_a_view(T, change):
    x = rand(T, 12).view(4, 3).requires_grad_()
    _changed(T, x, change)
    y = x * 2
    y.sum().backward()
    return x, y, x.grad


@each(**_CHANGES)
def of_a_result(T, change):
    x = leaf(T, 4, 3)
    y = x * 2
    before = y + 1
    _changed(T, y, change)
    return (_answer(lambda: (y + 1).sum().backward(retain_graph=True), x),
            _answer(lambda: before.sum().backward(retain_graph=True), x),
            _answer(lambda: T.autograd.backward(y, T.ones_like(y)), x))


@each(unsqueeze=lambda t: t.unsqueeze_(-2), transpose=lambda t: t.transpose_(0, 1),
      squeeze=lambda t: t.squeeze_(0))
def of_the_base_of_a_view(T, change):
    x = leaf(T, 4, 3)
    view = x[...]
    with T.no_grad():
        change(x)
    return _answer(lambda: view.abs().sum().backward(), x), view.grad_fn.name()


@case
def of_another_dtype_as_well(T):
    x = leaf(T, 4, 3)
    y = x + 1
    x.data = rand(T, 2, 3, dtype="float64")
    (x * 3).sum().backward()
    return y, x.grad


@case
def what_hooks_see(T):
    x, seen = leaf(T, 1, 3), []
    y = x + 1
    x.data = rand(T, 2, 3)
    x.register_hook(lambda g: seen.append(g.shape))
    z = x * 3
    z.grad_fn.register_hook(lambda grads, _: seen.append(grads[0].shape))
    z.sum().backward()
    return y, seen, raises(lambda: z.backward(T.ones(1)))


def _grown_view(T, x):
    view = x[2:4]
    view.resize_(10)
    view[4:] = -1
    x.add_(10)
    view[0] = 99
    return view, view._base is x, view._is_view()


def _grown_alias(T, x):
    alias = x.detach()
    alias.resize_(3, 4).view(-1)[6:] = 0
    x.mul_(2)
    alias[0] += 1
    return alias


def _grown_base(T, x):
    view = x.view(2, 3)
    x.resize_(4, 3)
    x[2:] = 7
    view += 1
    return view, view._base is x


def _grown_and_back(T, x):
    view = x[2:4]
    view.resize_(8)
    view.resize_(2)
    return view


def _grown_by_out(T, x):
    view = x[2:4]
    T.add(T.ones(5), 1, out=view)
    return view


def _grown_like(T, x):
    view, pending = x[2:], x * 2
    view.resize_as_(T.ones(3, 3)).fill_(1)
    return view, pending


def _grown_of_columns(T, x):
    column = x.view(2, 3).t()[1]
    column.resize_(7)
    column[2:] = 5
    return column, column.stride()


@each(view=_grown_view, alias=_grown_alias, base=_grown_base, back=_grown_and_back, out=_grown_by_out,
      like=_grown_like, column=_grown_of_columns)
def memory_that_grows_for_all_that_show_it(T, grow):
    x = T.arange(6.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = grow(T, x)
    first = found[0] if isinstance(found, tuple) else found
    same = first.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    return found, x, x._version, first._version, x.untyped_storage().nbytes(), first.storage_offset(), same


@case
def a_grown_view_beside_a_graph(T):
    """Its base has a history later; a node of the view would take out of the base what is not there."""
    x, w = T.arange(6.0), leaf(T, 6)
    view = x[2:4]
    view.resize_(8)
    view[2:] = 1
    view.detach().mul_(2)
    x.mul_(w)
    (x * x).sum().backward()
    return w.grad, x.detach()
