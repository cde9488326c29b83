"""Checks of values and gradients: function form, first and second derivatives, layouts, executors."""

import functools

import numpy as np
import torch
from torch.testing._internal.opinfo.core import BinaryUfuncInfo, ReductionOpInfo, UnaryUfuncInfo

import jaxflow
from compat_tests.exact import exactly

from .arguments import call_of, copied, describe, flat, mapped, noncontiguous, subject, to_torch
from .compare import compare
from .findings import quiet
from .records import differentiable, dtypes, record, resolve, take_samples, tolerance
from .unspecified import open_dim, settled, settled_gradient


def check_values(found, key, dtype, count):
    """Values, gradients and second gradients of samples, in deferred mode."""
    fn = resolve(key)
    gradient = differentiable(key, dtype)
    # Second derivatives lose digits that only double precision has to spare.
    second = gradient and record(key).supports_gradgrad and dtype in ("float64", "complex128")
    samples = take_samples(key, dtype, gradient, count)
    for i, sample in enumerate(samples):
        ask(found, key, dtype, fn, sample, call_of(sample), f"sample {i} {describe(sample)}",
            order=2 if second else 1)
    for name, call in edges(key, samples):
        ask(found, key, dtype, fn, samples[0], call, name)


def check_layouts(found, key, dtype, count):
    """Values and gradients for inputs that are not contiguous."""
    fn = resolve(key)
    for sample in take_samples(key, dtype, differentiable(key, dtype), count)[:1]:
        ask(found, key, dtype, fn, sample, noncontiguous(call_of(sample)),
            f"strided {describe(sample)}", ("layout", "layout"))


def check_executors(found, key, dtype, count):
    """Values and gradients of the eager executor and, in a record's first dtype, of compiled functions."""
    fn = resolve(key)
    for sample in take_samples(key, dtype, differentiable(key, dtype), count)[:1]:
        call = call_of(sample)
        with jaxflow.execution("eager"):
            ask(found, key, dtype, fn, sample, call, f"eager {describe(sample)}", ("eager", "eager"))
        if dtype != dtypes(key)[0]:  # what is compiled does not depend on it, and each takes a while
            continue
        ask(found, key, dtype, jaxflow.compile(fn), sample, call, f"compile {describe(sample)}",
            ("compile", "compile"))


def edges(key, samples):
    """0-d, empty and broadcast forms of the first sample of elementwise operations and reductions."""
    if not samples or not isinstance(record(key), (UnaryUfuncInfo, BinaryUfuncInfo, ReductionOpInfo)):
        return
    call = call_of(samples[0])
    tensors = flat((call[0], call[1]))
    if not tensors or any(t.numel() < 4 for t in tensors):
        return
    named_dims = isinstance(record(key), ReductionOpInfo) and (call[1] or call[2])
    if not named_dims:
        yield "0-d", mapped(call, lambda t: _leaf(t.detach().flatten()[0], t))
        yield "empty", mapped(call, lambda t: _leaf(t.detach().flatten()[:0].reshape(0, 3), t))
    if len(tensors) == 2:
        column = tensors[0]
        yield "broadcast", mapped(call, lambda t: _leaf(
            t.detach().flatten()[:3].reshape(3, 1) if t is column else t.detach().flatten()[:4], t))


def _leaf(part, whole):
    return part.clone().requires_grad_(whole.requires_grad)


