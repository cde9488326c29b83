"""Checkpoints by their address, kept on disk; entry points of a repository that is a folder."""

import hashlib

import pytest

import jaxflow as torch
from jaxflow import hub


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    return tmp_path


def published(folder):
    """The address of a checkpoint whose name tells its hash."""
    path = folder / "model.pt"
    torch.save({"w": torch.arange(3.0)}, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    return path.rename(folder / f"model-{digest}.pt").as_uri()


def test_a_checkpoint_is_downloaded_once(folder, capsys):
    url = published(folder)
    found = hub.load_state_dict_from_url(url, progress=False, check_hash=True)
    assert found["w"].tolist() == [0.0, 1.0, 2.0]
    assert hub.get_dir() == str(folder / "home" / "hub")
    (kept,) = (folder / "home" / "hub" / "checkpoints").iterdir()
    assert "Downloading" in capsys.readouterr().err
    (folder / kept.name).unlink()  # the address may be gone now
    assert hub.load_state_dict_from_url(url, check_hash=True)["w"].tolist() == [0.0, 1.0, 2.0]
    assert not capsys.readouterr().err


def test_a_wrong_hash_leaves_the_file_as_it_was(folder):
    target = folder / "there"
    target.write_text("before")
    with pytest.raises(RuntimeError, match='invalid hash value .expected "beef"'):
        hub.download_url_to_file(published(folder), str(target), "beef", progress=False)
    assert target.read_text() == "before"
    assert not list(folder.glob("*.partial"))


def test_entry_points_of_a_folder(folder):
    (folder / "hubconf.py").write_text(
        'dependencies = ["numpy"]\n\ndef model(n=1):\n    "About it."\n    return n\n')
    assert hub.load(folder, "model", 3, source="local") == 3
    assert hub.list(folder) == ["model"] and hub.help(folder, "model") == "About it."
    with pytest.raises(RuntimeError, match="Cannot find callable other in hubconf"):
        hub.load(folder, "other", source="local")
    with pytest.raises(NotImplementedError, match="clone the repository"):
        hub.load("someone/something", "model")
    with pytest.raises(ValueError, match='Unknown source: "web"'):
        hub.load(folder, "model", source="web")
    (folder / "hubconf.py").write_text('dependencies = ["no_such_package"]\n')
    with pytest.raises(RuntimeError, match="Missing dependencies: no_such_package"):
        hub.load(folder, "model", source="local")
