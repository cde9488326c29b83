"""Quantizing a model module by module: observe, then replace."""

from __future__ import annotations

import copy
import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any

from jaxflow import nn
from jaxflow._core import dtype as dtypes
from jaxflow.ao.nn import intrinsic as nni
from jaxflow.ao.nn import quantized as nnq
from jaxflow.nn import Module
from jaxflow.nn.utils.parametrize import is_parametrized

from .observer import is_activation_post_process
from .qconfig import (
    activation_is_memoryless,
    default_dynamic_qconfig,
    float16_dynamic_qconfig,
    float_qparams_weight_only_qconfig,
)
from .quantization_mappings import (
    DEFAULT_MODULE_TO_ACT_POST_PROCESS,
    get_default_dynamic_quant_module_mappings,
    get_default_qat_module_mappings,
    get_default_qconfig_propagation_list,
    get_default_static_quant_module_mappings,
)
from .stubs import DeQuantStub, QuantWrapper


def _kind(module: Module) -> type:
    return type(module)


def _on_device(made: Any, module: Module) -> Any:
    """A new observer, where the module is."""
    for t in itertools.chain(module.parameters(), module.buffers()):
        return made.to(t.device)
    return made


def propagate_qconfig_(module: Module, qconfig_dict: dict | None = None,
                       prepare_custom_config_dict: dict | None = None) -> None:
    """Give each module its configuration: its own, that of its name or class, or that of the module it is in.

    Args:
        module: the model; its modules get the attribute ``qconfig``.
        qconfig_dict: configurations by names or classes; by ``""`` that of the model.
        prepare_custom_config_dict: names (``"non_traceable_module_name"``) or classes
            (``"non_traceable_module_class"``) that get none.

    Example:
        >>> model = nn.Sequential(nn.Linear(2, 2))
        >>> model.qconfig = torch.ao.quantization.default_qconfig
        >>> torch.ao.quantization.propagate_qconfig_(model)
        >>> model[0].qconfig == model.qconfig
        True
    """
    _propagate(module, qconfig_dict or {}, None, "", prepare_custom_config_dict or {})


def _propagate(module: Module, found: dict, parent: Any, prefix: str, custom: dict) -> None:
    own = found.get(_kind(module), parent)
    own = found.get(prefix, own)
    own = getattr(module, "qconfig", own)
    module.qconfig = own
    for name, child in module.named_children():
        path = f"{prefix}.{name}" if prefix else name
        if path in custom.get("non_traceable_module_name", ()) or type(child) in custom.get(
                "non_traceable_module_class", ()):
            continue
        _propagate(child, found, own, path, custom)


def _observer_hook(module: Module, args: Any, output: Any) -> Any:
    return module.activation_post_process(output)


def _observer_pre_hook(module: Module, args: Any) -> Any:
    return (module.activation_post_process(args[0]), *args[1:])


def _insert(module: Module, made: Any = None) -> None:
    """Let an observer see the results of a module."""
    if getattr(module, "qconfig", None) is None or hasattr(module, "activation_post_process"):
        return
    module.add_module("activation_post_process", _on_device((made or module.qconfig.activation)(), module))
    module.register_forward_hook(_observer_hook, prepend=True)


def _add_observers(module: Module, listed: set, non_leaf: Any, custom_classes: set) -> None:
    for _, child in module.named_children():
        if type(child) is nn.Dropout:
            continue
        config = getattr(child, "qconfig", None)
        if isinstance(child, (nnq.FloatFunctional, nnq.QFunctional)):
            if config is not None:  # its methods call it, and so there is no hook
                child.activation_post_process = _on_device(config.activation(), child)
        elif isinstance(child, nni._FusedModule):
            _insert(child)
        elif non_leaf is not None and type(child) in non_leaf:
            _insert(child)
        elif config is not None and type(child) in custom_classes:
            raise NotImplementedError("prepare(): float_to_observed_custom_module_class is not supported")
        elif child.training and type(child) in DEFAULT_MODULE_TO_ACT_POST_PROCESS:
            _insert(child, DEFAULT_MODULE_TO_ACT_POST_PROCESS[type(child)])
        else:
            _add_observers(child, listed, non_leaf, custom_classes)
    if (not module._modules and type(module) in listed and not isinstance(module, DeQuantStub)
            and not is_activation_post_process(module)):
        _insert(module)


