"""Runs PyTorch's own sample inputs of an operation (its ``op_db``) on torch and on jaxflow and compares.

Compared are values, dtypes and shapes, the types of containers, gradients of every input that has one,
the in-place form, ``out=``, and that what torch refuses jaxflow refuses with the same words. Tolerances
are those of `torch.testing.assert_close`.
"""

import functools
import itertools
import os
import re
import warnings

import numpy as np
import torch
from torch.testing._internal.common_methods_invocations import op_db

import jaxflow

#: How many of a record's samples a test takes, spread over all of them.
SAMPLES = int(os.environ.get("JAXFLOW_SWEEP_SAMPLES", "4"))

RECORDS = {(r.name, r.variant_test_name): r for r in op_db}


def records(names):
    """The records of some names, all variants, as ``name`` or ``name/variant``."""
    wanted = names.split()
    missing = set(wanted) - {n for n, _ in RECORDS}
    if missing:
        raise ValueError(f"op_db has no {sorted(missing)}")
    return [f"{n}/{v}" if v else n for n, v in RECORDS if n in wanted]


def record(key):
    """The record of a key that `records` returned."""
    name, _, variant = key.partition("/")
    return RECORDS[name, variant]


def cases(keys, dtypes):
    """``(key, dtype)`` for each dtype of ``dtypes`` that torch supports on the CPU for the record."""
    return [(key, name) for key in keys for name in dtypes
            if getattr(torch, name) in record(key).dtypes]


def inplace_cases(keys, dtypes):
    """The cases of the records that have an in-place form."""
    return cases([k for k in keys if record(k).inplace_variant is not None], dtypes)


def out_cases(keys, dtypes):
    """The cases of the records that have an ``out=`` form."""
    return cases([k for k in keys if record(k).supports_out], dtypes)


def error_cases(keys):
    """The records that say what is refused."""
    return [k for k in keys if record(k).error_inputs_func is not None]


# ------------------------------------------------------------------------------- torch -> jaxflow


def subject(x, seen=None):
    """A torch argument as jaxflow's; tensors keep ``requires_grad``, and one met twice stays one."""
    seen = {} if seen is None else seen
    if isinstance(x, torch.Tensor):
        if id(x) not in seen:
            t = _to_jaxflow(x.detach())
            seen[id(x)] = t.requires_grad_() if x.requires_grad else t
        return seen[id(x)]
    if isinstance(x, torch.device):
        return str(x)
    if isinstance(x, torch.nn.PairwiseDistance):
        return jaxflow.nn.PairwiseDistance(x.norm, x.eps, x.keepdim)
    if isinstance(x, (torch.dtype, torch.memory_format, torch.layout)):
        return getattr(jaxflow, str(x).removeprefix("torch."))
    if isinstance(x, torch.Size):
        return jaxflow.Size(x)
    if isinstance(x, list):
        return [subject(i, seen) for i in x]
    if isinstance(x, tuple):
        return tuple(subject(i, seen) for i in x)
    if isinstance(x, dict):
        return {k: subject(v, seen) for k, v in x.items()}
    return x


def _to_jaxflow(x):
    dtype = getattr(jaxflow, str(x.dtype).removeprefix("torch."))
    x = x.resolve_conj().resolve_neg()
    if x.dtype is torch.bfloat16:
        return jaxflow.tensor(x.float().clone().numpy(), dtype=dtype)
    return jaxflow.tensor(x.clone().numpy(), dtype=dtype)


def _numbers(x):
    return x.detach() if isinstance(x, torch.Tensor) else to_torch(x)


def to_torch(x):
    """A jaxflow tensor as torch's, for comparing."""
    array = np.asarray(x.detach()._value_array())
    dtype = getattr(torch, x.dtype.name)
    if dtype is torch.bfloat16:
        return torch.from_numpy(array.astype(np.float32)).to(dtype)
    return torch.from_numpy(np.array(array))


#: Records whose function takes its arguments in another order than the samples have them.
_REORDERED = {
    "polygamma": lambda x, n, **kwargs: jaxflow.polygamma(n, x, **kwargs),
    "einsum": lambda tensors, equation: jaxflow.einsum(equation, tensors),
    "nn.functional.embedding_bag": lambda weight, indices, **kwargs: (
        jaxflow.nn.functional.embedding_bag(indices, weight, **kwargs)),
    "nn.functional.embedding": lambda weight, indices, **kwargs: (
        jaxflow.nn.functional.embedding(indices, weight, **kwargs)),
    "where": lambda x, condition, other, **kwargs: jaxflow.where(condition, x, other, **kwargs),
}


