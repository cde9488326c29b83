"""The version of jaxflow (not of the PyTorch whose interface it has)."""

from importlib import metadata as _metadata

try:
    __version__ = _metadata.version("jaxflow")
except _metadata.PackageNotFoundError:  # a source tree on the path, never installed
    __version__ = "0+unknown"

cuda = None  # the CUDA toolkit belongs to jaxlib
hip = None
debug = False
