"""What programs import from here under PyTorch's names."""

from ._image import convert_to_HWC as convert_to_HWC
from ._image import figure_to_image as figure_to_image
from ._image import make_grid as make_grid
