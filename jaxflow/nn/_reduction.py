"""The deprecated spelling of ``reduction``."""

from __future__ import annotations

import warnings

from jaxflow._core.warning import user_level


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that ``size_average`` and ``reduce`` (both default to True) stand for."""
    averages = size_average is None or size_average
    reduces = reduce is None or reduce
    reduction = "none" if not reduces else "mean" if averages else "sum"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            stacklevel=user_level(),
        )
    return reduction
