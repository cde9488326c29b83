"""Switches of PyTorch's libraries, which programs set for speed or for equal results in every run.

XLA chooses its own kernels, so what is set here is stored and changes nothing; queries (``is_available``)
return what is true.
"""

from . import cpu as cpu
from . import cuda as cuda
from . import cudnn as cudnn
from . import mha as mha
from . import mkldnn as mkldnn
from . import mps as mps
from . import opt_einsum as opt_einsum
from . import quantized as quantized
