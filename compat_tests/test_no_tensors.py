"""Every public function of tensors, given what is no tensor: it refuses it as PyTorch does, by TypeError."""

import types
import warnings

import pytest
import torch

import jaxflow

SPACES = ("", "nn.functional", "linalg", "fft", "special")

#: Arguments by the name of a case; a call makes its own.
CALLS = {
    "a number": lambda T: (5,), "numbers": lambda T: (5, 5), "a string": lambda T: ("a",),
    "None": lambda T: (None,), "a tensor and None": lambda T: (T.ones(2), None),
}

#: What changes the process, writes files, or asks for nothing that could be refused.
NOT_CALLED = frozenset(
    "set_default_device set_num_threads set_num_interop_threads manual_seed seed compile load save "
    "set_flush_denormal set_default_dtype set_default_tensor_type use_deterministic_algorithms "
    "set_deterministic_debug_mode initial_seed eye from_file init_num_threads".split())

#: Functions that answer, or refuse with another error, where PyTorch raises TypeError, by the case.
OTHERWISE: dict[str, frozenset] = {
    # Nothing casts by itself yet.
    "is_autocast_enabled": frozenset(("a number", "None")),
    # Two arguments are wrong, or one and its shape too; the other is named first.
    "empty_permuted": frozenset(("numbers",)), "multi_dot": frozenset(("a string",)),
    **{name: frozenset(("a tensor and None",)) for name in (
        "avg_pool1d histogramdd max_pool1d max_pool1d_with_indices nuclear_norm one_hot eigh eigvalsh "
        "matrix_rank pinv qr repeat_interleave".split())},
    # A None that is written out stands for the default here, and a lone number for a list.
    **{name: frozenset(("a tensor and None",)) for name in (
        "bernoulli cumulative_trapezoid squeeze squeeze_copy trapezoid trapz where".split())},
    "empty_strided": frozenset(("numbers",)),
}


def _space(T, space):
    for part in filter(None, space.split(".")):
        T = getattr(T, part)
    return T


def _outcome(T, space, name, case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(_space(T, space), name)(*CALLS[case](T))
        except Exception as error:
            return type(error)
    return None


def _names(space):
    ours, theirs = _space(jaxflow, space), _space(torch, space)
    for name in sorted(set(dir(ours)) & set(dir(theirs)) - NOT_CALLED):
        both = getattr(ours, name), getattr(theirs, name)
        if not name.startswith(("_", "set_")) and all(
                callable(f) and not isinstance(f, (type, types.ModuleType)) for f in both):
            yield name


@pytest.mark.parametrize("case", CALLS)
@pytest.mark.parametrize("space", SPACES)
def test_what_is_no_tensor_is_refused_by_type(space, case):
    wrong = {}
    for name in _names(space):
        if case not in OTHERWISE.get(name, ()) and _outcome(torch, space, name, case) is TypeError:
            found = _outcome(jaxflow, space, name, case)
            if found is not TypeError:
                wrong[name] = found
    assert not wrong
