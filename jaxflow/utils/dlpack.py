"""DLPack under PyTorch's names."""

from jaxflow._api.dlpack import DLDeviceType as DLDeviceType
from jaxflow._api.dlpack import from_dlpack as from_dlpack
from jaxflow._api.dlpack import to_dlpack as to_dlpack
