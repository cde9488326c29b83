"""The operator table at other sizes: every record over shapes A, B, C, A and D, in each executor.

    python -m compat_tests.ops.shapes                        # every record
    python -m compat_tests.ops.shapes abs linalg --jobs 2    # some records, or all of a namespace

All of a record runs in one process. From the third shape on a call's plans may be members of a family
(NOTE [Families of plans]), in which the extents are symbols. The samples are PyTorch's own, drawn with
other numbers for the sizes that its table is written in; the results are held against PyTorch's, so those
of the executors are equal but for rounding.
"""

import argparse
import collections
import contextlib
import functools
import sys
import time
import warnings
from unittest import mock

from compat_tests import setting  # noqa: F401  before jaxflow is imported

import jax  # isort: skip
import torch  # isort: skip
from torch.testing._internal.opinfo.core import SampleInput  # isort: skip

import jaxflow  # isort: skip
from compat_tests.exact import exactly
from compat_tests.fuzz.machine import running
from jaxflow._core.state import state
from jaxflow._exec.numpy import immediate
from jaxflow._shapes import plan_cache, shape_families

from . import ledger, workers
from .arguments import call_of, copied, describe, flat, mapped, subject
from .compare import compare
from .findings import Findings, outcome, quiet
from .records import chosen, differentiable, dtypes, is_random, record, resolve, take_samples, tolerance
from .unspecified import settled
from .values import differentiated

#: The sizes that PyTorch's table is written in, by their names there; the first are its own.
SIZES = ({"L": 20, "M": 10, "S": 5, "XS": 3}, {"L": 12, "M": 7, "S": 4, "XS": 2},
         {"L": 15, "M": 9, "S": 6, "XS": 4}, {"L": 17, "M": 11, "S": 7, "XS": 2})
ORDER = "ABCAD"
#: Records that keep their sizes: in their samples other numbers go with these, which torch's kernels do not
#: check, or indices that may not be equal.
_UNCHECKED = ("_segment_reduce", "nn.functional.max_unpool")
#: Records beside those of ``linalg`` whose matrices have a structure, which other matrices of theirs lack.
_MATRICES = ("cholesky", "cholesky_inverse", "cholesky_solve", "geqrf", "logdet", "lu", "lu_solve",
             "lu_unpack", "matrix_exp", "ormqr", "pca_lowrank", "pinverse", "qr", "svd", "svd_lowrank",
             "triangular_solve")
#: Samples of a record: for what is interpreted, and for what XLA compiles.
MOST = {"interpreter": 3, "at_once": 3, "eager": 1, "compiled": 1, "vmapped": 1, "traced": 1}
#: Whose sums are added up in XLA's order: like PyTorch's tests of a GPU's kernels these may be further off.
_BY_XLA = ("eager", "compiled", "traced")
_TABLE = ("torch.testing._internal.opinfo", "torch.testing._internal.common_methods_invocations")


@contextlib.contextmanager
def sized(sizes):
    """PyTorch's table with other sizes."""
    with contextlib.ExitStack() as stack:
        for name, module in list(sys.modules.items()):
            if name.startswith(_TABLE):
                theirs = {n: size for n, size in sizes.items() if getattr(module, n, None) == SIZES[0][n]}
                if theirs:
                    stack.enter_context(mock.patch.multiple(module, **theirs))
        yield


def drawn(key, dtype, count):
    """Up to so many samples at each of the sizes, spread over those that have another shape at each.

    Where the table writes all shapes as numbers, its samples are stretched.
    """
    unchecked = record(key).name.startswith(_UNCHECKED)
    found = [_at(SIZES[0] if unchecked else sizes, key, dtype) for sizes in SIZES]
    if any(len(samples) != len(found[0]) for samples in found):
        found = found[:1] * len(SIZES)
    usual, other = found[:2]
    growing = [i for i, sample in enumerate(usual) if describe(sample) != describe(other[i])]
    if growing:
        places = [i for i in growing if _is_full(usual[i])] or growing
    else:
        places = [i for i, sample in enumerate(usual) if _is_full(sample)]
    if len(places) > count:
        places = [places[round(i * (len(places) - 1) / (count - 1))] for i in range(count)]
    found = [[samples[i] for i in places] for samples in found]
    if growing or unchecked:
        return found
    kept = 2 if record(key).name.startswith("linalg.") or record(key).name in _MATRICES else 0
    return [[stretched(sample, more, kept) for sample in samples] for more, samples in enumerate(found)]


