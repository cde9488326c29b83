"""Weights over their largest singular value: Miyato et al., "Spectral Normalization", 2018.

The older form, by a hook before each forward; `parametrizations.spectral_norm` is the newer one.
"""

from __future__ import annotations

from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn import functional as F
from jaxflow.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from jaxflow.nn.modules.module import Module
from jaxflow.nn.parameter import Parameter

_VERSION = 1  # of the state dict; before, the vector ``v`` was not in it


class SpectralNorm:
    """Before each forward, computes a weight of ``name_orig`` and the vectors ``name_u`` and ``name_v``."""

    _version = _VERSION

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0,
                 eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.name, self.dim, self.eps = name, dim, eps
        self.n_power_iterations = n_power_iterations

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """The weight with ``dim`` as rows and all others as columns."""
        return weight.movedim(self.dim, 0).reshape(weight.size(self.dim), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Tensor:
        """The weight over its norm; the iteration moves both vectors first."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(functions.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(functions.mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()  # the next forward moves them before this one's backward
        return weight / functions.dot(u, functions.mv(matrix, v))

    def remove(self, module: Module) -> None:
        """Put the weight as it is now back in the place of what it is computed from."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Module, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Put the hook before the forward of ``module``. RuntimeError where that was done before."""
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with no_grad():
            u, v = (F.normalize(weight.new_empty(size).normal_(0, 1), dim=0, eps=eps)
                    for size in hook.reshape_weight_to_matrix(weight).shape)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)  # not a parameter: initializers expect a tensor of this name
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook


class SpectralNormLoadStateDictPreHook:
    """Completes state dicts from before ``v`` was in them."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, state_dict: dict, prefix: str, local_metadata: dict, strict: bool,
                 missing_keys: list, unexpected_keys: list, error_msgs: list) -> None:
        fn, key = self.fn, prefix + self.fn.name
        version = local_metadata.get("spectral_norm", {}).get(fn.name + ".version")
        if version is not None and version >= _VERSION:
            return
        if version is None and key not in state_dict and all(key + s in state_dict
                                                             for s in ("_orig", "_u", "_v")):
            return  # made by hand, in the present form
        missing = [key + end for end in ("_orig", "", "_u") if key + end not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with no_grad():
            # u is along W v and u W v is the norm, the ratio of both weights: that gives v.
            orig, u = state_dict[key + "_orig"], state_dict[key + "_u"]
            norm = (orig / state_dict.pop(key)).mean()
            matrix = fn.reshape_weight_to_matrix(orig)
            v = functions.mv(functions.pinverse(matrix.t().mm(matrix)), functions.mv(matrix.t(), u))
            state_dict[key + "_v"] = v * (norm / functions.dot(u, functions.mv(matrix, v)))


class SpectralNormStateDictHook:
    """Writes the version of the state dict's form into its metadata."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Module, state_dict: dict, prefix: str, local_metadata: dict) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = _VERSION


def spectral_norm(module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12,
                  dim: int | None = None) -> Module:
    """Divide a parameter of ``module``, which is returned, by its largest singular value in each forward.

    Args:
        module: whose parameter it is.
        name: the parameter's.
        n_power_iterations: steps of the power iteration in each forward in training.
        eps: the least length that is divided by.
        dim: the dimension of the matrix's rows; default 0, and 1 for transposed convolutions.

    Returns:
        ``module``, with ``name_orig``, ``name_u`` and ``name_v``.

    Raises:
        RuntimeError: if it is done already.
        ValueError: for fewer than one step, or a parameter that is None.
        KeyError: for a name that no parameter has.

    Example:
        >>> sorted(nn.utils.spectral_norm(nn.Linear(3, 2)).state_dict())
        ['bias', 'weight_orig', 'weight_u', 'weight_v']
    """
    if dim is None:
        dim = int(isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)))
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Make a parameter again of what `spectral_norm` divides.

    Args:
        module: whose parameter it is; returned.
        name: the parameter's.

    Returns:
        ``module``.

    Raises:
        ValueError: where it is not divided.

    Example:
        >>> layer = nn.utils.remove_spectral_norm(nn.utils.spectral_norm(nn.Linear(3, 2)))
        >>> sorted(layer.state_dict())
        ['bias', 'weight']
    """
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for table, kind in ((module._state_dict_hooks, SpectralNormStateDictHook),
                        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook)):
        for key, hook in table.items():
            hook = getattr(hook, "hook", hook)
            if isinstance(hook, kind) and hook.fn.name == name:
                del table[key]
                break
    return module
