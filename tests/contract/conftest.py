"""The forms a contract test runs in, and the dialects it runs on."""

import jax
import numpy as np
import pytest

import jaxflow
import jaxflow.oneflow


@pytest.fixture(params=["deferred", "eager", "traced"])
def form(request):
    """How the program of a test is executed."""
    return request.param


@pytest.fixture(params=["jaxflow", "oneflow"])
def T(request):
    """The dialect a program is written for: jaxflow itself, or the OneFlow dialect."""
    return {"jaxflow": jaxflow, "oneflow": jaxflow.oneflow}[request.param]


@pytest.fixture
def run(T, form):
    """``run(program, *arrays)``: what ``program(T, *tensors)`` returns, as arrays, in this form."""

    def run(program, *arrays):
        make = T.to_tensor if hasattr(T, "to_tensor") else T.tensor
        tensors = [make(np.asarray(a, "float32")) for a in arrays]
        if form == "traced":
            found = jax.jit(lambda *given: program(T, *given))(*tensors)
        else:
            with jaxflow.execution(form):
                found = program(T, *tensors)
                found = [f.detach().numpy() for f in _several(found)]
        return [np.asarray(f.detach().numpy() if isinstance(f, jaxflow.Tensor) else f)
                for f in _several(found)]

    return run


def _several(found):
    return list(found) if isinstance(found, (tuple, list)) else [found]
