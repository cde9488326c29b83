"""NOTE [Library kernels]: what XLA is told about convolutions, and what if it does not know the option."""

import re

import pytest
from running import executables_of

import jaxflow as torch
from jaxflow._dispatch import library, options


def entries_of(run):
    """What each program of ``run`` does, fusions apart."""
    texts = [executable.compiled.as_text() for executable in executables_of(run)]
    return [text[text.index("\nENTRY"):] for text in texts]


def convolve():
    x, w = torch.ones(1, 64, 16, 16), torch.ones(64, 64, 3, 3)
    torch.flush()
    return torch.nn.functional.conv2d(x, w, padding=1)


@pytest.mark.usefixtures("compiled")
def test_convolutions_run_in_kernels_that_use_all_threads():
    entries = entries_of(lambda: convolve().tanh().tolist())
    # Outside of any fusion, so not in one that is a library's.
    assert any(re.search(r"= f32\[1,16,16,64\]\S* convolution\(", entry) for entry in entries)


@pytest.mark.usefixtures("compiled")
def test_what_a_version_of_xla_does_not_know_is_left_out(monkeypatch):
    for unknown in ({"xla_cpu_unheard_of": "1"}, {options._LIST: "LIBRARY_FUSION_TYPE_UNHEARD_OF"}):
        monkeypatch.setattr(options, "_CPU", dict(unknown))
        library.forget()
        with torch.execution("deferred"):
            assert convolve()[0, 2, 3, 3].item() == 576
            torch.flush()
        assert not options._CPU


@pytest.mark.usefixtures("compiled")
def test_flags_of_the_environment_come_first(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"--{options._LIST}=")
    monkeypatch.setattr(options, "_CPU", {"xla_cpu_unheard_of": "1"})
    entries_of(lambda: convolve().tanh().tolist())
    assert options._CPU  # nobody asked for it
