"""Names that libraries for training import beside the layers, held against PyTorch's."""

import pytest
import torch

import jaxflow


def test_records_of_a_checkpoint(tmp_path):
    file = str(tmp_path / "x.pt")
    torch.save({"a": torch.arange(4.0)}, file)
    theirs, ours = torch.PyTorchFileReader(file), jaxflow.PyTorchFileReader(file)
    assert ours.get_all_records() == theirs.get_all_records()
    assert ours.get_record("data/0") == theirs.get_record("data/0")
    assert ours.get_record_size("data/0") == 16 and ours.serialization_id() == theirs.serialization_id()
    assert ours.has_record("data.pkl") and not ours.has_record("nope")
    for call in (lambda m: m.PyTorchFileReader("/nope"),
                 lambda m: m.PyTorchFileReader(file).get_record("no")):
        for module in (torch, jaxflow):
            with pytest.raises(RuntimeError, match="file"):
                call(module)
