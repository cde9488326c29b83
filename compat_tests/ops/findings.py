"""What a sweep found out about a record: which units ran, and which failed why."""

import contextlib
import re
import warnings


class Findings:
    """The units of one record that ran and those that failed.

    Attributes:
        ran: ``(check, dtype)`` to the number of comparisons.
        failed: ``(check, dtype)`` to the first reason.
        refused: how many of the record's error cases were refused as torch refuses them.
        errors: how many error cases there are.
        missing: whether jaxflow has no such function at all.
    """

    def __init__(self):
        self.ran, self.failed = {}, {}
        self.refused = self.errors = 0
        self.missing = False

    @contextlib.contextmanager
    def asking(self, check, dtype, where):
        """A comparison of a unit: whatever it raises is the unit's failure, and the sweep goes on."""
        unit = check, dtype
        try:
            yield
        except Exception as error:
            self.fail(check, dtype, where, error)
        self.ran[unit] = self.ran.get(unit, 0) + 1

    def fail(self, check, dtype, where, error):
        """Note a unit's failure; the first reason stands."""
        text = _short(error)
        self.failed.setdefault((check, dtype), text if text.startswith(where) else f"{where}: {text}")


def _short(error):
    """The first words of an error, the same at every run and on every machine."""
    text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    text = re.sub(r"0x[0-9a-f]+", "0x...", " ".join(text.split()))
    text = re.sub(r"\"/[^\"]*/", '"', text)
    return text[:240]


def quiet(fn, *args, **kwargs):
    """``fn``'s result, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fn(*args, **kwargs)


def outcome(fn, *args, **kwargs):
    """``(result, None)``, or ``(None, (error class, first line))``."""
    try:
        return quiet(fn, *args, **kwargs), None
    except Exception as error:
        return None, (type(error).__name__, str(error).partition("\n")[0])


def warned(fn, *args, **kwargs):
    """``outcome`` and the warnings: their classes and first lines."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, error = fn(*args, **kwargs), None
        except Exception as e:
            result, error = None, (type(e).__name__, str(e).partition("\n")[0])
    return result, error, [(w.category.__name__, _words(w.message)) for w in caught]


def _words(message):
    """A warning's first line, without where in torch it came from."""
    return str(message).partition("\n")[0].partition(" (Triggered internally")[0].strip()
