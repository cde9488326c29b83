"""Names that programs take from ``torch._custom_ops``."""

from .library import get_ctx as get_ctx