def _at(sizes, key, dtype):
    with sized(sizes):
        try:
            return quiet(take_samples, key, dtype, differentiable(key, dtype), None)
        except Exception:  # other numbers in the sampler do not go with these
            return []


def _is_full(sample):
    """Whether there is something in all tensors of a sample, and some extent may be a symbol."""
    tensors = [t for t in _tensors(sample) if t.layout is torch.strided]
    return all(t.numel() for t in tensors) and any(max(t.shape, default=0) > 1 for t in tensors)


def _tensors(sample):
    return flat(call_of(sample))


def stretched(sample, more, kept):
    """The sample with so many further elements along every extent from 2 on, but for its last `kept`.

    They are its first ones again, made smaller, each by another factor, so that no rows are equal; matrices
    that are kept stay as they are.
    """
    generator = torch.Generator().manual_seed(more)

    def stretch(t):
        if t.layout is not torch.strided:
            return t
        longer = t.detach()
        for d, n in enumerate(t.shape[:max(0, t.dim() - kept)]):
            if n > 1:
                longer = longer.index_select(d, torch.arange(n + more) % n)
        if more and not kept and (t.is_floating_point() or t.is_complex()):
            longer = longer * (1 - torch.rand(longer.shape, generator=generator) * 0.6).to(t.dtype)
        return longer.clone().requires_grad_(t.requires_grad)

    call = mapped(call_of(sample), stretch)
    return SampleInput(call[0], args=call[1], kwargs=call[2],
                       output_process_fn_grad=sample.output_process_fn_grad)


class Expected:
    """What torch gives for a sample: its result, its gradients, and both in double precision if asked.

    No gradients where jaxflow's are known to differ: see NOTE [Ledger].
    """

    def __init__(self, key, sample, known):
        self.sample = sample
        self._run = lambda: differentiated(
            torch, record(key).op, copied(call_of(sample)), functools.partial(settled, key, sample),
            wanted="gradient" not in known)
        self.result, self.gradients, _ = quiet(self._run)
        self.exact = functools.cache(lambda: quiet(exactly, self._run))


