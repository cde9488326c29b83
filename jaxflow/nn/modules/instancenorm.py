"""Instance normalisation: over the positions of each sample and channel."""

from __future__ import annotations

import warnings
from typing import Any

from jaxflow._core.tensor import Tensor
from jaxflow.nn import functional as F
from jaxflow.nn.modules.batchnorm import _NormBase


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
    """Normalises ``(N, C, L)`` or ``(C, L)`` over the positions."""

    _unbatched = 2


class InstanceNorm2d(_InstanceNorm):
    """Normalises ``(N, C, H, W)`` or ``(C, H, W)`` over the positions."""

    _unbatched = 3


class InstanceNorm3d(_InstanceNorm):
    """Normalises ``(N, C, D, H, W)`` or ``(C, D, H, W)`` over the positions."""

    _unbatched = 4
