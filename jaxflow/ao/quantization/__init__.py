"""Quantization of models, module by module: ``torch.ao.quantization``."""

from . import fake_quantize as fake_quantize
from . import observer as observer
from . import qconfig as qconfig
from . import quantization_mappings as quantization_mappings
from . import quantize_fx as quantize_fx
from . import quantize_pt2e as quantize_pt2e
from . import stubs as stubs
from .fake_quantize import *  # noqa: F403
from .fuse_modules import fuse_conv_bn as fuse_conv_bn
from .fuse_modules import fuse_conv_bn_relu as fuse_conv_bn_relu
from .fuse_modules import fuse_linear_bn as fuse_linear_bn
from .fuse_modules import fuse_modules as fuse_modules
from .fuse_modules import fuse_modules_qat as fuse_modules_qat
from .histogram import HistogramObserver as HistogramObserver
from .histogram import default_histogram_observer as default_histogram_observer
from .observer import *  # noqa: F403
from .qconfig import *  # noqa: F403
from .qconfig_mapping import QConfigMapping as QConfigMapping
from .qconfig_mapping import get_default_qat_qconfig_mapping as get_default_qat_qconfig_mapping
from .qconfig_mapping import get_default_qconfig_mapping as get_default_qconfig_mapping
from .quantization_mappings import *  # noqa: F403
from .quantize import add_quant_dequant as add_quant_dequant
from .quantize import convert as convert
from .quantize import prepare as prepare
from .quantize import prepare_qat as prepare_qat
from .quantize import propagate_qconfig_ as propagate_qconfig_
from .quantize import quantize as quantize
from .quantize import quantize_dynamic as quantize_dynamic
from .quantize import quantize_qat as quantize_qat
from .quantize import swap_module as swap_module
from .stubs import DeQuantStub as DeQuantStub
from .stubs import QuantStub as QuantStub
from .stubs import QuantWrapper as QuantWrapper


def default_eval_fn(model, calib_data):
    """Run a model on the inputs of ``(input, target)`` pairs."""
    for data, _ in calib_data:
        model(data)