def add_quant_dequant(module: Module) -> Module:
    """Wrap every module that has a ``qconfig`` of its own and no submodules in a `QuantWrapper`.

    Args:
        module: the model, which is changed where it is not wrapped itself.

    Returns:
        The model.

    Example:
        >>> layer = nn.Linear(1, 1)
        >>> layer.qconfig = torch.ao.quantization.default_qconfig
        >>> type(torch.ao.quantization.add_quant_dequant(layer)).__name__
        'QuantWrapper'
    """
    if not module._modules and getattr(module, "qconfig", None):
        return QuantWrapper(module)
    for name, child in module.named_children():
        module._modules[name] = add_quant_dequant(child)
    return module


def prepare(model: Module, inplace: bool = False, allow_list: Any = None,
            observer_non_leaf_module_list: Any = None,
            prepare_custom_config_dict: dict | None = None) -> Module:
    """Put observers into a model, by its ``qconfig``; then run it on typical inputs, and `convert` it.

    Args:
        model: a model whose ``qconfig``, or that of modules in it, says how to observe.
        inplace: whether the model itself is changed.
        allow_list: the classes that are observed; by default those that have a quantized form.
        observer_non_leaf_module_list: further classes, whose modules have others in them.
        prepare_custom_config_dict: of PyTorch's, only names and classes that are left out.

    Returns:
        The model with observers.

    Raises:
        NotImplementedError: for custom modules.

    Example:
        >>> q = torch.ao.quantization
        >>> model = q.QuantWrapper(nn.Linear(2, 2)).eval()
        >>> model.qconfig = q.get_default_qconfig("x86")
        >>> observed = q.prepare(model)
        >>> _ = observed(torch.randn(8, 2))
        >>> type(q.convert(observed).module).__name__
        'Linear'
    """
    custom = prepare_custom_config_dict or {}
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None, prepare_custom_config_dict=custom)
    if not any(getattr(m, "qconfig", None) for m in model.modules()):
        warnings.warn("None of the submodule got qconfig applied: nothing will be quantized. Set the "
                      "attribute `qconfig` of the model, or of modules in it", stacklevel=2)
    listed = get_default_qconfig_propagation_list() if allow_list is None else set(allow_list)
    _add_observers(model, listed, observer_non_leaf_module_list,
                   set(custom.get("float_to_observed_custom_module_class", ())))
    return model


def _remove_qconfig(module: Module) -> None:
    for child in module.modules():
        vars(child).pop("qconfig", None)
        if not isinstance(child, (nnq.FloatFunctional, nnq.QFunctional)):
            child._modules.pop("activation_post_process", None)
        for hooks in (child._forward_hooks, child._forward_pre_hooks):
            for key in [k for k, hook in hooks.items() if hook in (_observer_hook, _observer_pre_hook)]:
                hooks.pop(key)


def quantize(model: Module, run_fn: Callable, run_args: Any, mapping: dict | None = None,
             inplace: bool = False) -> Module:
    """Quantize a model after training: `prepare`, a run on typical inputs, `convert`.

    Args:
        model: a model with a ``qconfig``.
        run_fn: called as ``run_fn(model, *run_args)``.
        run_args: its further arguments.
        mapping: what stands for which class.
        inplace: whether the model itself is changed.

    Returns:
        The quantized model.

    Example:
        >>> q = torch.ao.quantization
        >>> model = q.QuantWrapper(nn.Linear(2, 2))
        >>> model.qconfig = q.default_qconfig
        >>> small = q.quantize(model, lambda model, x: model(x), (torch.randn(8, 2),))
        >>> small(torch.ones(1, 2)).shape
        torch.Size([1, 2])
    """
    mapping = get_default_static_quant_module_mappings() if mapping is None else mapping
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    prepare(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, mapping, inplace=True)
    return model


