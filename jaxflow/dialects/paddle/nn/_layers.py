"""Paddle's layers: a function of ``nn.functional`` each, and the parameters it takes."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from typing import Any

import jaxflow
from jaxflow import nn
from jaxflow.nn import init

from .._composed import ints
from .._places import DIALECT
from .._tensor import Tensor
from ._layer import Layer, create_parameter
from .functional import FUNCTIONS

# Layers without parameters: the function, whose arguments after the tensors are the layer's.
CALLS = dict(
    ReLU="relu", ReLU6="relu6", Sigmoid="sigmoid", Tanh="tanh", Silu="silu", Swish="swish", Mish="mish",
    Softsign="softsign", Tanhshrink="tanhshrink", Hardswish="hardswish", LogSigmoid="log_sigmoid",
    GELU="gelu", ELU="elu", CELU="celu", SELU="selu", LeakyReLU="leaky_relu", Hardtanh="hardtanh",
    Hardshrink="hardshrink", Hardsigmoid="hardsigmoid", Softshrink="softshrink", Softplus="softplus",
    ThresholdedReLU="thresholded_relu", Softmax="softmax", LogSoftmax="log_softmax", GLU="glu",
    Dropout="dropout", Dropout2D="dropout2d", Dropout3D="dropout3d", AlphaDropout="alpha_dropout",
    MaxPool1D="max_pool1d", MaxPool2D="max_pool2d", MaxPool3D="max_pool3d", AvgPool1D="avg_pool1d",
    AvgPool2D="avg_pool2d", AvgPool3D="avg_pool3d", AdaptiveAvgPool1D="adaptive_avg_pool1d",
    AdaptiveAvgPool2D="adaptive_avg_pool2d", AdaptiveAvgPool3D="adaptive_avg_pool3d",
    AdaptiveMaxPool1D="adaptive_max_pool1d", AdaptiveMaxPool2D="adaptive_max_pool2d",
    AdaptiveMaxPool3D="adaptive_max_pool3d", Unfold="unfold", Fold="fold", PixelShuffle="pixel_shuffle",
    PixelUnshuffle="pixel_unshuffle", ChannelShuffle="channel_shuffle", Upsample="interpolate",
    LocalResponseNorm="local_response_norm", CosineSimilarity="cosine_similarity",
    PairwiseDistance="pairwise_distance", CrossEntropyLoss="cross_entropy", NLLLoss="nll_loss",
    MSELoss="mse_loss", L1Loss="l1_loss", SmoothL1Loss="smooth_l1_loss", BCELoss="binary_cross_entropy",
    BCEWithLogitsLoss="binary_cross_entropy_with_logits", KLDivLoss="kl_div",
    SoftMarginLoss="soft_margin_loss", MarginRankingLoss="margin_ranking_loss",
    HingeEmbeddingLoss="hinge_embedding_loss", CosineEmbeddingLoss="cosine_embedding_loss",
    TripletMarginLoss="triplet_margin_loss",
)
_TENSORS = frozenset("x y x1 x2 input label logit other input1 input2 positive negative".split())


class _Call(Layer):
    """Base of the layers that are one call."""

    _function: str
    _signature: inspect.Signature
    _training: bool

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        bound.arguments.pop("name", None)
        self._settings = dict(bound.arguments)

    def forward(self, *tensors: Tensor) -> Any:
        """The function of the tensors and the settings."""
        mode = {"training": self.training} if self._training else {}
        return FUNCTIONS[self._function](*tensors, **self._settings, **mode)

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._settings.items())


def _call(name: str, function: str) -> type:
    every = inspect.signature(FUNCTIONS[function]).parameters.values()
    kept = [p for p in every if p.name not in _TENSORS and p.name != "training"]
    return type(name, (_Call,), {
        "_function": function, "_signature": inspect.Signature(kept), "__module__": Layer.__module__,
        "_training": any(p.name == "training" for p in every),
        "__doc__": f"``nn.functional.{function}`` as a layer.",
    })


globals().update({name: _call(name, function) for name, function in CALLS.items()})


class Identity(Layer):
    """Returns its input; the constructor's arguments are accepted and ignored."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """``input`` itself."""
        return input


