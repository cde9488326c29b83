"""The older names of what `jaxflow.hub` loads checkpoints by."""

from jaxflow.hub import download_url_to_file as _download_url_to_file  # noqa: F401
from jaxflow.hub import load_state_dict_from_url as load_url
from jaxflow.utils._bar import tqdm as _tqdm

__all__ = ["load_url"]


def __getattr__(name: str) -> object:
    """``tqdm``: the class of bars of progress, tqdm's where that is installed."""
    if name == "tqdm":
        return _tqdm()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
