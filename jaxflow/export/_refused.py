"""Names of ``torch.export`` that need PyTorch's graphs, and say so."""

from __future__ import annotations

from typing import Any, NoReturn


def draft_export(mod: Any, args: tuple, kwargs: Any = None, *, dynamic_shapes: Any = None,
                 preserve_module_call_signature: tuple[str, ...] = (), strict: bool = False,
                 prefer_deferred_runtime_asserts_over_guards: bool = False) -> NoReturn:
    """Raises NotImplementedError: use `export`, whose errors say what cannot be exported."""
    raise NotImplementedError("torch.export.draft_export() is not supported: use torch.export.export()")


def unflatten(module: Any, flat_args_adapter: Any = None) -> NoReturn:
    """Raises NotImplementedError: a program does not keep calls of the modules inside apart."""
    raise NotImplementedError("torch.export.unflatten() is not supported: a program of StableHLO does not "
                              "keep the calls of the modules inside apart. program.module() runs it")


def register_dataclass(cls: type, *, serialized_type_name: str | None = None) -> NoReturn:
    """Raises NotImplementedError: programs take and return tuples, lists and dicts."""
    raise NotImplementedError("torch.export.register_dataclass() is not supported: exported programs take "
                              "and return tensors, plain values, tuples, named tuples, lists and dicts")
