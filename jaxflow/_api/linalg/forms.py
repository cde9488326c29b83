"""What functions that return LAPACK's verdicts share: the check of these, named results and ``out=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaxflow._api.forms import given_out
from jaxflow._core.linalg_error import _LinAlgError
from jaxflow._plans.op import EXACT

from .faults import checked


def with_info(name: str, words: str, kind: Callable, results: tuple, check_errors: bool, out: Any,
              error: Callable[[str], Exception] = _LinAlgError) -> Any:
    """What the function ``name``, which ends in ``_ex``, returns: named results, the last of them ``info``.

    Args:
        name: as errors have it.
        words: of the error that ``check_errors`` switches on; see `checked`.
        kind: makes the named tuple.
        results: of the operation, ``info`` last.
        check_errors: whether an ``info`` that is not 0 is an error.
        out: where to put the results, or None.
        error: the class of the error.
    """
    if check_errors:
        checked(name, words, results[-1], results, error)
    return given_out(name.removeprefix("torch.").replace(".", "_"), out, kind(results), rule=EXACT)
