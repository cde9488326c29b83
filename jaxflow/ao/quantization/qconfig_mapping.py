"""Configurations by names and classes of modules, as graph mode takes them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from jaxflow import nn

from .observer import (
    FixedQParamsObserver,
    PlaceholderObserver,
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
    default_weight_observer,
)
from .qconfig import QConfig, default_reuse_input_qconfig, get_default_qat_qconfig, get_default_qconfig

_PARTS = ("object_type_qconfigs", "module_name_regex_qconfigs", "module_name_qconfigs",
          "module_name_object_type_order_qconfigs")


class QConfigMapping:
    """Which `QConfig` each part of a model has; later parts of this list go before earlier ones.

    A global one; by class or function; by a regular expression of names; by name; by name, class and order.

    Example:
        >>> q = torch.ao.quantization
        >>> mapping = q.QConfigMapping().set_global(q.default_qconfig).set_module_name("last", None)
        >>> mapping.module_name_qconfigs["last"] is None
        True
    """

    def __init__(self) -> None:
        self.global_qconfig: Any = None
        self.object_type_qconfigs: OrderedDict = OrderedDict()
        self.module_name_regex_qconfigs: OrderedDict = OrderedDict()
        self.module_name_qconfigs: OrderedDict = OrderedDict()
        self.module_name_object_type_order_qconfigs: OrderedDict = OrderedDict()

    def set_global(self, global_qconfig: Any) -> QConfigMapping:
        """Set the one of everything else."""
        self.global_qconfig = global_qconfig
        return self

    def set_object_type(self, object_type: Any, qconfig: Any) -> QConfigMapping:
        """Set that of a class, a function or the name of a method."""
        self.object_type_qconfigs[object_type] = qconfig
        return self

    def set_module_name_regex(self, module_name_regex: str, qconfig: Any) -> QConfigMapping:
        """Set that of names that match; the first expression that matches counts."""
        self.module_name_regex_qconfigs[module_name_regex] = qconfig
        return self

    def set_module_name(self, module_name: str, qconfig: Any) -> QConfigMapping:
        """Set that of a name."""
        self.module_name_qconfigs[module_name] = qconfig
        return self

    def set_module_name_object_type_order(self, module_name: str, object_type: Any, index: int,
                                          qconfig: Any) -> QConfigMapping:
        """Set that of the call of this number to a class or function in a module."""
        self.module_name_object_type_order_qconfigs[module_name, object_type, index] = qconfig
        return self

    def __repr__(self) -> str:
        shown = "QConfigMapping (\n global_qconfig\n  " + repr(self.global_qconfig)
        for part in _PARTS:
            found = getattr(self, part)
            shown += f"\n {part}"
            shown += "".join(f"\n  {k}: {v}" for k, v in found.items()) if found else f"\n  {found}"
        return shown + "\n)"

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict, in the older form."""
        return {
            "": self.global_qconfig, "object_type": list(self.object_type_qconfigs.items()),
            "module_name_regex": list(self.module_name_regex_qconfigs.items()),
            "module_name": list(self.module_name_qconfigs.items()),
            "module_name_object_type_order": [
                (*key, q) for key, q in self.module_name_object_type_order_qconfigs.items()],
        }

    @classmethod
    def from_dict(cls, qconfig_dict: dict[str, Any]) -> QConfigMapping:
        """A mapping of a dict in the older form."""
        new = cls()
        if "" in qconfig_dict:
            new.set_global(qconfig_dict[""])
        for kind, setter in (("object_type", new.set_object_type), ("module_name", new.set_module_name),
                             ("module_name_regex", new.set_module_name_regex),
                             ("module_name_object_type_order", new.set_module_name_object_type_order)):
            for row in qconfig_dict.get(kind, ()):
                setter(*row)
        return new


_FIXED = {nn.Hardsigmoid: default_fixed_qparams_range_0to1_observer,
          nn.Sigmoid: default_fixed_qparams_range_0to1_observer,
          nn.Softmax: default_fixed_qparams_range_0to1_observer,
          nn.Tanh: default_fixed_qparams_range_neg1to1_observer}


def _default(config: QConfig) -> QConfigMapping:
    one_scale = QConfig(config.activation, default_weight_observer)
    new = QConfigMapping().set_global(config).set_object_type("reshape", default_reuse_input_qconfig)
    for kind in (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d):
        new.set_object_type(kind, one_scale)
    new.set_object_type(nn.LayerNorm, QConfig(config.activation, PlaceholderObserver))
    for kind, made in _FIXED.items():
        new.set_object_type(kind, QConfig(made, default_weight_observer))
    return new


def get_default_qconfig_mapping(backend: str = "x86", version: int = 0) -> QConfigMapping:
    """The configurations of quantization after training; see `get_default_qconfig`.

    Classes alone are in it: functions have configurations in graph mode only, which is not there.
    """
    return _default(get_default_qconfig(backend, version))


def get_default_qat_qconfig_mapping(backend: str = "x86", version: int = 1) -> QConfigMapping:
    """The configurations of training with quantization in mind; see `get_default_qat_qconfig`."""
    return _default(get_default_qat_qconfig(backend, version))


__all__ = ["FixedQParamsObserver", "QConfigMapping", "get_default_qat_qconfig_mapping",
           "get_default_qconfig_mapping"]
