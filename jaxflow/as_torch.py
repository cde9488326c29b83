"""``import jaxflow.as_torch``: from then on ``import torch`` means jaxflow, in this process and its children.

It has to come before anything imports torch. ``python -m jaxflow script.py`` does the same for a script that
is not changed.

Raises:
    ImportError: where PyTorch itself is imported already.
"""

from ._as_torch.install import install as _install

_install()
