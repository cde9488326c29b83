"""Instance normalisation: over the positions of each sample and channel."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.batchnorm import _LazyNormBase, _NormBase


class _InstanceNorm(_NormBase):
    """Like batch normalisation of one sample at a time; by default nothing is learned or tracked.

    Args are those of batch normalisation.
    """

    _unbatched: int  # dimensions of an input without a batch

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        n = self._unbatched
        if input.dim() not in (n, n + 1):
            raise ValueError(f"expected {n}D or {n + 1}D input (got {input.dim()}D input)")

    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``, with or without a batch.

        Raises:
            ValueError: for other numbers of dimensions, or of channels where they matter.
        """
        self._check_input_dim(input)
        channels = input.dim() - self._unbatched
        found = input.size(channels)
        if found != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={channels} to match num_features "
                    f"({self.num_features}), but got: {found}."
                )
            warnings.warn(
                f"input's size at dim={channels} does not match num_features. You can silence this "
                "warning by not passing in num_features, which is not used because affine=False",
                stacklevel=2,
            )
        if channels == 0:
            return self._normalize(input.unsqueeze(0)).squeeze(0)
        return self._normalize(input)

    def _normalize(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:
            stale = [
                key
                for key in (prefix + "running_mean", prefix + "running_var")
                if key in state_dict
            ]
            if stale:
                names = " and ".join(f'"{key}"' for key in stale)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {names} for {type(self).__name__} with "
                    "track_running_stats=False: the checkpoint tracked them. Remove them from the "
                    "state_dict, or make the layer with track_running_stats=True."
                )
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalises ``(N, C, L)`` or ``(C, L)`` over the positions.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, where mean and variance are those of one
    channel of one sample (the variance divided by the number of positions). With ``track_running_stats``,
    evaluation uses the running statistics instead, which move in training as those of `BatchNorm1d` do,
    towards the mean over the samples. From Ulyanov, Vedaldi and Lempitsky, "Instance Normalization: The
    Missing Ingredient for Fast Stylization", 2016.

    It is called with ``input`` of that shape, floating point, and returns the same shape and dtype.
    ``weight`` and ``bias``, with ``affine``, have the shape ``(C,)`` and start as 1 and 0.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; with None they stay as they are.
        affine: whether to learn a scale (default: no).
        track_running_stats: whether to keep running statistics (default: no).
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions, for another number of channels with
            ``affine``, or for one position per channel where its own statistics are used.

    Example:
        >>> norm = nn.InstanceNorm1d(2)
        >>> norm(torch.tensor([[[1.0, 3.0], [10.0, 2.0]]])).round()
        tensor([[[-1.,  1.],
                 [ 1., -1.]]])
    """

    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    """Normalises ``(N, C, H, W)`` or ``(C, H, W)`` over the positions.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, where mean and variance are those of one
    channel of one sample (the variance divided by the number of positions). With ``track_running_stats``,
    evaluation uses the running statistics instead, which move in training as those of `BatchNorm2d` do,
    towards the mean over the samples. From Ulyanov, Vedaldi and Lempitsky, "Instance Normalization: The
    Missing Ingredient for Fast Stylization", 2016.

    It is called with ``input`` of that shape, floating point, and returns the same shape and dtype.
    ``weight`` and ``bias``, with ``affine``, have the shape ``(C,)`` and start as 1 and 0.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; with None they stay as they are.
        affine: whether to learn a scale (default: no).
        track_running_stats: whether to keep running statistics (default: no).
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions, for another number of channels with
            ``affine``, or for one position per channel where its own statistics are used.

    Example:
        >>> norm = nn.InstanceNorm2d(3, affine=True)
        >>> norm(torch.ones(2, 3, 4, 4)).shape, norm.weight.shape
        (torch.Size([2, 3, 4, 4]), torch.Size([3]))
        >>> nn.InstanceNorm2d(3)(torch.full((3, 4, 4), 5.0)).count_nonzero()  # the mean is taken off
        tensor(0)
    """

    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    """Normalises ``(N, C, D, H, W)`` or ``(C, D, H, W)`` over the positions.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, where mean and variance are those of one
    channel of one sample (the variance divided by the number of positions). With ``track_running_stats``,
    evaluation uses the running statistics instead, which move in training as those of `BatchNorm3d` do,
    towards the mean over the samples. From Ulyanov, Vedaldi and Lempitsky, "Instance Normalization: The
    Missing Ingredient for Fast Stylization", 2016.

    It is called with ``input`` of that shape, floating point, and returns the same shape and dtype.
    ``weight`` and ``bias``, with ``affine``, have the shape ``(C,)`` and start as 1 and 0.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; with None they stay as they are.
        affine: whether to learn a scale (default: no).
        track_running_stats: whether to keep running statistics (default: no).
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions, for another number of channels with
            ``affine``, or for one position per channel where its own statistics are used.

    Example:
        >>> norm = nn.InstanceNorm3d(1, track_running_stats=True, momentum=0.5)
        >>> norm(torch.full((1, 1, 2, 2, 2), 4.0)).shape
        torch.Size([1, 1, 2, 2, 2])
        >>> norm.running_mean, norm.running_var
        (tensor([2.]), tensor([0.5000]))
    """

    _unbatched = 4


class _LazyInstanceNorm(_LazyNormBase):
    def _size_of(self, input: Tensor) -> int:
        return input.shape[max(input.dim() - self._unbatched, 0)]


class LazyInstanceNorm1d(_LazyInstanceNorm, _InstanceNorm):
    """A `InstanceNorm1d` that takes its ``num_features`` from the first input, ``(C, L)`` or ``(N, C, L)``.

    Until it is called its parameters and statistics have no shape; the first call gives them shapes and
    values and makes the module a `InstanceNorm1d`. A checkpoint can be loaded before.

    Args:
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale; here True.
        track_running_stats: whether to keep running statistics; here True.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions.

    Example:
        >>> norm = nn.LazyInstanceNorm1d()
        >>> norm(torch.ones(2, 3, 4)).shape
        torch.Size([2, 3, 4])
        >>> type(norm).__name__, norm.num_features, norm.running_mean.shape
        ('InstanceNorm1d', 3, torch.Size([3]))
    """

    cls_to_become = InstanceNorm1d
    _unbatched = 2


class LazyInstanceNorm2d(_LazyInstanceNorm, _InstanceNorm):
    """A `InstanceNorm2d` that takes its ``num_features`` from the first input, ``(C, H, W)`` or ``(N, C, H,
    W)``.

    Until it is called its parameters and statistics have no shape; the first call gives them shapes and
    values and makes the module a `InstanceNorm2d`. A checkpoint can be loaded before.

    Args:
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale; here True.
        track_running_stats: whether to keep running statistics; here True.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions.

    Example:
        >>> norm = nn.LazyInstanceNorm2d()
        >>> norm(torch.ones(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])
        >>> type(norm).__name__, norm.num_features, norm.running_mean.shape
        ('InstanceNorm2d', 3, torch.Size([3]))
    """

    cls_to_become = InstanceNorm2d
    _unbatched = 3


class LazyInstanceNorm3d(_LazyInstanceNorm, _InstanceNorm):
    """A `InstanceNorm3d` that takes its ``num_features`` from the first input, ``(C, D, H, W)`` or ``(N, C,
    D, H, W)``.

    Until it is called its parameters and statistics have no shape; the first call gives them shapes and
    values and makes the module a `InstanceNorm3d`. A checkpoint can be loaded before.

    Args:
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale; here True.
        track_running_stats: whether to keep running statistics; here True.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions.

    Example:
        >>> norm = nn.LazyInstanceNorm3d()
        >>> norm(torch.ones(2, 3, 4, 4, 4)).shape
        torch.Size([2, 3, 4, 4, 4])
        >>> type(norm).__name__, norm.num_features, norm.running_mean.shape
        ('InstanceNorm3d', 3, torch.Size([3]))
    """

    cls_to_become = InstanceNorm3d
    _unbatched = 4
