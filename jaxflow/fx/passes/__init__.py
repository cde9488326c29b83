"""Passes over graphs: shapes, splitting, and what runs passes one after the other."""

from __future__ import annotations

from . import infra as infra
from . import shape_prop as shape_prop
from . import split_module as split_module
from . import utils as utils
