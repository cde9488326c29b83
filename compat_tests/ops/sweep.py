"""Running the checks of a record."""

import itertools
import time
import warnings

from jaxflow._core import cache_pressure
from jaxflow._shapes import plan_cache, shape_families

from . import ledger
from .errors import check_errors
from .findings import Findings
from .forms import check_forms, check_inplace, check_out
from .records import SAMPLES, dtypes, resolve
from .values import check_executors, check_layouts, check_values
from .views import check_views

CHECKS = (check_values, check_layouts, check_executors, check_forms, check_inplace, check_out, check_views)
#: Checks of what hardly depends on the dtype.
OF_ANY_DTYPE = (check_layouts, check_executors)

#: After so many records what was traced and compiled is forgotten: compile looks through all living objects.
_FORGET_AFTER = 16
_swept = itertools.count(1)


def sweep(key, wanted=None, samples=SAMPLES, brief=False):
    """What a record's checks find, in its dtypes that are among ``wanted`` (default: all of them).

    ``brief`` leaves the checks of what hardly depends on the dtype to the first of them.
    """
    found = Findings()
    swept = [name for name in dtypes(key) if wanted is None or name in wanted]
    try:
        resolve(key)
    except AttributeError:
        found.missing = True
        return found
    for dtype in swept:
        for check in CHECKS:
            if brief and dtype != swept[0] and check in OF_ANY_DTYPE:
                continue
            try:
                check(found, key, dtype, samples)
            except Exception as error:  # of the check itself: a failure of its unit, seen in the ledger
                found.fail(check.__name__.removeprefix("check_"), dtype, "", error)
    check_errors(found, key)
    if next(_swept) % _FORGET_AFTER == 0:
        _forget()
    return found


def _forget():
    cache_pressure.forget()
    shape_families.forget()
    plan_cache.forget()


def line_of(key, wanted=None, samples=SAMPLES):
    """A record's line of the ledger and the seconds it took; what a worker process runs."""
    warnings.simplefilter("ignore")
    start = time.monotonic()
    return ledger.entry(key, sweep(key, wanted, samples)), time.monotonic() - start
