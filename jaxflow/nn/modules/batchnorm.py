"""Batch normalisation: over a batch, channel by channel, with running statistics for evaluation."""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core import dtype as dtypes
from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn import init
from jaxflow.nn.modules.lazy import Waiting
from jaxflow.nn.modules.module import Module
from jaxflow.nn.modules.normalization import _add_affine
from jaxflow.nn.parameter import UninitializedBuffer, UninitializedParameter


class _NormBase(Module):
    """Learned scale and shift per channel, and running mean and variance.

    Args:
        num_features: how many channels, in dimension 1.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics; without them evaluation uses its
            batch.
        device: where to put the parameters.
        dtype: their dtype.
        bias: whether to learn a shift as well.
    """

    _version = 2
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        _add_affine(self, (num_features,), affine, bias, device, dtype)
        mean = var = batches = None
        if track_running_stats:
            mean = functions.zeros(num_features, device=device, dtype=dtype)
            var = functions.ones(num_features, device=device, dtype=dtype)
            batches = functions.tensor(0, dtype=dtypes.int64, device=device)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", batches)

    def reset_running_stats(self) -> None:
        """Running mean 0, running variance 1, no batches counted."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the running statistics, the scale to 1 and the shift to 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
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
        version = local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats:
            # Checkpoints of version 1 did not count batches.
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                counted = self.num_batches_tracked
                state_dict[key] = functions.tensor(0) if counted is None else counted
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    def forward(self, input: Tensor) -> Tensor:
        """Same shape and dtype as ``input``.

        Raises:
            ValueError: for other numbers of dimensions, or a training batch of one value per
                channel.
        """
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        updates = self.training and self.track_running_stats
        if updates and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        # A batch is normalised by its own statistics in training, and where there are no others.
        own_statistics = self.training or (self.running_mean is None and self.running_var is None)
        keeps = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if keeps else None,
            self.running_var if keeps else None,
            self.weight,
            self.bias,
            own_statistics,
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Normalises ``(N, C)`` or ``(N, C, L)`` over all but the channels.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, channel by channel. In training, mean and
    variance are those of the batch (the variance divided by the number of values), and the running
    statistics move: ``running = (1 - momentum) * running + momentum * new``, where the new variance is the
    unbiased one. In evaluation, the running statistics are used. From Ioffe and Szegedy, "Batch
    Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift", 2015.

    It is called with ``input`` of that shape, floating point, and returns the same shape and dtype.
    ``weight`` and ``bias`` have the shape ``(C,)`` and start as 1 and 0, as do ``running_var`` and
    ``running_mean``.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics; without them evaluation uses its batch.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions, or in training for one value per channel.
        RuntimeError: when called, for another number of channels.
        NotImplementedError: when called with integers.

    Example:
        >>> norm = nn.BatchNorm1d(2, momentum=0.5)
        >>> norm(torch.tensor([[1.0, 2.0], [3.0, 6.0]])).round().tolist()
        [[-1.0, -1.0], [1.0, 1.0]]
        >>> norm.running_mean, norm.running_var  # halfway from 0 and 1 to the batch's 2, 4 and 2, 8
        (tensor([1., 2.]), tensor([1.5000, 4.5000]))
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Normalises ``(N, C, H, W)`` over all but the channels.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, channel by channel. In training, mean and
    variance are those of the batch (the variance divided by the number of values), and the running
    statistics move: ``running = (1 - momentum) * running + momentum * new``, where the new variance is the
    unbiased one. In evaluation, the running statistics are used. From Ioffe and Szegedy, "Batch
    Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift", 2015.

    It is called with ``input`` of that shape, floating point, and returns the same shape and dtype.
    ``weight`` and ``bias`` have the shape ``(C,)`` and start as 1 and 0, as do ``running_var`` and
    ``running_mean``.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics; without them evaluation uses its batch.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions, or in training for one value per channel.
        RuntimeError: when called, for another number of channels.
        NotImplementedError: when called with integers.

    Example:
        >>> norm = nn.BatchNorm2d(3, momentum=0.5)
        >>> norm(torch.full((2, 3, 4, 4), 6.0)).shape
        torch.Size([2, 3, 4, 4])
        >>> norm.running_mean, norm.num_batches_tracked
        (tensor([3., 3., 3.]), tensor(1))
        >>> norm.eval()(torch.full((1, 3, 1, 1), 3.0)).flatten().tolist()
        [0.0, 0.0, 0.0]
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Normalises ``(N, C, D, H, W)`` over all but the channels.

    ``output = (input - mean) / sqrt(var + eps) * weight + bias``, channel by channel. In training, mean and
    variance are those of the batch (the variance divided by the number of values), and the running
    statistics move: ``running = (1 - momentum) * running + momentum * new``, where the new variance is the
    unbiased one. In evaluation, the running statistics are used. From Ioffe and Szegedy, "Batch
    Normalization: Accelerating Deep Network Training by Reducing Internal Covariate Shift", 2015.

    It is called with ``input`` of that shape, floating point, and returns the same shape and dtype.
    ``weight`` and ``bias`` have the shape ``(C,)`` and start as 1 and 0, as do ``running_var`` and
    ``running_mean``.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics; without them evaluation uses its batch.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions, or in training for one value per channel.
        RuntimeError: when called, for another number of channels.
        NotImplementedError: when called with integers.

    Example:
        >>> norm = nn.BatchNorm3d(2, momentum=None)
        >>> norm(torch.full((1, 2, 2, 2, 2), 6.0)).shape
        torch.Size([1, 2, 2, 2, 2])
        >>> _ = norm(torch.zeros(1, 2, 2, 2, 2))
        >>> norm.running_mean  # the mean of both batches
        tensor([3., 3.])
    """

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes of a group, of which there is one.

    Shapes: ``(N, C, ...)`` to the same. It computes what `BatchNorm2d` does, for inputs of two or more
    dimensions.

    Args:
        num_features: how many channels, ``C``.
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics; without them evaluation uses its batch.
        process_group: whose batches are meant; default: the world.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for inputs of fewer than two dimensions, or in training for one value per
            channel.
        RuntimeError: when called, for another number of channels.

    Example:
        >>> net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
        >>> net = nn.SyncBatchNorm.convert_sync_batchnorm(net)
        >>> type(net[1]).__name__, net(torch.ones(2, 4)).shape
        ('SyncBatchNorm', torch.Size([2, 3]))
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """``module`` with each of its batch normalisations, itself too, replaced by one of this class.

        Parameters and running statistics are the same objects as before.

        Args:
            module: the layer to look into; its children are replaced in place.
            process_group: passed on to the new layers.

        Returns:
            ``module``, or the new layer where ``module`` is itself a batch normalisation.

        Example:
            >>> net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3))
            >>> weight = net[1].weight
            >>> nn.SyncBatchNorm.convert_sync_batchnorm(net)[1].weight is weight
            True
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(module.num_features, module.eps, module.momentum, module.affine,
                         module.track_running_stats, process_group, bias=module.bias is not None)
            result.weight, result.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(result, name, getattr(module, name))
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNormBase(Waiting):
    """How normalisations take their ``num_features`` from the first input."""

    _size = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = functions.tensor(0, dtype=dtypes.int64, device=device)

    def _size_of(self, input: Tensor) -> int:
        return input.shape[1]

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        names = ("weight", "bias", "running_mean", "running_var")
        return {name: (size,) for name in names if getattr(self, name) is not None}


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm1d` that takes its ``num_features`` from the first input, ``(N, C)`` or ``(N, C, L)``.

    Until it is called its parameters and statistics have no shape; the first call gives them shapes and
    values and makes the module a `BatchNorm1d`. A checkpoint can be loaded before.

    Args:
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions.

    Example:
        >>> norm = nn.LazyBatchNorm1d()
        >>> norm(torch.ones(2, 3, 4)).shape
        torch.Size([2, 3, 4])
        >>> type(norm).__name__, norm.num_features, norm.running_mean.shape
        ('BatchNorm1d', 3, torch.Size([3]))
    """

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm2d` that takes its ``num_features`` from the first input, ``(N, C, H, W)``.

    Until it is called its parameters and statistics have no shape; the first call gives them shapes and
    values and makes the module a `BatchNorm2d`. A checkpoint can be loaded before.

    Args:
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions.

    Example:
        >>> norm = nn.LazyBatchNorm2d()
        >>> norm(torch.ones(2, 3, 4, 4)).shape
        torch.Size([2, 3, 4, 4])
        >>> type(norm).__name__, norm.num_features, norm.running_mean.shape
        ('BatchNorm2d', 3, torch.Size([3]))
    """

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A `BatchNorm3d` that takes its ``num_features`` from the first input, ``(N, C, D, H, W)``.

    Until it is called its parameters and statistics have no shape; the first call gives them shapes and
    values and makes the module a `BatchNorm3d`. A checkpoint can be loaded before.

    Args:
        eps: added to the variance.
        momentum: weight of a new batch in the running statistics; None averages all batches alike.
        affine: whether to learn a scale.
        track_running_stats: whether to keep running statistics.
        device: where to put the parameters and statistics.
        dtype: their dtype.
        bias: whether to learn a shift as well; only with ``affine``.

    Raises:
        ValueError: when called, for another number of dimensions.

    Example:
        >>> norm = nn.LazyBatchNorm3d()
        >>> norm(torch.ones(2, 3, 4, 4, 4)).shape
        torch.Size([2, 3, 4, 4, 4])
        >>> type(norm).__name__, norm.num_features, norm.running_mean.shape
        ('BatchNorm3d', 3, torch.Size([3]))
    """

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim
