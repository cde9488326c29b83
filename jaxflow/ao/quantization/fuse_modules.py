"""Putting layers that are quantized together into one module."""

from __future__ import annotations

import copy
from typing import Any

from jaxflow import nn
from jaxflow.ao.nn import intrinsic as nni
from jaxflow.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval

_CONVS = {d: getattr(nn, f"Conv{d}d") for d in (1, 2, 3)}
_NORMS = {d: getattr(nn, f"BatchNorm{d}d") for d in (1, 2, 3)}


def _same_mode(*layers: nn.Module) -> None:
    if len({m.training for m in layers}) > 1:
        raise AssertionError("Conv and BN both must be in the same mode (train or eval).")


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> Any:
    """A convolution and its normalization: trained together as ``ConvBn2d``, else as one convolution."""
    _same_mode(conv, bn)
    dims = next(d for d, kind in _CONVS.items() if isinstance(conv, kind))
    if is_qat:
        if bn.num_features != conv.out_channels:
            raise AssertionError("Output channel of Conv2d must match num_features of BatchNorm2d")
        if not (bn.affine and bn.track_running_stats):
            raise AssertionError("Only support fusing BatchNorm2d with affine and tracking_running_stats "
                                 "set to True")
        return getattr(nni, f"ConvBn{dims}d")(conv, bn)
    return fuse_conv_bn_eval(conv, bn)


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: Any) -> Any:
    """A convolution, its normalization and a ReLU as one module."""
    _same_mode(conv, bn, relu)
    dims = next(d for d, kind in _CONVS.items() if isinstance(conv, kind))
    if is_qat:
        fuse_conv_bn(True, conv, bn)
        return getattr(nni, f"ConvBnReLU{dims}d")(conv, bn, relu)
    return getattr(nni, f"ConvReLU{dims}d")(fuse_conv_bn_eval(conv, bn), relu)


def fuse_linear_bn(is_qat: bool, linear: Any, bn: Any) -> Any:
    """A linear layer and its normalization: trained together as ``LinearBn1d``, else as one layer."""
    _same_mode(linear, bn)
    if is_qat:
        raise NotImplementedError("torch.ao.quantization.fuse_modules_qat(): a linear layer and a batch norm "
                                  "are not trained together with fake quantization")
    return fuse_linear_bn_eval(linear, bn)


def _plain(kind: type) -> Any:
    return lambda is_qat, *layers: kind(*layers)


_METHODS: dict[tuple, Any] = {
    **{(_CONVS[d], _NORMS[d]): fuse_conv_bn for d in (1, 2, 3)},
    **{(_CONVS[d], _NORMS[d], nn.ReLU): fuse_conv_bn_relu for d in (1, 2, 3)},
    **{(_CONVS[d], nn.ReLU): _plain(getattr(nni, f"ConvReLU{d}d")) for d in (1, 2, 3)},
    (nn.Linear, nn.ReLU): _plain(nni.LinearReLU), (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.BatchNorm2d, nn.ReLU): _plain(nni.BNReLU2d), (nn.BatchNorm3d, nn.ReLU): _plain(nni.BNReLU3d),
}


def fuse_known_modules(mod_list: list, is_qat: bool,
                       additional_fuser_method_mapping: dict | None = None) -> list:
    """The modules that stand for those of a list: what they are fused to, then identities.

    Raises:
        NotImplementedError: for modules that are not fused.
    """
    kinds = tuple(type(m) for m in mod_list)
    method = {**_METHODS, **(additional_fuser_method_mapping or {})}.get(kinds)
    if method is None:
        raise NotImplementedError(f"Cannot fuse modules: {kinds}")
    fused = method(is_qat, *mod_list)
    for first, hooks, register in ((mod_list[0], "_forward_pre_hooks", "register_forward_pre_hook"),
                                   (mod_list[-1], "_forward_hooks", "register_forward_hook")):
        for hook in getattr(first, hooks).values():
            getattr(fused, register)(hook)
    rest = []
    for _ in mod_list[1:]:
        identity = nn.Identity()
        identity.training = mod_list[0].training
        rest.append(identity)
    return [fused, *rest]


def _fuse(model: nn.Module, names: list, is_qat: bool, fuser: Any, more: dict | None) -> None:
    found = [model.get_submodule(name) for name in names]
    for name, new in zip(names, fuser(found, is_qat, more), strict=True):
        parent, _, last = name.rpartition(".")
        setattr(model.get_submodule(parent), last, new)


def _fused(model: nn.Module, modules_to_fuse: list, is_qat: bool, inplace: bool, fuser: Any,
           custom: dict | None) -> nn.Module:
    if not inplace:
        model = copy.deepcopy(model)
    more = (custom or {}).get("additional_fuser_method_mapping")
    nested = modules_to_fuse and all(isinstance(x, (list, tuple)) for x in modules_to_fuse)
    for names in modules_to_fuse if nested else [modules_to_fuse]:
        _fuse(model, list(names), is_qat, fuser, more)
    return model


def fuse_modules(model: nn.Module, modules_to_fuse: list, inplace: bool = False,
                 fuser_func: Any = fuse_known_modules,
                 fuse_custom_config_dict: dict | None = None) -> nn.Module:
    """A model in eval mode whose layers of these names are one module: the first; the others are identities.

    A normalization is taken into the weight of what is before it.

    Args:
        model: the model.
        modules_to_fuse: a list of names, or of lists of names: convolution or linear layer, batch norm, ReLU.
        inplace: whether the model itself is changed.
        fuser_func: what fuses a list of modules.
        fuse_custom_config_dict: further methods, by ``"additional_fuser_method_mapping"``.

    Returns:
        The model.

    Raises:
        NotImplementedError: for modules that are not fused.

    Example:
        >>> model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1), nn.ReLU()).eval()
        >>> torch.ao.quantization.fuse_modules(model, ["0", "1", "2"])
        Sequential(
          (0): ConvReLU2d(
            (0): Conv2d(1, 1, kernel_size=(1, 1), stride=(1, 1))
            (1): ReLU()
          )
          (1): Identity()
          (2): Identity()
        )
    """
    return _fused(model, modules_to_fuse, False, inplace, fuser_func, fuse_custom_config_dict)


def fuse_modules_qat(model: nn.Module, modules_to_fuse: list, inplace: bool = False,
                     fuser_func: Any = fuse_known_modules,
                     fuse_custom_config_dict: dict | None = None) -> nn.Module:
    """`fuse_modules` of a model in training mode: a normalization stays, and is trained with its layer.

    Args:
        model, modules_to_fuse, inplace, fuser_func, fuse_custom_config_dict: as of `fuse_modules`.

    Returns:
        The model.

    Example:
        >>> model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)).train()
        >>> type(torch.ao.quantization.fuse_modules_qat(model, ["0", "1"])[0]).__name__
        'ConvBn2d'
    """
    return _fused(model, modules_to_fuse, True, inplace, fuser_func, fuse_custom_config_dict)
