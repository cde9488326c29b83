"""Images: how they lie, grids of them, PNG, figures, boxes, films."""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._convert_np import make_np
from ._messages import Summary


def make_grid(I: np.ndarray, ncols: int = 8) -> np.ndarray:
    """Images ``(N, 1 or 3, H, W)`` row by row on one ``(3, H, W)``; zeros where there is none."""
    if not isinstance(I, np.ndarray):
        raise AssertionError("plugin error, should pass numpy array here")
    if I.ndim == 4 and I.shape[1] == 1:
        I = np.repeat(I, 3, axis=1)
    if I.ndim != 4 or I.shape[1] != 3:
        raise AssertionError("Input should be a 4D numpy array with 3 channels")
    count, _, height, width = I.shape
    columns = min(count, ncols)
    rows = math.ceil(count / columns)
    cells = np.zeros((rows * columns, 3, height, width), I.dtype)
    cells[:count] = I
    cells = cells.reshape(rows, columns, 3, height, width).transpose(2, 0, 3, 1, 4)
    return cells.reshape(3, rows * height, columns * width)


def convert_to_HWC(tensor: np.ndarray, input_format: str) -> np.ndarray:
    """An image, or a batch as a grid, in the order ``(H, W, C)`` with at least three channels.

    Args:
        tensor: the image or the batch.
        input_format: a letter for each dimension, of N, C, H and W.

    Raises:
        AssertionError: for a letter that comes twice, and another number of dimensions.
    """
    if len(set(input_format)) != len(input_format):
        raise AssertionError("You can not use the same dimension shorthand twice. "
                             f"input_format: {input_format}")
    if tensor.ndim != len(input_format):
        raise AssertionError("size of input tensor and input format are different. "
                             f"tensor shape: {tensor.shape}, input_format: {input_format}")
    given = input_format.upper()
    wanted = {2: "HW", 3: "HWC", 4: "NCHW"}.get(len(given))
    if wanted is None or set(given) != set(wanted):
        raise ValueError(f"dataformats {input_format!r} is none of the orders of HW, HWC and NCHW")
    tensor = tensor.transpose([given.index(letter) for letter in wanted])
    if wanted == "NCHW":
        return make_grid(tensor).transpose(1, 2, 0)
    if wanted == "HW":
        tensor = tensor[:, :, None]
    return np.repeat(tensor, 3, axis=2) if tensor.shape[2] == 1 else tensor


def as_bytes(tensor: np.ndarray) -> np.ndarray:
    """The elements from 0 to 255: those of ``uint8`` as they are, others times 255."""
    factor = 1 if tensor.dtype == np.uint8 else 255
    return (tensor.astype(np.float32) * factor).clip(0, 255).astype(np.uint8)


def png(pixels: np.ndarray) -> bytes:
    """A PNG of ``(H, W, C)`` bytes, C from 1 to 4.

    W3C, "Portable Network Graphics (PNG) Specification", third edition. Each line is stored as its
    differences from the one above (filter 2, "Up").
    """
    height, width, channels = pixels.shape
    colours = {1: 0, 2: 4, 3: 2, 4: 6}
    if channels not in colours or 0 in pixels.shape:
        raise TypeError(f"an image of {channels} channels, {height} by {width}, cannot be a PNG: "
                        "it has from 1 to 4 channels, and at least one pixel")
    lines = pixels.reshape(height, width * channels)
    filtered = np.full((height, 1 + width * channels), 2, np.uint8)
    filtered[0, 1:] = lines[0]
    filtered[1:, 1:] = lines[1:] - lines[:-1]
    header = struct.pack(">IIBBBBB", width, height, 8, colours[channels], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(filtered.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts)


def _pillow(what: str) -> Any:
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ImportError as error:
        raise ImportError(f"{what} needs the package pillow") from error
    return PIL


def make_image(tensor: np.ndarray, rescale: float = 1, rois: np.ndarray | None = None,
               labels: Sequence[str] | None = None) -> Any:
    """The message of an image of ``(H, W, C)`` bytes.

    Args:
        tensor: the pixels.
        rescale: by what height and width are multiplied. Other numbers than 1 need the package pillow.
        rois: boxes to draw, ``(N, 4)``; needs the package pillow.
        labels: a text for each box.
    """
    height, width, channels = tensor.shape
    if rois is not None:
        image = _pillow("drawing boxes").Image.fromarray(tensor)
        tensor = np.asarray(draw_boxes(image, rois, labels))
    size = (int(width * rescale), int(height * rescale))
    if size != (width, height):
        pillow = _pillow("scaling an image")
        pixels = tensor[:, :, 0] if channels == 1 else tensor
        resized = np.asarray(pillow.Image.fromarray(pixels).resize(size, pillow.Image.Resampling.LANCZOS))
        tensor = resized.reshape(size[1], size[0], channels)
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=png(tensor))


