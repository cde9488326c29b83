"""Names that programs take from ``torch._higher_order_ops``."""

from .associative_scan import associative_scan as associative_scan
