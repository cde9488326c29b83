"""``python -m tools.sobol_directions TABLE``: pack Joe and Kuo's table into
``jaxflow/quasirandom/directions.bin``.

TABLE is ``new-joe-kuo-6.21201`` of web.maths.unsw.edu.au/~fkuo/sobol/ (Joe and Kuo, "Constructing Sobol
sequences with better two-dimensional projections", 2008), or scipy's copy of it,
``scipy/stats/_sobol_direction_numbers.npz``. Both may be used freely with their copyright notice, which
stands in `jaxflow/quasirandom/directions.LICENSE`.
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np

from jaxflow.quasirandom.directions import COUNTS, FILE


def rows(path: pathlib.Path) -> list[tuple[int, int, list[int]]]:
    """For each dimension from the second on the degree, the inner coefficients, the first numbers."""
    if path.suffix == ".npz":
        with np.load(path) as table:
            degrees = [int(p).bit_length() - 1 for p in table["poly"]]
            return [(d, int(p) >> 1 & (1 << d - 1) - 1, v[:d].tolist())
                    for d, p, v in zip(degrees[1:], table["poly"][1:], table["vinit"][1:], strict=True)]
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return [(int(s), int(a), list(map(int, m))) for _, s, a, *m in map(str.split, lines)]


def packed(table: list[tuple[int, int, list[int]]]) -> bytes:
    """The bits of all rows: the coefficients, then each number without its last bit, which is 1."""
    assert [sum(d == degree for d, _, _ in table) for degree in range(1, len(COUNTS) + 1)] == list(COUNTS)
    bits = []
    for degree, inner, numbers in table:
        assert len(numbers) == degree and all(m & 1 and m < 2 << k for k, m in enumerate(numbers))
        bits.append(f"{inner:0{degree - 1}b}" if degree > 1 else "")
        bits += [f"{m >> 1:0{k}b}" for k, m in enumerate(numbers) if k]
    return np.packbits(np.frombuffer("".join(bits).encode(), np.uint8) - ord("0")).tobytes()


if __name__ == "__main__":
    FILE.write_bytes(packed(rows(pathlib.Path(sys.argv[1]))))
