"""Floats as integers beyond their range: what real PyTorch makes of them on x86-64."""

import platform

import numpy as np
import pytest
import torch

import jaxflow

pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="other hardware has other conversions")

_EDGES = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1.0, -0.5, 0.0, 0.5, 1.0, 300.0)]
VALUES = [*_EDGES, *[-x for x in _EDGES], 0.0, -0.5, 1e30, -1e30, float("inf"), -float("inf"), float("nan")]
SOURCES = ["float16", "bfloat16", "float32", "float64"]
TARGETS = ["uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "bool"]


@pytest.mark.parametrize("execution", ["deferred", "eager"])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("target", TARGETS)
def test_conversion(execution, source, target):
    # Long and contiguous: PyTorch's loops over single elements differ for uint32.
    values = np.resize(np.array(VALUES), 64 * len(VALUES))
    theirs = torch.tensor(values).to(getattr(torch, source)).to(getattr(torch, target))
    with jaxflow.execution(execution):
        ours = jaxflow.tensor(values).to(getattr(jaxflow, source)).to(getattr(jaxflow, target))
        assert ours.tolist() == theirs.tolist()