_LAYERS = (nn.Linear, nn.LSTM, nn.GRU, nn.LSTMCell, nn.RNNCell, nn.GRUCell)
_DYNAMIC = {
    dtypes.qint8: (default_dynamic_qconfig, _LAYERS), dtypes.float16: (float16_dynamic_qconfig, _LAYERS),
    dtypes.quint8: (float_qparams_weight_only_qconfig, (nn.EmbeddingBag, nn.Embedding)),
}


def quantize_dynamic(model: Module, qconfig_spec: Any = None, dtype: Any = dtypes.qint8,
                     mapping: dict | None = None, inplace: bool = False) -> Module:
    """A model whose weights are held in 8 bits or half precision, and whose inputs are rounded at each call.

    Args:
        model: the model.
        qconfig_spec: classes or names of modules, or configurations by them; by default linear and recurrent
            layers (with ``torch.quint8`` embeddings).
        dtype: ``torch.qint8``, ``torch.float16`` or ``torch.quint8``, where no configurations are given.
        mapping: what stands for which class.
        inplace: whether the model itself is changed.

    Returns:
        The quantized model.

    Raises:
        ValueError: for another dtype without ``qconfig_spec``.
        RuntimeError: for another dtype with it.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 2), nn.ReLU())
        >>> torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.float16)
        Sequential(
          (0): DynamicQuantizedLinear(in_features=4, out_features=2, dtype=torch.float16)
          (1): ReLU()
        )
    """
    if qconfig_spec is None:
        if dtype not in _DYNAMIC:
            raise ValueError(f"Don't know how to quantize with default settings for {dtype}. Provide full "
                             "qconfig please")
        config, kinds = _DYNAMIC[dtype]
        qconfig_spec = dict.fromkeys(kinds, config)
    elif isinstance(qconfig_spec, (set, frozenset)):
        if dtype not in _DYNAMIC:
            raise RuntimeError(f"Unknown dtype specified for quantize_dynamic: {dtype}")
        qconfig_spec = dict.fromkeys(qconfig_spec, _DYNAMIC[dtype][0])
    mapping = get_default_dynamic_quant_module_mappings() if mapping is None else mapping
    if not inplace:
        model = copy.deepcopy(model)
    model.eval()
    propagate_qconfig_(model, qconfig_spec)
    convert(model, mapping, inplace=True)
    return model


def prepare_qat(model: Module, mapping: dict | None = None, inplace: bool = False) -> Module:
    """Put fake quantization into a model in training mode, to train with it; then `convert` it.

    Args:
        model: a model in training mode with a ``qconfig``.
        mapping: what stands for which class.
        inplace: whether the model itself is changed.

    Returns:
        The model, whose layers round their weights and results as if.

    Raises:
        AssertionError: for a model in eval mode.

    Example:
        >>> q = torch.ao.quantization
        >>> model = q.QuantWrapper(nn.Linear(2, 2)).train()
        >>> model.qconfig = q.get_default_qat_qconfig("x86")
        >>> trained = q.prepare_qat(model)
        >>> trained(torch.ones(1, 2)).sum().backward()
        >>> trained.module.weight.grad.shape
        torch.Size([2, 2])
    """
    if not model.training:
        raise AssertionError("prepare_qat only works on models in training mode")
    mapping = get_default_qat_module_mappings() if mapping is None else mapping
    if not inplace:
        model = copy.deepcopy(model)
    propagate_qconfig_(model, qconfig_dict=None)
    convert(model, mapping=mapping, inplace=True, remove_qconfig=False)
    prepare(model, observer_non_leaf_module_list=set(mapping.values()), inplace=True)
    return model


