"""The version of jaxflow (not of the PyTorch whose interface it has)."""

from importlib import metadata as _metadata

try:
    __version__ = _metadata.version("jaxflow")
except _metadata.PackageNotFoundError:  # a source tree on the path, never installed
    __version__ = "0+unknown"

cuda = None  # the CUDA toolkit belongs to jaxlib
hip = None
rocm = None
xpu = None
git_version = "Unknown"  # an installed package has no repository; PyTorch says so in the same word
debug = False
