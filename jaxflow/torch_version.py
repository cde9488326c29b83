"""``TorchVersion``: a version as text that compares by its numbers, as ``torch.__version__`` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from .version import __version__ as _version

__all__ = ["TorchVersion"]

_PATTERN = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_number>\d*))?"
    r"(?P<post>-(?P<post_bare>\d+)|[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_STAGES = {"alpha": "a", "beta": "b", "preview": "rc", "pre": "rc", "c": "rc"}
_FIRST, _LAST = (-1,), (1,)  # before and after every (0, ...)


def _key(text: str) -> tuple | None:
    """What orders versions (PEP 440); None for text that is no version."""
    found = _PATTERN.fullmatch(text)
    if found is None:
        return None
    release = [int(x) for x in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    stage, post, dev = found["pre"], found["post"], found["dev"]
    if stage is not None:
        stage = _STAGES.get(stage.lower(), stage.lower())
        pre: tuple = (0, stage, int(found["pre_number"] or 0))
    else:
        pre = _FIRST if post is None and dev is not None else _LAST
    local = found["local"]
    parts = [] if local is None else re.split("[-_.]", local.lower())
    return (
        int(found["epoch"] or 0), tuple(release), pre,
        _FIRST if post is None else (0, int(found["post_bare"] or found["post_number"] or 0)),
        _LAST if dev is None else (0, int(found["dev_number"] or 0)),
        _FIRST if local is None else (0, *((1, int(x), "") if x.isdigit() else (0, 0, x) for x in parts)),
    )


def _comparison(name: str) -> Callable[[Any, Any], bool]:
    of_keys, of_text = getattr(tuple, name), getattr(str, name)

    def compare(self: TorchVersion, other: Any) -> bool:
        # A version of the library packaging is recognised by its attributes: it may not be installed.
        if isinstance(other, str) or hasattr(other, "release") and hasattr(other, "local"):
            text = str(other)
        elif isinstance(other, Iterable):
            text = ".".join(map(str, other))
        else:
            return of_text(self, other)
        mine, theirs = _key(self), _key(text)
        if mine is None or theirs is None:
            return of_text(self, other)
        return of_keys(mine, theirs)

    compare.__name__ = name
    return compare


class TorchVersion(str):
    """A version as text that compares with text, tuples and versions of ``packaging`` as versions do.

    Text that is no version compares as text. ``!=`` compares the text alone, as in PyTorch.

    Args:
        object: the text.

    Example:
        >>> version = torch.torch_version.TorchVersion("2.13.0+cpu")
        >>> version >= (2, 6), version >= "2.9", version < "3"
        (True, True, True)
        >>> version.startswith("2.13")
        True
    """

    __slots__ = ()

    __lt__ = _comparison("__lt__")
    __le__ = _comparison("__le__")
    __gt__ = _comparison("__gt__")
    __ge__ = _comparison("__ge__")
    __eq__ = _comparison("__eq__")
    __ne__ = str.__ne__
    __hash__ = str.__hash__


__version__ = TorchVersion(_version)
