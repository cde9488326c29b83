"""Names: PyTorch's name of what a node calls, and fresh names of variables of generated code.

A function of jaxflow is printed as PyTorch prints its own: ``torch.nn.functional.relu``, but
``torch._C._nn.gelu`` for what PyTorch has in C++ there. Every such name also leads to the function here.
"""

from __future__ import annotations

import builtins
import keyword
import math
import operator
import re
import sys
import types
from typing import Any

from jaxflow._core import device as devices
from jaxflow._core.inner import module_of

PACKAGE = __package__.partition(".")[0]

#: Functions of ``nn.functional`` that PyTorch has in C++, and in which module.
_FUNCTIONAL_IN_C = dict.fromkeys(
    "avg_pool2d avg_pool3d hardtanh_ elu_ leaky_relu_ gelu softplus softshrink linear one_hot "
    "scaled_dot_product_attention logsigmoid".split(), "torch._C._nn.") | dict.fromkeys(
    "threshold_ relu_ selu_ celu_ bilinear adaptive_avg_pool1d avg_pool1d conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc prelu rrelu_ hardshrink pixel_shuffle "
    "pixel_unshuffle channel_shuffle native_channel_shuffle pairwise_distance "
    "pdist cosine_similarity".split(), "torch.")
_RENAMED = {"torch._C._nn.logsigmoid": "torch._C._nn.log_sigmoid",
            "torch.nn.functional.threshold": "torch.nn.functional._threshold"}
#: Functions of ``torch`` that PyTorch has in ``torch.functional``, written in Python.
_IN_FUNCTIONAL = frozenset(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist chain_matmul einsum "
    "meshgrid norm split stft tensordot unique unique_consecutive broadcast_shapes lu".split())
#: Namespaces whose functions PyTorch has in C++, with the namespace before their names.
_IN_C = ("linalg", "fft", "special")


def written_in_python(name: str) -> bool:
    """Whether PyTorch has the function of that `qualified_name` in Python, which passes defaults on."""
    return name.startswith(("torch.nn.functional.", "torch.functional."))


def find(name: str) -> Any:
    """What ``torch.a.b`` leads to in jaxflow; None where it leads nowhere."""
    first, *rest = name.split(".")
    found: Any = sys.modules.get(PACKAGE) if first == "torch" else None
    for i, part in enumerate(rest):
        inner = found
        found = getattr(inner, part, None)
        if found is None and isinstance(inner, types.ModuleType):
            found = sys.modules.get(".".join((PACKAGE, *rest[: i + 1])))
        if found is None:
            return None
    return found


def leads_to(name: str, func: Any) -> bool:
    """Whether a name leads to a function, or to the other one that PyTorch has for both."""
    found = find(name)
    return found is func or (found is not None and qualified_name(found) == name)


def _is_ours(module: str | None) -> bool:
    return module is not None and module.partition(".")[0] == PACKAGE


def is_from_torch(obj: Any) -> bool:
    """Whether it is jaxflow's, and printed by PyTorch's name."""
    where = getattr(obj, "__module__", None)
    if isinstance(where, str):
        return _is_ours(module_of(obj) if callable(obj) else where) or where.partition(".")[0] == "torch"
    return False


def qualified_name(func: Any) -> str:
    """The full name of a function or class, PyTorch's where it is jaxflow's: ``operator.add``,
    ``torch.relu``.

    Raises:
        RuntimeError: for what has no name.
    """
    name = getattr(func, "__name__", None)
    overload = getattr(func, "overloadpacket", None)
    packet = func if overload is None else overload
    namespace = getattr(packet, "namespace", None)
    if isinstance(namespace, str) and isinstance(name, str):  # an operation of torch.ops
        return f"torch.ops.{namespace}.{name}"
    if not isinstance(name, str):
        raise RuntimeError(f"cannot name {func!r}: it has no __name__")
    if getattr(builtins, name, None) is func:
        return name
    if name == "<lambda>":
        name = getattr(func, "__qualname__", name)
    module = module_of(func) if isinstance(getattr(func, "__module__", None), str) else None
    if _is_ours(module):
        return _pytorchs(func, module, name)
    if module is None:
        for known in (operator, math):
            if getattr(known, name, None) is func:
                return f"{known.__name__}.{name}"
        raise RuntimeError(f"cannot find the module of {func!r}")
    return f"{module}.{name}"