class Flatten(Layer):
    """Several dimensions as one."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Tensor) -> Tensor:
        """``input`` with the dimensions from ``start_axis`` to ``stop_axis`` flattened."""
        return jaxflow.flatten(input, self.start_axis, self.stop_axis)


class Linear(Layer):
    """``x @ weight + bias``; the weight is ``[in_features, out_features]``."""

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = create_parameter([in_features, out_features], weight_attr)
        self.bias = create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Tensor:
        """``[..., in_features]`` to ``[..., out_features]``."""
        out = input @ self.weight
        return out if self.bias is None else out + self.bias

    def extra_repr(self) -> str:
        sizes = f"in_features={self.in_features}, out_features={self.out_features}"
        return f"{sizes}, dtype={self.weight.dtype.name}"


class _BatchNorm(Layer):
    """Base of the batch normalizations: ``momentum`` is the share of the old statistics."""

    def __init__(
        self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-5, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str = "NCHW", use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._settings = dict(
            momentum=momentum, epsilon=epsilon, data_format=data_format, use_global_stats=use_global_stats
        )
        self.weight = create_parameter([num_features], weight_attr, default_initializer=init.ones_)
        self.bias = create_parameter([num_features], bias_attr, is_bias=True)
        self.register_buffer("_mean", DIALECT.wrap(jaxflow.zeros(num_features)))
        self.register_buffer("_variance", DIALECT.wrap(jaxflow.ones(num_features)))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalized over all dimensions but the second."""
        return FUNCTIONS["batch_norm"](
            x, self._mean, self._variance, self.weight, self.bias, self.training, **self._settings
        )


class BatchNorm1D(_BatchNorm):
    """Batch normalization of ``[N, C]`` or ``[N, C, L]``."""


class BatchNorm2D(_BatchNorm):
    """Batch normalization of ``[N, C, H, W]``."""


class BatchNorm3D(_BatchNorm):
    """Batch normalization of ``[N, C, D, H, W]``."""


