"""The distribution ``torch`` that ``importlib.metadata`` finds: a name and a version, no files."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterable
from typing import Any

from .version import VERSION


class _Distribution(importlib.metadata.Distribution):
    def read_text(self, filename: str) -> str | None:
        if filename == "METADATA":
            return (f"Metadata-Version: 2.1\nName: torch\nVersion: {VERSION}\n"
                    "Summary: jaxflow under the name of torch\n")
        return None

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"jaxflow stands in for torch, which has no file {path}")


class DistributionFinder(importlib.metadata.DistributionFinder):
    """Finds the distribution of ``torch``, before any that is installed."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> None:
        return None

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        name = getattr(context, "name", None)
        if name is None or name.lower().replace("_", "-") == "torch":
            yield _Distribution()