def _pytorchs(func: Any, module: str, name: str) -> str:
    qualified = getattr(func, "__qualname__", name)
    if qualified.startswith("Tensor."):
        return f"torch.Tensor.{name}"
    parts = module.split(".")[1:]
    public = [p for i, p in enumerate(parts) if not any(q.startswith("_") for q in parts[: i + 1])]
    places = [".".join(public[:i]) for i in range(len(public), 0, -1)]
    places += ["", "nn.functional", *_IN_C, "functional"]
    candidates = [f"torch.{place}.{name}".replace("..", ".") for place in places]
    found = next((c for c in candidates if find(c) is func), None) or _under_another_name(
        func, places) or ".".join(("torch", *parts, name))
    name = found.rpartition(".")[2]
    if found.startswith("torch.nn.functional."):
        last = found.rpartition(".")[2]
        found = _FUNCTIONAL_IN_C.get(last, "torch.nn.functional.") + last
        return _RENAMED.get(found, found)
    if found == f"torch.{name}" and name in _IN_FUNCTIONAL:
        return f"torch.functional.{name}"
    for namespace in _IN_C:
        if found == f"torch.{namespace}.{name}":
            in_c = f"torch._C._{namespace}.{namespace}_{name}"
            return in_c if find(in_c) is func else found
    return found


def _under_another_name(func: Any, places: list[str]) -> str | None:
    found = []
    for place in places:
        where = f"torch.{place}".rstrip(".")
        space = find(where)
        keys = vars(space).items() if isinstance(space, types.ModuleType) else ()
        found += [f"{where}.{key}" for key, value in keys if value is func]
    return min(found, key=lambda name: "._" in name, default=None)


def module_and_name(func: Any) -> str:
    """`qualified_name`, with ``builtins`` and ``operator`` written out, as nodes are printed."""
    name = qualified_name(func)
    if "." not in name:
        return f"builtins.{name}"
    return name.replace("_operator.", "operator.", 1) if name.startswith("_operator.") else name


# -------------------------------------------------------------------------------- names of variables

#: What generated code may use without importing it: its name, what it is, and the line that imports it.
CUSTOM: dict[str, tuple[str, Any]] = {
    "inf": ("from math import inf", math.inf),
    "nan": ("from math import nan", math.nan),
    "NoneType": ("NoneType = type(None)", type(None)),
    "torch": ("import torch", None),
    "device": ("from torch import device", devices.device),
    "fx_pytree": ("import torch.fx._pytree as fx_pytree", None),
    "pytree": ("import torch.utils._pytree as pytree", None),
}


def custom_globals() -> dict[str, Any]:
    """The objects behind `CUSTOM`, by name."""
    modules = {"torch": PACKAGE, "fx_pytree": f"{PACKAGE}.fx._pytree", "pytree": f"{PACKAGE}.utils._pytree"}
    return {name: sys.modules[modules[name]] if name in modules else obj
            for name, (_, obj) in CUSTOM.items()}


def snake_case(name: str) -> str:
    """``BatchNorm2d`` as ``batch_norm2d``."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def identifier(text: str) -> str:
    """A text as a name: what cannot stand in one is an underscore."""
    name = re.sub(r"[^0-9a-zA-Z_]+", "_", text) or "_unnamed"
    return f"_{name}" if name[0].isdigit() else name


class Namespace:
    """Names in use, and fresh ones: ``add``, ``add_1``, ``add_2``."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A name like ``candidate`` that no other object has; the same one again for the same object."""
        if obj is not None and obj in self._names:
            return self._names[obj]
        candidate = identifier(candidate)
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, None)
        if number is None:
            number = self._counts.get(base, 0)
        while candidate in self._used or self._reserved(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._counts[base] = number
        if obj is not None:
            self._names[obj] = candidate
        return candidate

    def associate(self, name: str, obj: Any) -> None:
        """Let an object have a name that was made."""
        self._names[obj] = name

    def _reserved(self, name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if hasattr(builtins, name):
            return getattr(builtins, name) is not obj
        if name in CUSTOM:
            return obj is None or custom_globals()[name] is not obj
        return False