def quantize_qat(model: Module, run_fn: Callable, run_args: Any, inplace: bool = False) -> Module:
    """Train a model with fake quantization, then quantize it.

    Args:
        model: a model with a ``qconfig``.
        run_fn: the training, called as ``run_fn(model, *run_args)``.
        run_args: its further arguments.
        inplace: whether the model itself is changed.

    Returns:
        The quantized model.

    Example:
        >>> q = torch.ao.quantization
        >>> model = q.QuantWrapper(nn.Linear(2, 2))
        >>> model.qconfig = q.get_default_qat_qconfig()
        >>> q.quantize_qat(model, lambda model: model(torch.ones(1, 2)), ())(torch.ones(1, 2)).shape
        torch.Size([1, 2])
    """
    if not inplace:
        model = copy.deepcopy(model)
    model.train()
    prepare_qat(model, inplace=True)
    run_fn(model, *run_args)
    convert(model, inplace=True)
    return model


def convert(module: Module, mapping: dict | None = None, inplace: bool = False, remove_qconfig: bool = True,
            is_reference: bool = False, convert_custom_config_dict: dict | None = None,
            use_precomputed_fake_quant: bool = False) -> Module:
    """Replace the modules of a prepared model by quantized ones.

    Args:
        module: the model that was prepared, and has seen typical inputs.
        mapping: what stands for which class.
        inplace: whether the model itself is changed.
        remove_qconfig: whether ``qconfig`` and observers are taken out of what stays.
        is_reference: refused with True: reference modules are not there.
        convert_custom_config_dict: refused where it names custom modules.
        use_precomputed_fake_quant: handed to ``from_float``.

    Returns:
        The model.

    Raises:
        NotImplementedError: for reference and custom modules.
    """
    if is_reference:
        raise NotImplementedError("convert(): reference modules (is_reference=True) are not supported")
    if (convert_custom_config_dict or {}).get("observed_to_quantized_custom_module_class"):
        raise NotImplementedError("convert(): custom modules are not supported")
    mapping = get_default_static_quant_module_mappings() if mapping is None else mapping
    if not inplace:
        module = copy.deepcopy(module)
    _convert(module, mapping, use_precomputed_fake_quant)
    if remove_qconfig:
        _remove_qconfig(module)
    return module


def _convert(module: Module, mapping: dict, precomputed: bool) -> None:
    new = {}
    for name, child in module.named_children():
        if not isinstance(child, nni._FusedModule) and type(child) not in mapping:
            _convert(child, mapping, precomputed)
        new[name] = swap_module(child, mapping, {}, precomputed)
    module._modules.update(new)


def swap_module(mod: Module, mapping: dict, custom_module_class_mapping: dict | None = None,
                use_precomputed_fake_quant: bool = False) -> Module:
    """The quantized module that stands for ``mod``; ``mod`` itself without ``qconfig`` or another class.

    Hooks of the module are kept, but those of observers.

    Args:
        mod: the module.
        mapping: classes by classes.
        custom_module_class_mapping: refused unless empty.
        use_precomputed_fake_quant: handed to ``from_float``.

    Returns:
        A module.
    """
    if custom_module_class_mapping:
        raise NotImplementedError("swap_module(): custom modules are not supported")
    kind = mapping.get(type(mod))
    if getattr(mod, "qconfig", None) is None or kind is None:
        return mod
    if is_parametrized(mod):
        raise NotImplementedError("a parametrized layer is not quantized: call remove_parametrizations()")
    if activation_is_memoryless(mod.qconfig) and hasattr(kind, "_mode") and mod.training:
        raise NotImplementedError("dynamic quantization in training is not supported for recurrent layers")
    options = {}
    if "use_precomputed_fake_quant" in inspect.signature(kind.from_float).parameters:
        options["use_precomputed_fake_quant"] = use_precomputed_fake_quant
    new = kind.from_float(mod, **options)
    for hook in mod._forward_pre_hooks.values():
        if hook is not _observer_pre_hook:
            new.register_forward_pre_hook(hook)
    for hook in mod._forward_hooks.values():
        if hook is not _observer_hook:
            new.register_forward_hook(hook)
    devices = {t.device for t in itertools.chain(mod.parameters(), mod.buffers())}
    if len(devices) > 1:
        raise AssertionError("swap_module only works with cpu or single-device CUDA modules, but got devices "
                             f"{devices}")
    return new
