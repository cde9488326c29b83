"""A sample of the operator table over shapes A, B, C, A and D in each executor; `ops.shapes` asks for all."""

import zlib

import pytest

from compat_tests.ops import shapes
from compat_tests.ops.records import keys

#: One record in so many, by name.
SAMPLE = 50


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("key", [key for key in keys() if zlib.crc32(key.encode()) % SAMPLE == 0])
def test_record(key):
    found = shapes.shapes(key)
    assert found.ran and not found.failed, found.failed
