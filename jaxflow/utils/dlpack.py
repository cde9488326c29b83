"""DLPack under PyTorch's names."""

from jaxflow._api.creation.dlpack import DLDeviceType as DLDeviceType
from jaxflow._api.creation.dlpack import from_dlpack as from_dlpack
from jaxflow._api.creation.dlpack import to_dlpack as to_dlpack
