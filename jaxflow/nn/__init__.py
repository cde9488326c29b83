"""Layers, models and what they are made of."""

import importlib

from jaxflow.nn import attention as attention
from jaxflow.nn import common_types as common_types
from jaxflow.nn import functional as functional
from jaxflow.nn import init as init
from jaxflow.nn import utils as utils
from jaxflow.nn._factory import factory_kwargs as factory_kwargs
from jaxflow.nn.modules import *  # noqa: F403 - every layer; the list is `modules.__all__`
from jaxflow.nn.parameter import Buffer as Buffer
from jaxflow.nn.parameter import Parameter as Parameter
from jaxflow.nn.parameter import UninitializedBuffer as UninitializedBuffer
from jaxflow.nn.parameter import UninitializedParameter as UninitializedParameter

from jaxflow.nn import parallel as parallel  # isort: skip - made of modules
from jaxflow.nn.parallel import DataParallel as DataParallel  # isort: skip


def __getattr__(name: str) -> object:
    """`grad` and `quantized`, which are loaded when they are used."""
    if name in ("grad", "quantized"):
        return importlib.import_module(f"jaxflow.nn.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
