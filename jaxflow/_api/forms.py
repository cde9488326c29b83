"""What composites share: their ``out=`` form, and the error for arguments that fit no overload."""

from __future__ import annotations

from typing import Any

from jaxflow._dispatch.publish import write_out


def given_out(name: str, out: Any, result: Any) -> Any:
    """``result``, written into ``out`` if there is one."""
    return result if out is None else write_out(name, out, result, ())


def invalid_combination(name: str, args: tuple, kwargs: dict) -> TypeError:
    """PyTorch's error for arguments that fit no overload (its first line)."""
    got = [type(a).__name__ for a in args]
    got += [f"{key}={type(value).__name__}" for key, value in kwargs.items()]
    return TypeError(
        f"{name}() received an invalid combination of arguments - got ({', '.join(got)}), but "
        "expected one of the forms its documentation lists"
    )
