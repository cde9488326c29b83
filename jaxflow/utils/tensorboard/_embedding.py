"""The files that TensorBoard's projector reads."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ._convert_np import make_np
from ._image import as_bytes, make_grid, png
from ._messages import EmbeddingInfo, SpriteMetadata


def _write(folder: str, name: str, data: bytes) -> None:
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def _lines(rows: Sequence[Sequence[Any]]) -> bytes:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()


def make_tsv(metadata: Sequence[Any], save_path: str, metadata_header: Sequence[str] | None = None) -> None:
    """Write what is known of each point: a line a point, with columns under a header where there is one.

    Raises:
        AssertionError: for a header that does not have as many columns as the first point.
    """
    if not metadata_header:
        rows = [[each] for each in metadata]
    elif len(metadata_header) != len(metadata[0]):
        raise AssertionError("len of header must be equal to the number of columns in metadata")
    else:
        rows = [metadata_header, *metadata]
    _write(save_path, "metadata.tsv", _lines(rows))


def make_mat(matlist: np.ndarray, save_path: str) -> None:
    """Write the points, a line each."""
    _write(save_path, "tensors.tsv", _lines(matlist.tolist()))


def make_sprite(label_img: Any, save_path: str) -> None:
    """Write the images ``(N, C, H, W)`` of the points, side by side in a square."""
    images = make_np(label_img)
    grid = make_grid(images, ncols=math.ceil(math.sqrt(len(images)))).transpose(1, 2, 0)
    square = np.zeros((grid.shape[1], grid.shape[1], 3), grid.dtype)
    square[:grid.shape[0]] = grid
    _write(save_path, "sprite.png", png(as_bytes(square)))


def get_embedding_info(metadata: Any, label_img: Any, subdir: str, global_step: int, tag: str) -> Any:
    """The entry of an embedding in the projector's settings."""
    sprite = None
    if label_img is not None:
        sprite = SpriteMetadata(image_path=os.path.join(subdir, "sprite.png"),
                                single_image_dim=[label_img.shape[3], label_img.shape[2]])
    return EmbeddingInfo(
        tensor_name=f"{tag}:{str(global_step).zfill(5)}", tensor_path=os.path.join(subdir, "tensors.tsv"),
        metadata_path=None if metadata is None else os.path.join(subdir, "metadata.tsv"), sprite=sprite)


def write_pbtxt(save_path: str, contents: str) -> None:
    """Write the projector's settings."""
    _write(save_path, "projector_config.pbtxt", contents.encode())
