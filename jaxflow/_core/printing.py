"""The text of a tensor, character for character what PyTorch prints."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from jaxflow._core import dtype as dtypes
from jaxflow._core.device import CPU

Number = int | float


@dataclasses.dataclass(slots=True)
class Options:
    """What `set_printoptions` sets; ``sci_mode`` None leaves the choice to the values."""

    precision: int = 4
    threshold: Number = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": Options(),
    "short": Options(precision=2, edgeitems=2),
    "full": Options(threshold=math.inf),
}

OPTIONS = Options()


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """Set how tensors print; what is None stays, except ``sci_mode``, which it makes automatic.

    Args:
        precision: how many digits come after the point; at first 4.
        threshold: a tensor of more elements is shown in part; at first 1000.
        edgeitems: how many elements are shown then at either end of a dimension; at first 3.
        linewidth: how many characters a line has; at first 80.
        profile: ``"default"``, ``"short"`` or ``"full"``; it gives way to the other arguments.
        sci_mode: whether numbers print with an exponent; None lets the values decide.

    Returns:
        None.

    Example:
        >>> torch.set_printoptions(precision=2, threshold=4, edgeitems=1)
        >>> torch.tensor([0.5, 1.0]), torch.arange(6)
        (tensor([0.50, 1.00]), tensor([0,  ..., 5]))
        >>> torch.set_printoptions(profile="default")
        >>> torch.tensor([0.5, 1.0])
        tensor([0.5000, 1.0000])
    """
    if profile in _PROFILES:
        chosen = _PROFILES[profile]
        OPTIONS.precision, OPTIONS.threshold = chosen.precision, chosen.threshold
        OPTIONS.edgeitems, OPTIONS.linewidth = chosen.edgeitems, chosen.linewidth
    if precision is not None:
        OPTIONS.precision = precision
    if threshold is not None:
        OPTIONS.threshold = threshold
    if edgeitems is not None:
        OPTIONS.edgeitems = edgeitems
    if linewidth is not None:
        OPTIONS.linewidth = linewidth
    OPTIONS.sci_mode = sci_mode


def tensor_repr(
    array,
    dtype,
    *,
    shape=None,
    device=CPU,
    requires_grad=False,
    grad_fn_name=None,
    tangent=None,
    type_name="tensor",
    contents=None,
    dtype_text=None,
):
    """Return the repr of a tensor whose values are ``array``, a NumPy or jax array.

    ``array`` is None, and ``shape`` given, for a tensor without data (device "meta"). Of a jax
    array only the elements that are shown come to the host. ``grad_fn_name`` and ``tangent`` are
    texts; ``type_name`` is the name of the class where that is not Tensor itself. ``contents``
    replaces the text of the values, and ``dtype_text`` is what to say of the dtype, obvious or not.
    """
    shape = tuple(array.shape if shape is None else shape)
    prefix = type_name + "("
    if contents is None:
        contents = "..." if array is None else contents_text(array, len(prefix))
    notes = []
    if device.type != "cpu":
        notes.append(f"device='{device}'")
    notes += _shape_and_type(array is not None, shape, dtype, dtype_text)
    if grad_fn_name is not None:
        notes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        notes.append("requires_grad=True")
    if tangent is not None:
        notes.append(f"tangent={tangent}")
    return with_notes(prefix + contents, notes, len(prefix))


def _shape_and_type(has_data, shape, dtype, dtype_text):
    """Say the shape and the dtype where the contents cannot be read back to them."""
    default = dtypes.get_default_dtype()
    if not has_data or 0 in shape:
        if not has_data or len(shape) != 1:
            yield f"size={shape}"
        obvious = (default,)
    else:
        if not OPTIONS.edgeitems:
            yield f"size={shape}"
        double = default is dtypes.float64
        obvious = (
            default,
            dtypes.complex128 if double else dtypes.complex64,
            dtypes.int64,
            dtypes.bool,
        )
    if dtype_text is not None:
        yield dtype_text
    elif dtype not in obvious:
        yield f"dtype={dtype}"


def with_notes(text, notes, indent, newline=False):
    """Append the notes, each on the current line if it fits or else on one of its own.

    With ``newline`` the first one begins a line.
    """
    column = len(text) - text.rfind("\n") + 1
    parts = [text]
    for note in notes:
        if newline or column + len(note) + 2 > OPTIONS.linewidth:
            newline = False
            parts.append(",\n" + " " * indent + note)
            column = indent + len(note)
        else:
            parts.append(", " + note)
            column += len(note) + 2
    return "".join(parts) + ")"


def contents_text(array, indent):
    """Return the nested brackets of a tensor with elements, its first column at ``indent``."""
    if 0 in array.shape:
        return "[]"
    edge = OPTIONS.edgeitems
    size = math.prod(array.shape)
    cut = [size > OPTIONS.threshold and length > 2 * edge for length in array.shape]
    if any(cut):
        if not edge:
            return "[...]"
        shown = [
            np.r_[:edge, length - edge : length] if is_cut else np.arange(length)
            for length, is_cut in zip(array.shape, cut)
        ]
        array = array[np.ix_(*shown)]
    texts, width = _texts(np.asarray(array))
    # Two more for the comma and the space between elements.
    return _nest(iter(texts), array.shape, cut, indent, width + 2)


def _nest(texts, shape, cut, indent, width):
    if not shape:
        return next(texts)
    if len(shape) == 1:
        return _row(list(itertools.islice(texts, shape[0])), cut[0], indent, width)
    rows = [_nest(texts, shape[1:], cut[1:], indent + 1, width) for _ in range(shape[0])]
    if cut[0]:
        rows.insert(OPTIONS.edgeitems, "...")
    return "[" + ("," + "\n" * (len(shape) - 1) + " " * (indent + 1)).join(rows) + "]"


def _row(items, is_cut, indent, width):
    if is_cut:
        items.insert(OPTIONS.edgeitems, " ...")
    per_line = max(1, math.floor((OPTIONS.linewidth - indent) / width))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _texts(array):
    """Return the texts of an array's elements in order, and the width they are counted with."""
    if array.dtype.kind == "c":
        real, real_width = _texts(array.real)
        imag, imag_width = _texts(array.imag)
        return list(map(_join_complex, real, imag)), real_width + imag_width + 1
    if array.dtype.kind in "biu":
        plain = [str(value) for value in array.ravel().tolist()]
        width = max(map(len, plain))
    else:
        # Every floating type goes through double, which holds its values exactly.
        values = array.astype(np.float64).ravel()
        finite = np.isfinite(values)
        if array.dtype == dtypes.float8_e8m0fnu.np:
            # PyTorch takes the nan of this type for a finite number that is no integer.
            finite |= np.isnan(values)
        plain, width = _float_texts(values, values[finite & (values != 0)])
    return [text.rjust(width) for text in plain], width


def _join_complex(real, imag):
    imag = imag.lstrip() + "j"
    return real + imag if imag[0] in "+-" else real + "+" + imag


def _float_texts(values, counted):
    """Return the unpadded texts of doubles and their common width.

    The finite, non-zero values ``counted`` alone choose the notation and the width, so the texts of
    others may exceed it.
    """
    if counted.size == 0:
        return _whole(values.tolist()), 1
    if OPTIONS.sci_mode if OPTIONS.sci_mode is not None else _spread_out(np.abs(counted)):
        notation = _exponents
    elif (counted == np.ceil(counted)).all():
        notation = _whole
    else:
        notation = _decimals
    return notation(values.tolist()), max(map(len, notation(counted.tolist())))


def _spread_out(magnitudes):
    """Say whether magnitudes differ so much, or are so large or small, that exponents read best."""
    largest, smallest = magnitudes.max(), magnitudes.min()
    with np.errstate(over="ignore"):
        return largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4


def _exponents(values):
    return [f"{value:.{OPTIONS.precision}e}" for value in values]


def _decimals(values):
    return [f"{value:.{OPTIONS.precision}f}" for value in values]


def _whole(values):
    return [f"{value:.0f}." if math.isfinite(value) else f"{value:.0f}" for value in values]
