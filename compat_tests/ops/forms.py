"""Checks of the other forms of an operator: method, operator, further names, in-place, ``out=``."""

import functools
import types

import torch

import jaxflow
from compat_tests.exact import exactly

from .arguments import call_of, copied, describe, flat, mapped, noncontiguous, subject
from .compare import compare
from .findings import outcome, quiet, warned
from .records import (
    differentiable,
    named,
    on_jaxflow,
    record,
    resolve,
    seed_both,
    take_samples,
    tolerance,
)
from .unspecified import settled
from .values import cotangent


def check_forms(found, key, dtype, count):
    """The method, the operator and the further names of the record."""
    rec = record(key)
    samples = take_samples(key, dtype, False, count)[:1]
    for check, form in (("method", rec.method_variant), ("operator", rec.operator_variant)):
        if form is None:
            continue
        for sample in samples:
            call = call_of(sample)
            expected, error = outcome(form, call[0], *call[1], **call[2])
            if error is not None:
                continue
            where = f"{check} {describe(sample)}"
            with found.asking(check, dtype, where):
                mine = subject(call)
                actual = quiet(_counterpart(form), mine[0], *mine[1], **mine[2])
                compare(settled(key, sample, actual), settled(key, sample, expected), where,
                        functools.partial(tolerance, key), _exact(form, key, sample))
    for alias in rec.aliases:
        for sample in samples:
            call = call_of(sample)
            expected, error = outcome(alias.op, call[0], *call[1], **call[2])
            if error is not None:
                continue
            with found.asking("alias", dtype, alias.name):
                mine = subject(call)
                actual = quiet(named(alias.name), mine[0], *mine[1], **mine[2])
                compare(settled(key, sample, actual), settled(key, sample, expected), alias.name,
                        functools.partial(tolerance, key), _exact(alias.op, key, sample))


def _counterpart(form):
    """jaxflow's of a method, an adapter of the table, or an operator of Python's, which is its own."""
    if isinstance(form, types.FunctionType) and form.__module__.startswith("torch.testing"):
        return on_jaxflow(form)
    if getattr(form, "__module__", "") == "_operator":
        return form
    return getattr(jaxflow.Tensor, form.__name__)


def _exact(fn, key, sample):
    """The sample's result in double precision, when asked for."""
    @functools.cache
    def exact():
        given = copied(call_of(sample))
        return exactly(lambda: settled(key, sample, quiet(fn, given[0], *given[1], **given[2])))

    return exact


def check_inplace(found, key, dtype, count):
    """The in-place form: into a tensor, into a view, of a leaf, and its gradient."""
    rec = record(key)
    forms = [f for f in (rec.inplace_variant, rec.inplace_operator_variant) if f is not None]
    for form in forms:
        for i, sample in enumerate(take_samples(key, dtype, False, count)):
            if not isinstance(sample.input, torch.Tensor):
                continue
            call = call_of(sample)
            where = f"{getattr(form, '__name__', 'inplace')} sample {i} {describe(sample)}"
            for layout, given in (("", call), ("view ", noncontiguous(call))):
                with found.asking("inplace", dtype, where):
                    _compare_inplace(key, sample, form, given, layout + where)
            if i == 0 and differentiable(key, dtype):
                with found.asking("inplace", dtype, "of a leaf"):
                    leaf = copied(call)
                    leaf[0].requires_grad_()
                    _compare_inplace(key, sample, form, leaf, "of a leaf")
                with found.asking("inplace", dtype, "gradient " + where):
                    _compare_gradient(key, form, call, where)


def _inplace_form(key, form):
    """jaxflow's in-place form: a method, an operator, or for activations the ``inplace`` argument."""
    name = getattr(form, "__name__", "")
    if getattr(form, "__module__", "") == "_operator":
        return form
    if name.endswith("_"):
        return getattr(jaxflow.Tensor, name)
    if isinstance(form, types.FunctionType) and form.__module__.startswith("torch.testing"):
        return on_jaxflow(form)
    return functools.partial(resolve(key), inplace=True)


def _compare_inplace(key, sample, form, call, where):
    theirs = copied(call)
    mine = subject(theirs)
    seed_both(key)
    expected, error = outcome(form, theirs[0], *theirs[1], **theirs[2])
    actual, mistake = outcome(_inplace_form(key, form), mine[0], *mine[1], **mine[2])
    assert mistake == error, f"{where}: raises {mistake} for {error}"
    if error is not None:
        return
    assert actual is mine[0], f"{where}: is not its first argument"
    allowed = functools.partial(tolerance, key)
    compare(settled(key, sample, actual), settled(key, sample, expected), where, allowed,
            _exact(form, key, sample))
    assert mine[0]._version == theirs[0]._version, (
        f"{where}: version {mine[0]._version} for {theirs[0]._version}")
    if theirs[0].layout is torch.strided:
        size = theirs[0].untyped_storage().nbytes() // theirs[0].element_size()
        for t in (mine[0], theirs[0]):
            t.detach().zero_()  # what it shows was compared already
        homes = (t.detach().as_strided((size,), (1,), 0) for t in (mine[0], theirs[0]))
        compare(*homes, f"{where}: the storage around it", allowed)


