"""What a checkpoint names, found without loading it."""

import collections
import fractions
import io
import pickle

import pytest

import jaxflow as torch
from jaxflow.serialization import get_unsafe_globals_in_checkpoint, location_tag, safe_globals


def _saved(obj, **options):
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("protocol", [2, 4])
def test_names_that_are_not_allowed_are_listed(protocol):
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
    file = _saved({"model": model, "ratio": fractions.Fraction(1, 2)}, pickle_protocol=protocol)
    found = get_unsafe_globals_in_checkpoint(file)
    assert "fractions.Fraction" in found and len(found) == len(set(found))
    assert [name for name in found if name.endswith(".Sequential")] != []
    assert [name for name in found if name.endswith(".Linear")] != []


def test_a_state_dict_names_nothing_that_is_refused(tmp_path):
    state = collections.OrderedDict(torch.nn.Linear(2, 2).state_dict(), step=torch.Size([3]))
    torch.save(state, tmp_path / "state.pt")
    assert get_unsafe_globals_in_checkpoint(tmp_path / "state.pt") == []


def test_what_was_allowed_is_left_out():
    with safe_globals([fractions.Fraction]):
        assert get_unsafe_globals_in_checkpoint(_saved(fractions.Fraction(1, 3))) == []


def test_other_files_are_refused():
    with pytest.raises(ValueError, match="returned by torch.save"):
        get_unsafe_globals_in_checkpoint(_saved(torch.ones(2), _use_new_zipfile_serialization=False))
    with pytest.raises(pickle.UnpicklingError):
        get_unsafe_globals_in_checkpoint(io.BytesIO(b"no checkpoint at all"))


def test_tags_of_devices():
    assert location_tag(torch.ones(2).untyped_storage()) == "cpu"
    assert location_tag(torch.ones(2, device="meta").untyped_storage()) == "meta"