def ask(found, key, dtype, fn, sample, call, where, checks=("value", "gradient"), order=1):
    """Compare a call's results and gradients; what torch itself cannot do is left out."""
    process = functools.partial(settled, key, sample)
    settle = functools.partial(settled_gradient, key, sample)
    allowed = functools.partial(tolerance, key)

    def theirs():
        given = copied(call)  # leaves whose .grad is None
        return differentiated(torch, record(key).op, given, process, order)

    @functools.cache
    def exact():
        return quiet(exactly, theirs)

    try:
        expected, their_grads, their_second = quiet(theirs)
    except Exception:
        return  # a sample that torch has no kernel for
    actual = our_grads = our_second = None
    with found.asking(checks[0], dtype, where):
        mine = subject(copied(call))
        actual, our_grads, our_second = quiet(
            differentiated, jaxflow, fn, mine, process, order, their_grads is not None)
        compare(actual, expected, where, allowed, lambda: exact()[0])
        for k, (a, e) in enumerate(zip(flat(actual), flat(expected), strict=True)):
            assert a.requires_grad == e.requires_grad, f"{where}[{k}]: requires_grad {a.requires_grad}"
    if their_grads is not None and not isinstance(our_grads, Exception):
        with found.asking(checks[1], dtype, where):
            assert our_grads is not None, "the call itself failed"
            _compare_gradients(our_grads, their_grads, where, allowed, lambda: exact()[1],
                               None if open_dim(key, sample) is None else settle, settle)
    elif isinstance(our_grads, Exception):
        with found.asking(checks[1], dtype, where):
            raise our_grads
    if their_second is not None:
        with found.asking("second", dtype, where):
            if isinstance(our_second, Exception):
                raise our_second
            if our_second is None:  # a gradient that is constant
                for g in their_second:
                    if g is not None:
                        compare(subject(torch.zeros_like(g)), g, where, allowed)
                return
            _compare_gradients(our_second, their_second, where, allowed, None, None, lambda g: g)


def _compare_gradients(ours, theirs, where, allowed, exact, settle_ours, settle):
    for k, (a, e) in enumerate(zip(ours, theirs, strict=True)):
        if e is None or a is None:
            # Whether an input that does not matter has a zero gradient or none is a kernel's affair.
            present = e if e is not None else a
            assert present is None or not _any(present), f"{where}: gradient {k} is {a} for {e}"
            continue
        if settle_ours is not None:
            a = subject(settle_ours(to_torch(a)))
        compare(a, settle(e), f"{where} gradient {k}", allowed,
                exact and (lambda k=k: settle(exact()[k])))


def _any(x):
    return bool((x.detach() if isinstance(x, torch.Tensor) else to_torch(x)).any())


def differentiated(T, fn, call, process, order=1, wanted=True):
    """``(result, gradients, second gradients)`` of a call; an Exception in the place of what failed."""
    inputs = [t for t in flat(call) if t.requires_grad]
    result = process(fn(call[0], *call[1], **call[2]))
    outs = [o for o in flat(result) if o.requires_grad]
    if not (inputs and outs and wanted):
        return result, None, None
    ours = T is jaxflow
    try:
        if order == 1:
            T.autograd.backward(outs, _cotangents(T, outs))
            return result, [t.grad for t in inputs], None
        grads = T.autograd.grad(outs, inputs, _cotangents(T, outs), create_graph=True, allow_unused=True)
    except Exception as error:
        if not ours:
            raise
        return result, error, error
    # Which gradients are constants is a kernel's affair: each has its own cotangent in any case.
    further = [(g, c) for g, c in zip(grads, _cotangents(T, grads), strict=True)
               if g is not None and g.requires_grad]
    if not further:
        return result, grads, None
    try:
        dependent, cotangents = zip(*further, strict=True)
        second = T.autograd.grad(dependent, inputs, cotangents, allow_unused=True)
    except Exception as error:
        second = error if ours else None
    return result, grads, second


def _cotangents(T, outs):
    """Fixed cotangents: sixteenths, which every floating type has, so they are the same in all precisions."""
    return [None if o is None else cotangent(T, o, i) for i, o in enumerate(outs)]


def cotangent(T, out, number):
    """The fixed cotangent of a result, the ``number``-th of its call."""
    rng = np.random.default_rng(number)
    numbers = rng.integers(8, 24, tuple(out.shape)) / 16
    if out.dtype.is_complex:
        numbers = numbers + 1j * rng.integers(8, 24, tuple(out.shape)) / 16
    seed = torch.from_numpy(np.asarray(numbers)).to(getattr(torch, str(out.dtype).rpartition(".")[2]))
    return subject(seed) if T is jaxflow else seed
