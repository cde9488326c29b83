"""Summaries that hold a tensor, and name the plugin that shows it."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor

from ._messages import (
    Category,
    Chart,
    Layout,
    MarginChartContent,
    MeshPluginData,
    MultilineChartContent,
    PrCurvePluginData,
    Series,
    Summary,
    SummaryMetadata,
    TensorProto,
    TensorShapeProto,
    TextPluginData,
)

_FLOAT, _DOUBLE, _STRING = 1, 2, 7


def half_to_int(f: float) -> int:
    """The bits of a number in single precision, as an integer: how halves are stored in tensors."""
    return struct.unpack("i", struct.pack("f", f))[0]


def int_to_half(i: int) -> float:
    """The number of such an integer."""
    return struct.unpack("f", struct.pack("i", i))[0]


def _halves(t: Tensor) -> list:
    return [half_to_int(number) for number in t.flatten().tolist()]


def _pairs(t: Tensor) -> list:
    return functions.view_as_real(t).flatten().tolist()


def _numbers(t: Tensor) -> list:
    return t.flatten().tolist()


#: By dtype: TensorFlow's number of it (tensorflow/core/framework/types.proto), the field, and the numbers in
#: it.
_STORED = {
    dtypes.float16: (19, "half_val", _halves),
    dtypes.bfloat16: (14, "half_val", _halves),
    dtypes.float32: (_FLOAT, "float_val", _numbers),
    dtypes.float64: (_DOUBLE, "double_val", _numbers),
    dtypes.int8: (6, "int_val", _numbers),
    dtypes.uint8: (4, "uint32_val", _numbers),
    dtypes.int16: (5, "int_val", _numbers),
    dtypes.int32: (3, "int_val", _numbers),
    dtypes.int64: (9, "int64_val", _numbers),
    dtypes.bool: (10, "bool_val", _numbers),
    dtypes.complex64: (8, "scomplex_val", _pairs),
    dtypes.complex128: (18, "dcomplex_val", _pairs),
}


def shape_of(*sizes: int) -> Any:
    """The message of a shape."""
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=size) for size in sizes])


def summary_of(tag: str, tensor: Any, plugin: str, content: Any = None) -> Any:
    """A summary of a tensor that a plugin shows, with the plugin's data."""
    data = b"" if content is None else content.SerializeToString()
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=plugin, content=data))
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor, metadata=metadata)])


def tensor_proto(tag: str, tensor: Tensor) -> Any:
    """The summary of a tensor of any shape.

    Raises:
        ValueError: for 2 GB or more, and a dtype that there is no field for.
    """
    if tensor.numel() * tensor.itemsize >= 1 << 31:
        raise ValueError("tensor is bigger than protocol buffer's hard limit of 2GB in size")
    if tensor.dtype not in _STORED:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    number, field, numbers = _STORED[tensor.dtype]
    message = TensorProto(dtype=number, tensor_shape=shape_of(*tensor.shape), **{field: numbers(tensor)})
    return summary_of(tag, message, "tensor")


def text(tag: str, text: str) -> Any:
    """The summary of a text, which TensorBoard takes for Markdown."""
    tensor = TensorProto(dtype=_STRING, string_val=[text.encode()], tensor_shape=shape_of(1))
    return summary_of(f"{tag}/text_summary", tensor, "text", TextPluginData(version=0))


def curves(tag: str, data: np.ndarray, num_thresholds: int) -> Any:
    """The summary of the six rows of a curve of precision over recall."""
    tensor = TensorProto(dtype=_FLOAT, float_val=data.reshape(-1), tensor_shape=shape_of(*data.shape))
    return summary_of(tag, tensor, "pr_curves", PrCurvePluginData(version=0, num_thresholds=num_thresholds))


def custom_scalars(layout: dict[str, dict[str, list]]) -> Any:
    """The summary of charts of several tags.

    Args:
        layout: by category, by the chart's title, ``["Multiline", tags]`` or ``["Margin", [value, lower,
            upper]]``.
    """
    categories = [Category(title=title, chart=[_chart(name, *given) for name, given in charts.items()])
                  for title, charts in layout.items()]
    data = Layout(category=categories).SerializeToString()
    tensor = TensorProto(dtype=_STRING, string_val=[data], tensor_shape=shape_of())
    return summary_of("custom_scalars__config__", tensor, "custom_scalars")


def _chart(title: str, kind: str, tags: Sequence[str], *_: Any) -> Any:
    if kind != "Margin":
        return Chart(title=title, multiline=MultilineChartContent(tag=tags))
    if len(tags) != 3:
        raise AssertionError(f"a Margin chart has 3 tags, not {len(tags)}: len(tags) != 3")
    value, lower, upper = tags
    return Chart(title=title, margin=MarginChartContent(series=[Series(value=value, lower=lower,
                                                                       upper=upper)]))


def mesh(tag: str, vertices: Any, colors: Any, faces: Any, config_dict: dict | None,
         display_name: str | None = None, description: str | None = None) -> Any:
    """The summary of points or triangles in space.

    Args:
        tag: its name.
        vertices: coordinates ``(B, N, 3)``.
        colors: of the points, ``(B, N, 3)``, or None.
        faces: triangles as numbers of points, ``(B, F, 3)``, or None.
        config_dict: what is given to three.js.
        display_name: a name to be shown.
        description: a text in Markdown.

    Raises:
        ValueError: for another number of dimensions than three.
    """
    parts = [(number, name, functions.as_tensor(given))
             for number, name, given in ((1, "VERTEX", vertices), (2, "FACE", faces), (3, "COLOR", colors))
             if given is not None]
    present = sum(1 << number for number, _, _ in parts)
    config = "{}" if config_dict is None else json.dumps(config_dict, sort_keys=True)
    values = []
    for number, name, part in parts:
        if part.dim() != 3:
            raise ValueError(f"Tensor shape should be of shape BxNx3, but got {part.shape}.")
        data = MeshPluginData(version=0, name=tag, content_type=number, components=present,
                              shape=list(part.shape), json_config=config)
        plugin = SummaryMetadata.PluginData(plugin_name="mesh", content=data.SerializeToString())
        tensor = TensorProto(dtype=_FLOAT, float_val=_numbers(part), tensor_shape=shape_of(*part.shape))
        values.append(Summary.Value(tag=f"{tag}_{name}", tensor=tensor, metadata=SummaryMetadata(
            display_name=display_name, summary_description=description, plugin_data=plugin)))
    return Summary(value=values)
