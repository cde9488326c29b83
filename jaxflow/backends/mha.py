"""Whether inference with padding goes by PyTorch's fast path, whose results are zero at the padding."""

from jaxflow.nn.modules import _fast_path


def get_fastpath_enabled() -> bool:
    """Whether `nn.TransformerEncoder` and `nn.MultiheadAttention` may do what PyTorch's fast path does."""
    return _fast_path.SWITCH.enabled


def set_fastpath_enabled(value: bool) -> None:
    """Say whether they may."""
    _fast_path.SWITCH.enabled = value
