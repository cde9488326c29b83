"""A module with a graph as a package: its code, and files with its parameters and submodules."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Any

from jaxflow.serialization import save

_MODULE = """import pathlib
{imports}
{wraps}


def {code}


class {name}(torch.nn.Module):
    forward = forward

    def __init__(self):
        super().__init__()
        folder = pathlib.Path(__file__).parent
{attributes}
"""


def write_package(module: Any, imports: str, folder: Path, name: str) -> None:
    """Write the package.

    Args:
        module: the module.
        imports: the lines that its code needs before it.
        folder: where, made if it is not there.
        name: the name of the class.
    """
    folder.mkdir(exist_ok=True)
    save(module.state_dict(), folder / "state_dict.pt")
    lines = []
    files = dict(module.named_children())
    files.update({k: module.__dict__[k] for k in ("_in_spec", "_out_spec") if k in module.__dict__})
    for key, value in files.items():
        save(value, folder / f"{key}.pt")
        lines.append(f"self.{key} = torch.load(folder / '{key}.pt', weights_only=False)")
    for make, table in (("self.register_buffer('{}', torch.empty({}, dtype={}))", module._buffers),
                        ("self.{} = torch.nn.Parameter(torch.empty({}, dtype={}))", module._parameters)):
        lines += [make.format(key, list(value.shape), value.dtype) for key, value in table.items()
                  if value is not None]
    lines.append("self.load_state_dict(torch.load(folder / 'state_dict.pt'))")
    wraps, _, code = module.code.partition("\ndef ")
    text = _MODULE.format(imports=_as_jaxflows(imports), wraps=wraps.strip(), name=name,
                          attributes=indent("\n".join(lines), " " * 8), code=code.rstrip())
    (folder / "module.py").write_text(text, encoding="utf-8")
    (folder / "__init__.py").write_text("from .module import *\n", encoding="utf-8")


def _as_jaxflows(block: str) -> str:
    """Lines that import from ``torch``, as ones that import the same from jaxflow."""
    block = re.sub(r"(?m)^import torch$", "import jaxflow as torch", block)
    return re.sub(r"(?m)^(import|from) torch\b", r"\1 jaxflow", block)
