"""Types that annotations of scripted functions name; nothing is scripted, so nothing reads them."""

from __future__ import annotations

from typing import Any
from typing import Dict as Dict  # noqa: UP035 - PyTorch's names
from typing import List as List  # noqa: UP035
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035
from typing import Union as Union

from jaxflow.futures import Future as Future


class BroadcastingListCls:
    """``BroadcastingList2[int]``: a list of two numbers, or a number that stands for both; no Python type."""

    def __getitem__(self, types: Any) -> None:
        """None, as in PyTorch: only its compiler reads the annotation."""


BroadcastingList1, BroadcastingList2, BroadcastingList3 = (BroadcastingListCls(),) * 3
