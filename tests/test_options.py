"""Options that programs are compiled with: libraries, fused loops, and options that XLA does not know."""

import re

import pytest
from running import executables_of

import jaxflow as torch
from jaxflow._core import options
from jaxflow._exec import program_cache

LIST = "xla_cpu_experimental_ynn_fusion_type"


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
    for unknown in ({"xla_cpu_unheard_of": "1"}, {LIST: "LIBRARY_FUSION_TYPE_UNHEARD_OF"}):
        monkeypatch.setattr(options, "_CPU", dict(unknown))
        program_cache.forget()
        with torch.execution("deferred"):
            assert convolve()[0, 2, 3, 3].item() == 576
            torch.flush()
        assert not options._CPU


@pytest.mark.usefixtures("compiled")
def test_flags_of_the_environment_come_first(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", f"--{LIST}=")
    monkeypatch.setattr(options, "_CPU", {LIST: "LIBRARY_FUSION_TYPE_UNHEARD_OF"})
    entries_of(lambda: convolve().tanh().tolist())
    assert options._CPU  # nobody asked for it


def in_a_row(t):
    t.view(2, 4)[1, ::4] = 9


def in_a_row_of_others(t):
    t.view(4, 2)[1:, ::2] = 9


def in_a_column(t):
    t.view(2, 4)[::2, 1] = 9


def by_index(t):
    t.view(2, 4)[1][torch.tensor([2])] = 9


def added(t):
    t.view(2, 4)[1, ::4].add_(5)


@pytest.mark.parametrize(("write", "expected"), [
    (in_a_row, [0, 1, 2, 3, 9, 5, 6, 7]), (in_a_row_of_others, [0, 1, 9, 3, 9, 5, 9, 7]),
    (in_a_column, [0, 9, 2, 3, 4, 5, 6, 7]), (by_index, [0, 1, 2, 3, 4, 5, 9, 7]),
    (added, [0, 1, 2, 3, 9, 5, 6, 7]),
], ids=lambda x: getattr(x, "__name__", ""))
@pytest.mark.parametrize("mode", ["eager", "deferred", "compile"])
@pytest.mark.usefixtures("compiled")
def test_one_element_is_written_where_it_lies(mode, write, expected):
    # NOTE [Older code of fused operations]
    def body(t):
        write(t)
        return t

    call = torch.compile(body) if mode == "compile" else body
    with torch.execution("eager" if mode == "eager" else "deferred"):
        for _ in range(3):
            assert call(torch.arange(8.0)).tolist() == expected
