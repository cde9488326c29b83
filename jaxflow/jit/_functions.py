"""Functions that were scripted or traced."""

from __future__ import annotations

import functools
import io
import pickle
from collections.abc import Callable
from typing import Any, NoReturn

from . import _saving
from ._refused import NoGraph
from ._tracing import as_trace


class ScriptFunction:
    """A function that `script` or `trace` was given; calling it runs that function.

    It is no method when it is an attribute of a class, like PyTorch's.
    """

    graph, code, inlined_graph = NoGraph("graph"), NoGraph("code"), NoGraph("inlined_graph")
    graph_for = NoGraph("graph_for")

    def __init__(self, function: Callable, examples: tuple[tuple, dict] | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = function
        self._examples = examples
        self._forms: list = []
        self.name = getattr(function, "__name__", type(function).__name__)

    @property
    def qualified_name(self) -> str:
        """``"__torch__."`` and the function's name."""
        return f"__torch__.{self.name}"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._examples is not None:
            return as_trace(self._function, *args, **kwargs)
        if not self._forms:
            _saving.note(self._forms, args, kwargs)
        return self._function(*args, **kwargs)

    def save(self, filename: Any, _extra_files: dict | None = None) -> None:
        """Write an archive; see `jaxflow.jit.save`."""
        _saving.save_function(self, filename, _extra_files)

    def save_to_buffer(self, _extra_files: dict | None = None) -> bytes:
        """The bytes of an archive."""
        file = io.BytesIO()
        self.save(file, _extra_files)
        return file.getvalue()

    def __deepcopy__(self, memo: dict) -> ScriptFunction:
        return self  # as of any function

    def __reduce__(self) -> NoReturn:
        raise pickle.PickleError("ScriptFunction cannot be pickled")