class _Conv(Layer):
    """Base of the convolutions; the weight is ``[out, in / groups, *kernel]``."""

    _dims: int

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, padding_mode: str = "zeros", weight_attr: Any = None,
        bias_attr: Any = None, data_format: str | None = None,
    ) -> None:
        super().__init__()
        if padding_mode != "zeros":
            raise ValueError(f"padding_mode={padding_mode!r} is not supported: use nn.functional.pad first")
        kernel = ints(kernel_size) * (self._dims if isinstance(kernel_size, int) else 1)
        self._settings = dict(stride=stride, padding=padding, dilation=dilation, groups=groups)
        if data_format is not None:
            self._settings["data_format"] = data_format
        self.weight = create_parameter(
            [out_channels, in_channels // groups, *kernel], weight_attr,
            default_initializer=lambda weight: init.kaiming_normal_(weight, nonlinearity="relu"),
        )
        self.bias = create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` convolved."""
        return FUNCTIONS[f"conv{self._dims}d"](x, self.weight, self.bias, **self._settings)


class Conv1D(_Conv):
    """Convolution of ``[N, C, L]``."""

    _dims = 1


class Conv2D(_Conv):
    """Convolution of ``[N, C, H, W]``."""

    _dims = 2


class Conv3D(_Conv):
    """Convolution of ``[N, C, D, H, W]``."""

    _dims = 3


class _ConvTranspose(Layer):
    """Base of the transposed convolutions; the weight is ``[in, out / groups, *kernel]``."""

    _dims: int

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, dilation: Any = 1, groups: int = 1, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str | None = None,
    ) -> None:
        super().__init__()
        kernel = ints(kernel_size) * (self._dims if isinstance(kernel_size, int) else 1)
        self._settings = dict(
            stride=stride, padding=padding, output_padding=output_padding, dilation=dilation, groups=groups
        )
        if data_format is not None:
            self._settings["data_format"] = data_format
        self.weight = create_parameter([in_channels, out_channels // groups, *kernel], weight_attr)
        self.bias = create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """``x``, spread out by the kernel."""
        return FUNCTIONS[f"conv{self._dims}d_transpose"](x, self.weight, self.bias, **self._settings)


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution of ``[N, C, L]``."""

    _dims = 1


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution of ``[N, C, H, W]``."""

    _dims = 2


class _InstanceNorm(Layer):
    """Base of the normalizations of every channel of every sample."""

    def __init__(
        self, num_features: int, epsilon: float = 1e-5, momentum: float = 0.9, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str = "NCHW", name: str | None = None,
    ) -> None:
        super().__init__()
        self._settings = dict(eps=epsilon, momentum=momentum, data_format=data_format)
        self.scale = create_parameter([num_features], weight_attr, default_initializer=init.ones_)
        self.bias = create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalized."""
        return FUNCTIONS["instance_norm"](x, weight=self.scale, bias=self.bias, **self._settings)


class InstanceNorm1D(_InstanceNorm):
    """Instance normalization of ``[N, C, L]``."""


class InstanceNorm2D(_InstanceNorm):
    """Instance normalization of ``[N, C, H, W]``."""


class InstanceNorm3D(_InstanceNorm):
    """Instance normalization of ``[N, C, D, H, W]``."""


class PReLU(Layer):
    """A rectifier whose negative side has a learned slope, one for all or one a channel."""

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, weight_attr: Any = None, data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._data_format = data_format
        self._weight = create_parameter(
            [num_parameters], weight_attr, default_initializer=lambda weight: weight.fill_(init)
        )

    def forward(self, x: Tensor) -> Tensor:
        """``x`` where it is positive, else the slope times it."""
        return FUNCTIONS["prelu"](x, self._weight, self._data_format)


class _Pad(Layer):
    """Base of the paddings: the same at both ends for an int, else pairs from the last dimension."""

    _dims: int

    def __init__(
        self, padding: Any, mode: str = "constant", value: float = 0.0, data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        pairs = [padding] * (2 * self._dims) if isinstance(padding, int) else list(ints(padding))
        self._settings = dict(pad=pairs, mode=mode, value=value, data_format=data_format)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` with a border."""
        return FUNCTIONS["pad"](x, **self._settings)


class Pad1D(_Pad):
    """Padding of ``[N, C, L]``."""

    _dims = 1


class Pad2D(_Pad):
    """Padding of ``[N, C, H, W]``."""

    _dims = 2


class Pad3D(_Pad):
    """Padding of ``[N, C, D, H, W]``."""

    _dims = 3


class Embedding(Layer):
    """A row of the weight for every index."""

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, sparse: bool = False,
        weight_attr: Any = None, name: str | None = None,
    ) -> None:
        super().__init__()
        self._padding_idx = padding_idx
        self.weight = create_parameter([num_embeddings, embedding_dim], weight_attr)
        if padding_idx is not None:
            with jaxflow.no_grad():
                self.weight[padding_idx] = 0.0

    def forward(self, x: Tensor) -> Tensor:
        """The rows of the indices ``x``."""
        return FUNCTIONS["embedding"](x, self.weight, self._padding_idx)


class LayerNorm(Layer):
    """Normalization over the last dimensions."""

    def __init__(
        self, normalized_shape: Any, epsilon: float = 1e-5, weight_attr: Any = None, bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._shape, self._epsilon = ints(normalized_shape), epsilon
        self.weight = create_parameter(self._shape, weight_attr, default_initializer=init.ones_)
        self.bias = create_parameter(self._shape, bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalized."""
        return FUNCTIONS["layer_norm"](x, self._shape, self.weight, self.bias, self._epsilon)


class GroupNorm(Layer):
    """Normalization over groups of channels."""

    def __init__(
        self, num_groups: int, num_channels: int, epsilon: float = 1e-5, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str = "NCHW", name: str | None = None,
    ) -> None:
        super().__init__()
        self._settings = dict(num_groups=num_groups, epsilon=epsilon, data_format=data_format)
        self.weight = create_parameter([num_channels], weight_attr, default_initializer=init.ones_)
        self.bias = create_parameter([num_channels], bias_attr, is_bias=True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalized."""
        return FUNCTIONS["group_norm"](x, weight=self.weight, bias=self.bias, **self._settings)


class Sequential(DIALECT.layer(nn.Sequential)):
    """Layers one after the other; each may come as a pair of its name and itself."""

    def __init__(self, *layers: Any) -> None:
        if layers and all(isinstance(layer, (tuple, list)) for layer in layers):
            super().__init__(OrderedDict(layers))
        else:
            super().__init__(*layers)


class LayerList(DIALECT.layer(nn.ModuleList)):
    """Layers in a list."""


class LayerDict(DIALECT.layer(nn.ModuleDict)):
    """Layers in a dict."""


class ParameterList(DIALECT.layer(nn.ParameterList)):
    """Parameters in a list."""


LAYERS = {
    name: value for name, value in list(globals().items())
    if isinstance(value, type) and issubclass(value, Layer) and not name.startswith("_")
}
