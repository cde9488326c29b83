"""The older names of what `jaxflow.hub` loads checkpoints by."""

from jaxflow.hub import download_url_to_file as _download_url_to_file  # noqa: F401
from jaxflow.hub import load_state_dict_from_url as load_url

__all__ = ["load_url"]
