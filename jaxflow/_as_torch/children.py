"""Child processes of the same Python: there too ``torch`` means jaxflow.

They are given a folder on ``PYTHONPATH`` whose ``sitecustomize`` waits for an import of torch.
"""

from __future__ import annotations

import os

_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
_PACKAGES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def let_children_have_it() -> None:
    """Set the environment that processes started from now on are given."""
    os.environ["JAXFLOW_AS_TORCH"] = _PACKAGES
    before = os.environ.get("PYTHONPATH", "")
    if _SITE not in before.split(os.pathsep):
        os.environ["PYTHONPATH"] = _SITE + (os.pathsep + before if before else "")
