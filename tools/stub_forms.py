"""Forms of the functions that are told apart in their bodies, for the stubs: one line for each form.

``T`` stands for a tensor, ``O`` for an optional one, ``P`` for an optional pair of them, ``D`` for
dimensions, ``W`` for a device; names in braces for what several forms share. The first parameter is
``self`` in methods, which take no ``out``.
"""

import re

FORMS = {
    "max min": """
        (input: T, *, out: O = None) -> T
        (input: T, other: T, *, out: O = None) -> T
        (input: T, dim: _int, keepdim: _bool = False, *, out: P = None) -> {result}
    """,
    "quantize_per_tensor": """
        (input: T, scale: _float | T, zero_point: _int | T, dtype: _Any) -> T
        (tensors: _Sequence[T], scales: T, zero_points: T, dtype: _Any) -> _tuple[T, ...]
    """,
    "median nanmedian": """
        (input: T, *, out: O = None) -> T
        (input: T, dim: _int, keepdim: _bool = False, *, out: P = None) -> {result}
    """,
    "var std": """
        (input: T, unbiased: _bool) -> T
        (input: T, dim: D, unbiased: _bool, keepdim: _bool = False, *, out: O = None) -> T
        (input: T, dim: D = None, *, correction: _Any = None, keepdim: _bool = False, out: O = None) -> T
    """,
    "var_mean std_mean": """
        (input: T, unbiased: _bool) -> _tuple[T, T]
        (input: T, dim: D = None, *, correction: _Any = None, keepdim: _bool = False) -> _tuple[T, T]
    """,
    "sort": """
        (input: T, dim: _int = -1, descending: _bool = False, *, out: P = None) -> {result}
        (input: T, *, stable: _bool, dim: _int = -1, descending: _bool = False, out: P = None) -> {result}
    """,
    "softmax log_softmax": """
        (input: T, dim: _int, dtype: _dtype | None = None, *, out: O = None) -> T
    """,
    "size": """
        (self, dim: None = None) -> _Size
        (self, dim: _int) -> _int
    """,
    "stride": """
        (self, dim: None = None) -> _tuple[_int, ...]
        (self, dim: _int) -> _int
    """,
    "item": "(self) -> _int | _float | _complex | _bool",
    "tolist": "(self) -> _Any",
    "to": """
        (self, dtype: _dtype, {moved}) -> T
        (self, device: W = None, dtype: _dtype | None = None, {moved}) -> T
        (self, other: T, {moved}) -> T
    """,
    "view": """
        (self, dtype: _dtype) -> T
        (self, size: _Sequence[_int]) -> T
        (self, *size: _int) -> T
    """,
    "reshape": """
        (input: T, shape: _Sequence[_int]) -> T
        (input: T, *shape: _int) -> T
    """,
    "permute": """
        (input: T, dims: _Sequence[_int]) -> T
        (input: T, *dims: _int) -> T
    """,
    "scatter": """
        (input: T, dim: _int, index: T, src: T, *, reduce: _str | None = None, out: O = None) -> T
        (input: T, dim: _int, index: T, value: _Number, *, reduce: _str | None = None, out: O = None) -> T
    """,
    "scatter_": """
        (self, dim: _int, index: T, src: T, *, reduce: _str | None = None) -> T
        (self, dim: _int, index: T, value: _Number, *, reduce: _str | None = None) -> T
    """,
    "zeros ones empty": """
        (*size: _int, out: O = None, {made}) -> T
        (size: _Sequence[_int], *, out: O = None, {made}) -> T
    """,
    "rand randn": """
        (*size: _int, {drawn}, out: O = None, {made}) -> T
        (size: _Sequence[_int], *, {drawn}, out: O = None, {made}) -> T
    """,
    "randint": """
        (high: _int, size: _Sequence[_int], *, {drawn}, out: O = None, {made}) -> T
        (low: _int, high: _int, size: _Sequence[_int], *, {drawn}, out: O = None, {made}) -> T
    """,
    "new_zeros new_ones new_empty": """
        (self, *size: _int, {made}) -> T
        (self, size: _Sequence[_int], *, {made}) -> T
    """,
}

_SHORT = {"T": "Tensor", "O": "Tensor | None", "P": "_tuple[Tensor, Tensor] | None",
          "D": "_int | _Sequence[_int] | None", "W": "_device | _str | _int | None"}
_SHARED = {
    "made": "dtype: _dtype | None = None, layout: _Any = None, device: W = None, "
            "requires_grad: _bool = False, pin_memory: _bool = False",
    "drawn": "generator: _Generator | None = None",
    "moved": "non_blocking: _bool = False, copy: _bool = False, *, memory_format: _Any = None",
}


def forms_of(name: str, method: bool) -> list[str]:
    """The forms of a function or method as the stubs write them; none where its signature says it all."""
    lines = next((text for names, text in FORMS.items() if name in names.split()), "")
    shown = []
    for line in filter(None, map(str.strip, lines.split("\n"))):
        line = line.format(result=f"_{name}_result", **_SHARED)
        if method:
            line = line.replace("(input: T", "(self")
            line = re.sub(r"(, \*)?, out: [OP] = None\)", ")", line)
        elif "(self" in line:
            return []  # a method only
        shown.append(re.sub(r"\b[TOPDW]\b", lambda m: _SHORT[m[0]], line))
    return shown