def resolve(key):
    """jaxflow's function of the record's name; a function of the method where there is only that."""
    name = record(key).name
    if name in _REORDERED:
        return _REORDERED[name]
    try:
        return functools.reduce(getattr, name.split("."), jaxflow)
    except AttributeError:
        return getattr(jaxflow.Tensor, name.rpartition(".")[2])


def take_samples(rec, dtype, requires_grad, count=None):
    """Some sample inputs, spread over all of them; the same at every run."""
    torch.manual_seed(0)
    found = list(rec.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    # The two libraries draw different numbers.
    found = [s for s in found if not s.kwargs.get("dropout_p")]
    count = SAMPLES if count is None else count
    if len(found) > count:
        step = len(found) / count
        found = [found[int(i * step)] for i in range(count)]
    return found


#: Results whose elements nobody promises.
_UNSPECIFIED = ("empty", "empty_like", "empty_strided", "new_empty")
#: Results whose indices may point at any of several equal elements.
_ANY_OF_EQUALS = ("topk", "kthvalue", "median", "nanmedian", "sort", "argsort", "msort")


def _open_dim(key, sample):
    """Along which dimension PyTorch leaves open which of several equal elements is meant, or None."""
    name = record(key).name
    if name not in _ANY_OF_EQUALS or sample.kwargs.get("stable") is True:
        return None
    if name == "msort":
        return 0
    numbers = [a for a in sample.args if isinstance(a, int) and not isinstance(a, bool)]
    if "dim" not in sample.kwargs and len(numbers) > (name in ("topk", "kthvalue")):
        return numbers[-1]
    return sample.kwargs.get("dim", -1)


def _settled(key, sample, result):
    """A result without what PyTorch leaves open: unspecified elements, indices among equals."""
    if record(key).name in _UNSPECIFIED:
        return result.to(bool) & False
    dim = _open_dim(key, sample)
    if dim is None:
        return result
    # Detached: what the indices point at is compared, and is not to have a gradient of its own.
    x = sample.input if isinstance(flat(result)[0], torch.Tensor) else subject(sample.input)
    if record(key).name == "argsort":
        return x.detach().take_along_dim(result, dim)
    if isinstance(result, tuple) and x.dim():
        indices = result[1]
        if indices.dim() < x.dim():
            indices = indices.unsqueeze(dim)
        return result[0], x.detach().take_along_dim(indices, dim)
    return result


def _settled_gradient(key, sample, gradient):
    """The gradient of a sample's input; which of several equal elements has which share is left open.

    Equal elements along the open dimension have their shares in order of size.
    """
    dim = _open_dim(key, sample)
    if dim is None or sample.input.dim() == 0:
        return gradient
    x = sample.input.detach()
    by_size = gradient.argsort(dim)
    order = by_size.take_along_dim(x.take_along_dim(by_size, dim).sort(dim=dim, stable=True)[1], dim)
    return gradient.take_along_dim(order, dim)


# ----------------------------------------------------------------------------------------- compare


def flat(x):
    """The tensors of a nested result, in order."""
    if isinstance(x, (torch.Tensor, jaxflow.Tensor)):
        return [x]
    if isinstance(x, (list, tuple)):
        return list(itertools.chain.from_iterable(map(flat, x)))
    return []


def compare(actual, expected, where, exact=None):
    """Assert that a jaxflow result equals torch's.

    ``exact`` gives the same result computed in double precision. An element that the tolerance rejects is
    then
    still right if it is no further from the exact one than torch's own: where rounding is amplified
    (``asin`` at 1), torch is as far off as anybody.
    """
    if isinstance(expected, torch.Tensor):
        assert isinstance(actual, jaxflow.Tensor), f"{where}: {type(actual)} for a tensor"
        assert str(actual.dtype) == str(expected.dtype), f"{where}: dtype {actual.dtype}"
        assert tuple(actual.shape) == tuple(expected.shape), f"{where}: shape {actual.shape}"
        expected = expected.detach().resolve_conj().resolve_neg()
        ours = to_torch(actual)
        try:
            torch.testing.assert_close(ours, expected, equal_nan=True, check_stride=False)
        except AssertionError as error:
            if exact is None or not _no_worse(ours, expected, exact()):
                raise AssertionError(f"{where}: {error}") from None
    elif isinstance(expected, (list, tuple)):
        assert len(actual) == len(expected), f"{where}: length"
        assert type(actual).__name__ == type(expected).__name__ or not hasattr(
            expected, "_fields"), f"{where}: {type(actual)} for {type(expected)}"
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            inner = None if exact is None else functools.partial(lambda x, k: x()[k], exact, i)
            compare(a, e, f"{where}[{i}]", inner)
    else:
        assert str(actual) == str(expected), f"{where}: {actual!r} for {expected!r}"


def _no_worse(ours, theirs, exact):
    if not (ours.is_floating_point() or ours.is_complex()):
        return False
    exact = exact.detach().resolve_conj().resolve_neg()
    wide = exact.dtype
    same = torch.isclose(ours, theirs, *_tolerance(ours.dtype), equal_nan=True)
    scale = exact.abs().clamp_min(torch.finfo(ours.dtype).tiny)
    off, their_off = ((x.to(wide) - exact).abs() / scale for x in (ours, theirs))
    near = off <= their_off.nan_to_num(0).max()
    close = torch.isclose(ours.to(wide), exact, *_tolerance(ours.dtype), equal_nan=True)
    return bool((same | near | close).all())


def _tolerance(dtype):
    return torch.testing._comparison.default_tolerances(dtype)


_WIDER = {torch.float32: torch.float64, torch.bfloat16: torch.float64, torch.float16: torch.float64,
          torch.complex64: torch.complex128}


def _widened(x, dtype):
    """A nested torch argument with tensors of ``dtype`` in double precision."""
    if isinstance(x, torch.Tensor):
        if x.dtype is not dtype:
            return x
        return x.detach().to(_WIDER[dtype]).requires_grad_(x.requires_grad)
    if x is dtype:
        return _WIDER[dtype]
    if isinstance(x, dict):
        return {k: _widened(v, dtype) for k, v in x.items()}
    if isinstance(x, (list, tuple)) and type(x) in (list, tuple):
        return type(x)(_widened(i, dtype) for i in x)
    return x


def _quiet(fn, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fn(*args, **kwargs)


def check_values(key, dtype_name):
    """Values, dtypes and gradients of a record's samples."""
    rec, dtype = record(key), getattr(torch, dtype_name)
    fn = resolve(key)
    differentiable = rec.supports_autograd and dtype in rec.supported_backward_dtypes("cpu")
    for i, sample in enumerate(take_samples(rec, dtype, differentiable)):
        where = f"{key} {dtype_name} sample {i} {_describe(sample)}"
        process = functools.partial(_processed, key, sample)
        settle = functools.partial(_settled_gradient, key, sample)
        call = (sample.input, sample.args, sample.kwargs)

        def run_torch(call, rec=rec, process=process, settle=settle):
            args = _tensors(call)
            result = process(_quiet(rec.op, call[0], *call[1], **call[2]))
            found = _gradients(torch, result, args, lambda x: x)
            return result, found and [g if g is None else settle(g) for g in found]

        @functools.cache
        def exact(call=call, run_torch=run_torch, dtype=dtype):
            return run_torch(_widened(call, dtype))

        expected, their_grads = run_torch(call)
        mine = subject(call)
        actual = process(_quiet(fn, mine[0], *mine[1], **mine[2]))
        reference = dtype in _WIDER
        compare(actual, expected, where, (lambda exact=exact: exact()[0]) if reference else None)
        for k, (a, e) in enumerate(zip(flat(actual), flat(expected), strict=True)):
            assert a.requires_grad == e.requires_grad, f"{where}[{k}] requires_grad"
        if their_grads is None:
            continue
        our_grads = _gradients(jaxflow, actual, _tensors(mine), subject)
        for k, (a, e) in enumerate(zip(our_grads, their_grads, strict=True)):
            if e is None or a is None:
                # Whether an input that does not matter has a zero gradient or none is a kernel's affair.
                present = e if e is not None else a
                assert present is None or not _numbers(present).any(), (
                    f"{where}: gradient {k} is {a} for {e}"
                )
                continue
            if _open_dim(key, sample) is not None:
                a = subject(settle(to_torch(a)))
            compare(a, e, f"{where} gradient {k}",
                    (lambda exact=exact, k=k: exact()[1][k]) if reference else None)


def _processed(key, sample, result):
    if sample.output_process_fn_grad is not None:
        result = sample.output_process_fn_grad(result)
    return _settled(key, sample, result)


def _tensors(call):
    return flat((call[0], call[1], tuple(call[2].values())))


def _gradients(T, result, inputs, convert):
    """Gradients of the inputs that require them, for fixed cotangents; None without any."""
    outs = [o for o in flat(result) if o.requires_grad]
    wanted = [t for t in inputs if t.requires_grad]
    if not outs or not wanted:
        return None
    rng = np.random.default_rng(0)
    seeds = []
    for o in outs:
        # Sixteenths, which every floating type has: the same cotangents in all precisions.
        seed = torch.from_numpy(np.asarray(rng.integers(8, 24, tuple(o.shape)) / 16))
        seeds.append(convert(seed.to(getattr(torch, str(o.dtype).removeprefix("torch.")))))
    return T.autograd.grad(outs, wanted, seeds, allow_unused=True)


def _describe(sample):
    shapes = [tuple(t.shape) for t in flat((sample.input, sample.args))]
    rest = [a for a in sample.args if not isinstance(a, torch.Tensor)]
    return f"{shapes} {rest} {sample.kwargs}"[:200]


# -------------------------------------------------------------------------------- forms and errors


def outcome(fn, *args, **kwargs):
    """``(result, None)``, or ``(None, (error class, first line))``."""
    try:
        return _quiet(fn, *args, **kwargs), None
    except Exception as error:
        return None, (type(error).__name__, str(error).partition("\n")[0])


def check_inplace(key, dtype_name):
    """The in-place form: its result, that it is its first argument, and what it refuses."""
    rec, dtype = record(key), getattr(torch, dtype_name)
    form = _inplace_form(key)
    for i, sample in enumerate(take_samples(rec, dtype, False, 3)):
        where = f"{key}_ {dtype_name} sample {i} {_describe(sample)}"
        if not isinstance(sample.input, torch.Tensor):
            continue
        mine = subject((sample.input, sample.args, sample.kwargs))
        theirs = sample.input.clone()
        expected, error = outcome(rec.inplace_variant, theirs, *sample.args, **sample.kwargs)
        actual, mistake = outcome(form, mine[0], *mine[1], **mine[2])
        assert mistake == error, f"{where}: raises {mistake} for {error}"
        if error is None:
            assert actual is mine[0], where
            compare(actual, expected, where, _reference(rec, sample, dtype))
            assert mine[0]._version == theirs._version, f"{where}: version"


def _inplace_form(key):
    """jaxflow's in-place form: a method, or for activations the ``inplace`` argument."""
    name = getattr(record(key).inplace_variant, "__name__", "")
    if name.endswith("_"):
        return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)
    return functools.partial(resolve(key), inplace=True)


def _reference(rec, sample, dtype):
    """The sample's result in double precision, when asked for."""
    if dtype not in _WIDER:
        return None
    call = _widened((sample.input, sample.args, sample.kwargs), dtype)
    return functools.cache(lambda: _quiet(rec.op, call[0], *call[1], **call[2]))


def check_out(key, dtype_name):
    """The ``out=`` form, into tensors of the result's own dtype and shape."""
    rec, dtype = record(key), getattr(torch, dtype_name)
    fn = resolve(key)
    for i, sample in enumerate(take_samples(rec, dtype, False, 2)):
        where = f"{key} out= {dtype_name} sample {i} {_describe(sample)}"
        mine = subject((sample.input, sample.args, sample.kwargs))
        expected = _quiet(rec.op, sample.input, *sample.args, **sample.kwargs)
        single = isinstance(expected, torch.Tensor)
        wanted = tuple(torch.zeros_like(e.contiguous()) for e in flat(expected))
        outs = subject(wanted)
        _, error = outcome(rec.op, sample.input, *sample.args, **sample.kwargs,
                           out=wanted[0] if single else wanted)
        actual, mistake = outcome(fn, mine[0], *mine[1], **mine[2], out=outs[0] if single else outs)
        assert (mistake is None) is (error is None), f"{where}: raises {mistake} for {error}"
        if error is None:
            exact = _reference(rec, sample, dtype)
            compare(*(_settled(key, sample, r) for r in (actual, expected)), where, exact)
            assert all(a is o for a, o in zip(flat(actual), outs, strict=True)), where


def check_errors(key):
    """Every call that torch's records say is refused is refused, with the words they look for."""
    rec = record(key)
    fn = resolve(key)
    for i, bad in enumerate(rec.error_inputs("cpu")):
        sample = bad.sample_input
        where = f"{key} error {i} {_describe(sample)}"
        if not _portable(sample):
            continue
        _, expected = outcome(rec.op, sample.input, *sample.args, **sample.kwargs)
        if expected is None:
            continue  # an old record: torch itself has learnt to do it
        mine = subject((sample.input, sample.args, sample.kwargs))
        result, error = outcome(fn, mine[0], *mine[1], **mine[2])
        assert error is not None, f"{where}: no error; torch: {expected}; got {result}"
        assert error[0] == expected[0], f"{where}: {error} for {expected}"
        pattern = bad.error_regex.partition("\n")[0]
        assert error[1] == expected[1] or re.search(pattern, error[1]), (
            f"{where}: {error[1]!r} for {expected[1]!r}"
        )


def _portable(sample):
    """Whether a sample survives the way through NumPy, which loses who shares memory with whom."""
    found = flat((sample.input, sample.args, tuple(sample.kwargs.values())))
    tensors = {id(t): t for t in found}.values()
    homes = [t.untyped_storage().data_ptr() for t in tensors if t.numel()]
    expanded = any(0 in t.stride() and t.numel() > 1 for t in tensors)
    return len(set(homes)) == len(homes) and not expanded and all(t.dim() < 64 for t in tensors)
