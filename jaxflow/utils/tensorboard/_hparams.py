"""The parameters of a run, and its figures."""

from __future__ import annotations

from typing import Any

from jaxflow._core.tensor import Tensor

from ._convert_np import make_np
from ._messages import (
    Experiment,
    HParamInfo,
    HparamsEntry,
    HParamsPluginData,
    ListValue,
    MetricInfo,
    MetricName,
    SessionEndInfo,
    SessionStartInfo,
    StructValue,
    Summary,
    SummaryMetadata,
)

_STRING, _FLOAT64 = 1, 3
_SUCCESS = 1


def _kind_of(value: Any) -> tuple[str, int] | None:
    """The field of a value, and its type in the plugin. Truth values are integers, and go as numbers."""
    if isinstance(value, (int, float)):
        return "number_value", _FLOAT64
    return ("string_value", _STRING) if isinstance(value, str) else None


def _about(tag: str, **content: Any) -> Any:
    data = HParamsPluginData(version=0, **content).SerializeToString()
    metadata = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="hparams", content=data))
    return Summary(value=[Summary.Value(tag=f"_hparams_/{tag}", metadata=metadata)])


def hparams(hparam_dict: dict | None = None, metric_dict: dict | None = None,
            hparam_domain_discrete: dict | None = None) -> tuple[Any, Any, Any]:
    """Three summaries of a run with parameters: the experiment, the session's start and its end.

    Args:
        hparam_dict: parameters by name: numbers, strings, truth values, tensors of one element. None is left
            out.
        metric_dict: figures by tag; only the tags are written.
        hparam_domain_discrete: by name, a list of all values that a parameter may have.

    Returns:
        The summaries, in this order.

    Raises:
        TypeError: for what is no dict, and a list of values of another type than the parameter.
        ValueError: for a parameter of another type.
    """
    for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict),
                        ("hparam_domain_discrete", hparam_domain_discrete or {})):
        if not isinstance(given, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    domains = hparam_domain_discrete or {}
    for name, allowed in domains.items():
        if name not in hparam_dict or not isinstance(allowed, list) or not all(
                isinstance(value, type(hparam_dict[name])) for value in allowed):
            raise TypeError(f"parameter: hparam_domain_discrete[{name}] should be a list of same type as "
                            f"hparam_dict[{name}].")
    infos, entries = [], []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        domain = domains.get(name)
        if isinstance(value, Tensor):
            value, domain = make_np(value)[0].item(), None
        kind = _kind_of(value)
        if kind is None:
            raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")
        field, number = kind
        if domain is not None:
            domain = ListValue(values=[StructValue(**{field: each}) for each in domain])
        entries.append(HparamsEntry(key=name, value=StructValue(**{field: value})))
        infos.append(HParamInfo(name=name, type=number, domain_discrete=domain))
    metrics = [MetricInfo(name=MetricName(tag=tag)) for tag in metric_dict]
    return (_about("experiment", experiment=Experiment(hparam_infos=infos, metric_infos=metrics)),
            _about("session_start_info", session_start_info=SessionStartInfo(hparams=entries)),
            _about("session_end_info", session_end_info=SessionEndInfo(status=_SUCCESS)))
