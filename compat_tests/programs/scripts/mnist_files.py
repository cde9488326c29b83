"""Writes scikit-learn's digits as the four files of MNIST, enlarged to 28 x 28, into a folder's MNIST/raw."""

import pathlib
import struct
import sys

import numpy as np
from sklearn.datasets import load_digits

folder = pathlib.Path(sys.argv[1], "MNIST", "raw")
folder.mkdir(parents=True, exist_ok=True)
digits = load_digits()
images = np.pad(np.kron(digits.images, np.ones((3, 3))), ((0, 0), (2, 2), (2, 2)))
images = (images * (255 / 16)).astype(np.uint8)
labels = digits.target.astype(np.uint8)
for name, part in (("train", slice(0, 1500)), ("t10k", slice(1500, None))):
    count = len(labels[part])
    (folder / f"{name}-images-idx3-ubyte").write_bytes(
        struct.pack(">IIII", 2051, count, 28, 28) + images[part].tobytes())
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(
        struct.pack(">II", 2049, count) + labels[part].tobytes())