def draw_boxes(disp_image: Any, boxes: np.ndarray, labels: Sequence[str] | None = None) -> Any:
    """Red boxes ``(x1, y1, x2, y2)`` on a picture of pillow, which is returned; texts at their bottoms."""
    pillow = _pillow("drawing boxes")
    draw, font = pillow.ImageDraw.Draw(disp_image), pillow.ImageFont.load_default()
    for number, (left, top, right, bottom) in enumerate(boxes[:, :4]):
        corners = [(left, top), (left, bottom), (right, bottom), (right, top), (left, top)]
        draw.line(corners, width=2, fill="Red")
        label = labels[number] if labels is not None else None
        if label:
            x1, y1, x2, y2 = font.getbbox(label)
            margin = math.ceil(0.05 * (y2 - y1))
            draw.rectangle([(left, bottom - (y2 - y1) - 2 * margin), (left + x2 - x1, bottom)], fill="Red")
            draw.text((left + margin, bottom - (y2 - y1) - margin), label, fill="black", font=font)
    return disp_image


def figure_to_image(figures: Any, close: bool = True) -> np.ndarray:
    """Figures of matplotlib as bytes.

    Args:
        figures: a figure, or a list of figures of one size.
        close: whether they are closed.

    Returns:
        An array ``(3, H, W)``, or ``(N, 3, H, W)`` of a list.
    """
    if isinstance(figures, list):
        return np.stack([figure_to_image(figure, close) for figure in figures])
    from matplotlib import pyplot
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figures)
    canvas.draw()
    pixels = np.array(canvas.buffer_rgba())[:, :, :3]
    if close:
        pyplot.close(figures)
    return pixels.transpose(2, 0, 1)


def _side_by_side(films: np.ndarray) -> np.ndarray:
    """Films ``(N, T, C, H, W)`` as one ``(T, H, W, C)``, on a grid of a power of two of cells."""
    if films.dtype == np.uint8:
        films = films.astype(np.float32) / 255
    count, time, channels, height, width = films.shape
    cells = 1 << (count - 1).bit_length()
    rows = 1 << (count.bit_length() - 1) // 2
    padded = np.zeros((cells, *films.shape[1:]), films.dtype)
    padded[:count] = films
    grid = padded.reshape(rows, cells // rows, time, channels, height, width).transpose(2, 0, 4, 1, 5, 3)
    return grid.reshape(time, rows * height, cells // rows * width, channels)


def make_video(tensor: np.ndarray, fps: float) -> Any:
    """The message of a film of ``(T, H, W, C)`` bytes, as a GIF; needs the package pillow."""
    pillow = _pillow("add_video")
    _, height, width, channels = tensor.shape
    if channels not in (1, 3):
        raise ValueError(f"a film has 1 or 3 channels, not {channels}")
    frames = [pillow.Image.fromarray(frame if channels == 3 else frame[:, :, 0]) for frame in tensor]
    found = io.BytesIO()
    frames[0].save(found, format="GIF", save_all=True, append_images=frames[1:], duration=1000 / fps, loop=0)
    return Summary.Image(height=height, width=width, colorspace=channels,
                         encoded_image_string=found.getvalue())


def video_of(tensor: Any, fps: float) -> Any:
    """The message of films ``(N, T, C, H, W)``."""
    return make_video(as_bytes(_side_by_side(make_np(tensor))), fps)
