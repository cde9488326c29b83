"""Run by Python as it starts, in children of a process in which ``torch`` means jaxflow.

Nothing of jaxflow is imported before somebody imports torch. Another ``sitecustomize`` further down the path
is run as without this one.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class _Waiting:
    """Makes jaxflow torch at the first import of torch."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname.partition(".")[0] != "torch":
            return None
        sys.meta_path.remove(self)
        packages = os.environ["JAXFLOW_AS_TORCH"]
        if importlib.util.find_spec("jaxflow") is None:
            sys.path.append(packages)
        from jaxflow._as_torch.finder import spec_of
        from jaxflow._as_torch.install import install

        install()
        module = sys.modules.pop(fullname)
        return spec_of(fullname, module)


def _next():
    """Run the ``sitecustomize`` that this one hides."""
    rest = [p for p in sys.path if os.path.abspath(p or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("JAXFLOW_AS_TORCH"):
    sys.meta_path.insert(0, _Waiting())
_next()