def shapes(key, wanted=tuple(MOST)):
    """What a record's calls give otherwise than torch: by executor, and what vmap and jax.jit refuse."""
    found = Findings()
    found.declined = {}
    try:
        fn = resolve(key)
    except AttributeError:
        found.missing = True
        return found
    for dtype in dtypes(key)[:1]:
        line = ledger.read()[key]
        units = ledger.failures(line, [dtype]) | ledger.failures({"failed": line.get("deep", {})}, [dtype])
        known = {check for check, _ in units}
        if "value" in known:
            continue
        at_sizes = [[_expected(key, s, known) for s in samples] for samples in drawn(key, dtype, 3)]
        for mode in wanted:
            forget()
            for turn in ORDER:
                samples = at_sizes["ABCD".index(turn)]
                # Where one sample has to do, the middle one: the first are the simplest.
                for number in range(len(samples)) if MOST[mode] > 1 else (len(samples) // 2,):
                    if number < len(samples) and samples[number] is not None:
                        _ask(found, key, dtype, fn, samples[number], f"{turn}{number}", mode)
    return found


def _ask(found, key, dtype, fn, expected, place, mode):
    where = f"{place} {describe(expected.sample)}"
    with found.asking(mode, dtype, where):
        try:
            RUNS[mode](key, fn, expected, where, mode)
        except Declined as refusal:
            found.declined.setdefault((mode, dtype), f"{where}: {refusal}")


def _expected(key, sample, known):
    try:
        return Expected(key, sample, known)
    except Exception:  # a sample that torch has no kernel for
        return None


class Declined(Exception):
    """A transformation refuses the call, and says so."""


def forget():
    """As in a new process."""
    jaxflow.flush()
    shape_families.forget()
    plan_cache.forget()


def _asked(transformed, *tensors):
    """What it gives for the tensors; Declined where it raises."""
    result, error = outcome(transformed, *tensors)
    if error is not None:
        raise Declined(": ".join(error)[:200])
    return result


def _as_usual(key, fn, expected, where, mode):
    """The call and its gradients by an executor of `running`."""
    state.streak = immediate.STREAK if mode == "at_once" else 0
    process = functools.partial(settled, key, expected.sample)
    with running(mode):
        call = subject(copied(call_of(expected.sample)))
        result, gradients, _ = quiet(
            differentiated, jaxflow, fn, call, process, 1, expected.gradients is not None)
        allowed = _allowed(key, mode)
        compare(result, expected.result, where, allowed, lambda: expected.exact()[0])
        if isinstance(gradients, Exception):
            raise gradients
        for k, (a, e) in enumerate(zip(gradients or (), expected.gradients or (), strict=True)):
            if a is not None and e is not None:
                compare(a, e, f"{where} gradient {k}", allowed, lambda k=k: expected.exact()[1][k])


def _allowed(key, mode):
    return functools.partial(tolerance, key, devices=("cpu", "cuda") if mode in _BY_XLA else ("cpu",))


def _rebuilt(call, tensors):
    """A call with other tensors in the places of its own, in order."""
    left = iter(tensors)

    def rebuild(x):
        if isinstance(x, jaxflow.Tensor):
            return next(left)
        if type(x) in (list, tuple):
            return type(x)(map(rebuild, x))
        return {k: rebuild(v) for k, v in x.items()} if isinstance(x, dict) else x

    return rebuild(call)


def _of_tensors(key, fn, expected):
    """The call as a function of its tensors, and these."""
    call = subject(copied(call_of(expected.sample)))
    tensors = [t.detach() for t in flat(call)]

    def called(*given):
        first, others, by_name = _rebuilt(call, given)
        result = settled(key, expected.sample, fn(first, *others, **by_name))
        return result if isinstance(result, jaxflow.Tensor) else flat(result)

    return called, tensors


def _same(key, result, expected, where, mode):
    """Tensors alone come through; numbers that a call gives besides are compared in the other executors."""
    theirs = expected.result if isinstance(expected.result, torch.Tensor) else flat(expected.result)
    compare(result if isinstance(result, jaxflow.Tensor) else list(result), theirs, where,
            _allowed(key, mode), lambda: _exact_tensors(expected))


def _exact_tensors(expected):
    exact = expected.exact()[0]
    return exact if isinstance(exact, torch.Tensor) else flat(exact)


def _vmapped(key, fn, expected, where, mode):
    called, tensors = _of_tensors(key, fn, expected)
    if not tensors or is_random(key):
        return
    twice = [jaxflow.stack([t, t]) for t in tensors]
    result = _asked(jaxflow.func.vmap(called), *twice)
    for row in range(2):
        one = result[row] if isinstance(result, jaxflow.Tensor) else [r[row] for r in result]
        _same(key, one, expected, f"{where} row {row}", mode)


def _traced(key, fn, expected, where, mode):
    called, tensors = _of_tensors(key, fn, expected)
    _same(key, _asked(jax.jit(called), *tensors), expected, where, mode)


RUNS = {**dict.fromkeys(("interpreter", "at_once", "eager", "compiled"), _as_usual),
        "vmapped": _vmapped, "traced": _traced}


def line_of(key, wanted):
    """What a worker gives back: the findings, and the seconds they took."""
    warnings.simplefilter("ignore")
    start = time.monotonic()
    return shapes(key, wanted), time.monotonic() - start


def main():
    """Run the command line; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m compat_tests.ops.shapes", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="*", help="keys of records, or namespaces; default: all")
    parser.add_argument("--modes", type=lambda s: s.split(","), default=list(MOST))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--part", default="1/1", metavar="I/N", help="take every N-th record only")
    args = parser.parse_args()
    part, parts = map(int, args.part.split("/"))
    wanted = chosen(args.records)[part - 1::parts]
    counts = collections.Counter()

    def done(key, found, seconds):
        counts["comparisons"] += sum(found.ran.values())
        counts["failures"] += len(found.failed)
        counts["refusals"] += len(found.declined)
        sys.stderr.write(f"{key} ({seconds:.1f} s, {sum(found.ran.values())})\n")
        for word, reasons in (("wrong", found.failed), ("refused", found.declined)):
            for (mode, dtype), reason in reasons.items():
                sys.stdout.write(f"{word}: {key} {mode} {dtype}: {reason}\n")
        sys.stdout.flush()

    def died(key):
        counts["failures"] += 1
        sys.stdout.write(f"wrong: {key}: {workers.DIED}\n")

    workers.each(wanted, functools.partial(line_of, wanted=args.modes), done, args.jobs, died)
    sys.stdout.write(f"{len(wanted)} records: {dict(counts)}\n")
    return bool(counts["failures"])


if __name__ == "__main__":
    sys.exit(main())
