"""Print ``docs/contract.md``."""

from .table import render

print(render(), end="")
