"""Files of characters as nanoGPT's data folders have them: ``char_files.py text folder``.

The folder gets ``train.bin`` and ``val.bin``, numbers of characters as 16-bit integers, and ``meta.pkl``,
which says what characters they are. They are made of a text file that is there, not of one from the network.
"""

import pathlib
import pickle
import sys

import numpy as np

#: How much of the text is for training.
TRAINING = 0.9


def main(text: str, folder: str) -> None:
    """Write the three files."""
    written = pathlib.Path(text).read_text(encoding="utf-8")
    characters = sorted(set(written))
    numbers = {c: i for i, c in enumerate(characters)}
    coded = np.array([numbers[c] for c in written], np.uint16)
    cut, where = int(TRAINING * len(coded)), pathlib.Path(folder)
    coded[:cut].tofile(where / "train.bin")
    coded[cut:].tofile(where / "val.bin")
    meta = {"vocab_size": len(characters), "itos": dict(enumerate(characters)), "stoi": numbers}
    (where / "meta.pkl").write_bytes(pickle.dumps(meta))


if __name__ == "__main__":
    main(*sys.argv[1:])
