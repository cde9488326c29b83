"""Imports of ``torch`` and of all below it, which give jaxflow's modules: the same module objects."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

from .names import give_names, is_pytorchs


class AliasLoader(importlib.abc.Loader):
    """Gives a module that there is already, under another name."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: Any) -> ModuleType:
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec  # importing has set that of the alias
        give_names()

    def get_code(self, fullname: str) -> CodeType | None:
        """The module's code, which ``-m`` runs."""
        return self.spec.loader.get_code(self.spec.name)


class TorchFinder(importlib.abc.MetaPathFinder):
    """Finds ``torch.x`` where jaxflow has ``x``."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None,
                  target: ModuleType | None = None) -> importlib.machinery.ModuleSpec | None:
        root, _, rest = fullname.partition(".")
        if root != "torch":
            return None
        if not is_pytorchs(rest.partition(".")[0]):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        own = f"jaxflow.{rest}".rstrip(".")
        module = sys.modules.get(own)
        if module is None:
            try:
                module = importlib.import_module(own)
            except ModuleNotFoundError as error:
                if error.name is not None and f"{own}.".startswith(f"{error.name}."):
                    return None
                raise
        return spec_of(fullname, module)


def spec_of(name: str, module: ModuleType) -> importlib.machinery.ModuleSpec:
    """The spec by which importing ``name`` gives ``module``."""
    return importlib.machinery.ModuleSpec(
        name, AliasLoader(module), origin=getattr(module, "__file__", None),
        is_package=hasattr(module, "__path__"))
