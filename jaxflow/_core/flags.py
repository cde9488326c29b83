"""Every environment variable jaxflow reads, declared once.

=======================  ==========================  =====================================================
variable                 default                     meaning
=======================  ==========================  =====================================================
JAXFLOW_EXECUTION        deferred                    ``deferred`` or ``eager``; see ``jaxflow.execution``
JAXFLOW_MAX_OPS          1000                        a Program is closed when it has recorded so many ops
JAXFLOW_INTERPRET        1                           0: a Program is compiled when it first runs
JAXFLOW_CACHE            1                           0: no on-disk cache of compiled programs
JAXFLOW_CACHE_DIR        the user's cache folder     where that cache lives
JAXFLOW_CACHE_MB         4096                        how large it may get
JAXFLOW_KEEP_MB          512                         megabytes (estimated) of plans and programs kept, with 32
                                                     plans for each; NOTE [What is kept]
JAXFLOW_KEEP_PAGES       1                           0: freed CPU memory goes back to the system at once
JAXFLOW_ASYNC            0                           1: CPU programs run beside Python; NOTE [An arena for
                                                     each thread]
JAXFLOW_CHECK_MEMORY     1                           0: programs run without looking whether they fit
JAXFLOW_EXPLAIN          0                           1: print ``jaxflow.explain()`` when the process ends
JAXFLOW_DEBUG            0                           1: errors while running name the source lines of ops
JAXFLOW_AS_TORCH         unset                       the folder of jaxflow, where a process is to import it as
                                                     torch; ``python -m jaxflow`` sets it for others
=======================  ==========================  =====================================================
"""

from __future__ import annotations

import os
import pathlib

EXECUTORS = ("deferred", "eager")


def _flag(name: str) -> bool:
    return os.environ.get(name, "0") not in ("", "0")


def default_executor() -> str:
    """The executor a thread starts with. Raises ValueError for an unknown name."""
    chosen = os.environ.get("JAXFLOW_EXECUTION", EXECUTORS[0])
    if chosen not in EXECUTORS:
        raise ValueError(f"JAXFLOW_EXECUTION must be one of {EXECUTORS}, not {chosen!r}")
    return chosen


MAX_OPS = int(os.environ.get("JAXFLOW_MAX_OPS", "1000"))
INTERPRET = os.environ.get("JAXFLOW_INTERPRET", "1") != "0"
KEEP_MB = int(os.environ.get("JAXFLOW_KEEP_MB", "512"))
KEEP_PAGES = os.environ.get("JAXFLOW_KEEP_PAGES", "1") != "0"
ASYNC = _flag("JAXFLOW_ASYNC")
CHECK_MEMORY = os.environ.get("JAXFLOW_CHECK_MEMORY", "1") != "0"
EXPLAIN_AT_EXIT = _flag("JAXFLOW_EXPLAIN")
DEBUG = _flag("JAXFLOW_DEBUG")


def cache_dir(otherwise: str | None = None) -> str | None:
    """Folder of the persistent compilation cache: chosen for jaxflow, else `otherwise`, else the usual one.

    None when it is switched off, or where the user has no home.
    """
    if os.environ.get("JAXFLOW_CACHE", "1") == "0":
        return None
    chosen = os.environ.get("JAXFLOW_CACHE_DIR") or otherwise
    if chosen:
        return chosen
    try:
        root = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    except RuntimeError:
        return None
    return str(pathlib.Path(root) / "jaxflow" / "xla")


def cache_mb() -> int | None:
    """How many megabytes that cache may hold, where that is set."""
    chosen = os.environ.get("JAXFLOW_CACHE_MB")
    return int(chosen) if chosen else None