def _gradient(T, form, call):
    leaves = [t for t in flat(call) if t.requires_grad]
    x = call[0] * 1
    result = form(x, *call[1], **call[2])
    if not result.requires_grad:
        return None
    return T.autograd.grad(result, leaves, cotangent(T, result, 0), allow_unused=True)


def _with_leaves(call):
    def leaf(t):
        differs = t.is_floating_point() or t.is_complex()
        return t.detach().clone().requires_grad_(differs)

    return mapped(call, leaf)


def _compare_gradient(key, form, call, where):
    theirs = _with_leaves(call)
    mine = subject(theirs)
    seed_both(key)
    expected, error = outcome(_gradient, torch, form, theirs)
    if error is not None or expected is None:
        return
    actual = quiet(_gradient, jaxflow, _inplace_form(key, form), mine)

    @functools.cache
    def exact():
        leaves = _with_leaves(call)
        return exactly(lambda: quiet(_gradient, torch, form, leaves))

    for k, (a, e) in enumerate(zip(actual, expected, strict=True)):
        if a is None or e is None:
            assert a is e, f"{where}: gradient {k} is {a} for {e}"
        else:
            compare(a, e, f"{where} gradient {k}", functools.partial(tolerance, key), lambda k=k: exact()[k])


def check_out(found, key, dtype, count):
    """``out=``: of the result's dtype and shape, of another shape, of another dtype, strided."""
    rec = record(key)
    if not rec.supports_out:
        return
    fn = resolve(key)
    for i, sample in enumerate(take_samples(key, dtype, False, count)[:2]):
        call = call_of(sample)
        expected, error = outcome(rec.op, call[0], *call[1], **call[2])
        if error is not None:
            continue
        for name, make in _OUTS:
            if i and name != "right":
                continue
            where = f"out {name} sample {i} {describe(sample)}"
            with found.asking("out", dtype, where):
                _compare_out(key, sample, fn, expected, make, where)


def _strided(e):
    return torch.zeros((*e.shape, 2), dtype=e.dtype)[..., 0]


#: Name of a kind of ``out`` to what makes one for an expected result.
_OUTS = (
    ("right", lambda e: e.new_zeros(e.shape)),
    ("strided", _strided),
    ("empty", lambda e: torch.empty(0, dtype=e.dtype)),
    ("wrong shape", lambda e: torch.zeros((*e.shape, 2), dtype=e.dtype)),
    ("integer", lambda e: torch.zeros(e.shape, dtype=torch.int64)),
    ("double", lambda e: torch.zeros(e.shape, dtype=torch.float64)),
)


def _compare_out(key, sample, fn, expected, make, where):
    single = isinstance(expected, torch.Tensor)
    theirs = tuple(make(e) for e in flat(expected))
    outs = subject(theirs)
    call, mine = call_of(sample), subject(call_of(sample))
    their, error, warnings = warned(record(key).op, call[0], *call[1], **call[2],
                                    out=theirs[0] if single else theirs)
    ours, mistake, our_warnings = warned(fn, mine[0], *mine[1], **mine[2],
                                         out=outs[0] if single else outs)
    assert (mistake is None) is (error is None), f"{where}: raises {mistake} for {error}"
    if error is not None:
        assert mistake[0] == error[0], f"{where}: raises {mistake} for {error}"
        return
    if their is None:  # lists of results are written and not returned
        assert ours is None, f"{where}: returns {ours} for None"
        ours, their = outs, theirs

    def allowed(_):
        return tolerance(key, flat(expected)[0].dtype)  # of what was computed, not of what it is written to

    wanted, got = ([w for w in ws if "resized" in w[1]] for ws in (warnings, our_warnings))
    assert len(got) == len(wanted), f"{where}: warns {got} for {wanted}"
    compare(settled(key, sample, ours), settled(key, sample, their), where, allowed,
            _exact(record(key).op, key, sample))
    assert all(a is o for a, o in zip(flat(ours), outs, strict=True)), f"{where}: is not out"
    for o, e in zip(outs, theirs, strict=True):
        assert o.stride() == e.stride() or e.numel() < 2, f"{where}: strides {o.stride()} for {e.stride()}"
