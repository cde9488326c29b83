"""Pruning: masks that set elements of a module's parameters to zero before each forward."""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules.module import Module
from jaxflow.nn.utils.convert_parameters import parameters_to_vector


class BasePruningMethod(ABC):
    """A way of choosing what is pruned; on a module, the hook that multiplies by the mask.

    A subclass has a ``PRUNING_TYPE``: ``"unstructured"`` (of elements), ``"structured"`` (of slices along
    ``dim``) or ``"global"`` (its mask is of the whole tensor), and defines `compute_mask`.
    """

    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask of a tensor of scores, which keeps nothing that ``default_mask`` does not keep."""

    def apply_mask(self, module: Module) -> Tensor:
        """The original tensor of the module times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = (getattr(module, self._tensor_name + end) for end in ("_mask", "_orig"))
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Module, name: str, *args: Any, importance_scores: Tensor | None = None,
              **kwargs: Any) -> BasePruningMethod:
        """Prune ``name`` of ``module`` by ``cls(*args, **kwargs)``, after what was pruned of it before.

        ``importance_scores``, of the tensor's shape, are judged in its place. Returns the hook.
        """
        before = [(key, hook) for key, hook in module._forward_pre_hooks.items()
                  if isinstance(hook, BasePruningMethod) and hook._tensor_name == name]
        if len(before) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module "
                                 f"{module}. Use a PruningContainer.")
        for key, _ in before:
            del module._forward_pre_hooks[key]
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        if before:
            _, old = before[0]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        tensor = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != tensor.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {tensor.shape}")
        first = not isinstance(method, PruningContainer)
        if first:
            module.register_parameter(name + "_orig", tensor)
            del module._parameters[name]
            mask = functions.ones_like(tensor)
        else:
            mask = getattr(module, name + "_mask").detach().clone()
        try:
            scores = tensor if importance_scores is None else importance_scores
            module.register_buffer(name + "_mask", method.compute_mask(scores, default_mask=mask))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except BaseException:  # an interrupt as well
            if first:
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t: Tensor, default_mask: Tensor | None = None,
              importance_scores: Tensor | None = None) -> Tensor:
        """``t`` times its mask, which is not kept."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t, got "
                                 f"{importance_scores.shape} vs {t.shape}")
        scores = t if importance_scores is None else importance_scores
        mask = functions.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Module) -> None:
        """Make the pruned tensor the parameter; the mask and the original go. The hook stays."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = pruned.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several prunings of one tensor, each of what those before left."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Add another pruning of the same tensor."""
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'")
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask`` with what the last pruning chooses of the part that it keeps."""
        method = self._pruning_methods[-1]
        part = _part_kept(method, t, default_mask)
        mask = default_mask.to(dtype=t.dtype, copy=True)
        chosen = method.compute_mask(t[part], default_mask=default_mask[part])
        mask[part] = chosen.to(dtype=mask.dtype)
        return mask


def _part_kept(method: Any, t: Tensor, mask: Tensor) -> Any:
    """The index of what ``method`` looks at: elements, slices, or all."""
    kind = method.PRUNING_TYPE
    if kind == "unstructured":
        return mask == 1
    index: list[Any] = [slice(None)] * t.dim()
    if kind == "structured":
        if not hasattr(method, "dim"):
            raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute '
                                 "`dim` defined.")
        dim = method.dim + t.dim() if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
        index[dim] = mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0
    elif kind != "global":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    return tuple(index)


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask``."""
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str) -> BasePruningMethod:
        """Put the hook on a module."""
        return super().apply(module, name)


class _Unstructured(BasePruningMethod):
    """Prunes the elements with the least scores."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: int | float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask`` with ``amount`` more zeros."""
        count = _compute_nparams_toprune(self.amount, t.nelement())
        _validate_pruning_amount(count, t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._least(t, count)] = 0
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements that are drawn: ``amount`` of them, a number or a share."""

    def _least(self, t: Tensor, count: int) -> Tensor:
        return functions.topk(functions.rand_like(t).view(-1), k=count).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: int | float) -> BasePruningMethod:
        """Put the hook on a module."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Unstructured):
    """Prunes the elements of the least absolute values: ``amount`` of them, a number or a share."""

    def _least(self, t: Tensor, count: int) -> Tensor:
        return functions.topk(t.abs().view(-1), k=count, largest=False).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: int | float,
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        """Put the hook on a module."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Structured(BasePruningMethod):
    """Prunes whole slices along a dimension."""

    PRUNING_TYPE = "structured"
    dim: int
    amount: int | float

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """``default_mask`` without ``amount`` slices."""
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, size)
        _validate_pruning_amount(count, size)
        index: list[Any] = [slice(None)] * t.dim()
        index[self.dim] = self._kept(t, size, count)
        if count == 0:
            return default_mask
        mask = functions.zeros_like(t)
        mask[tuple(index)] = 1
        return mask.mul_(default_mask.to(dtype=mask.dtype))


class RandomStructured(_Structured):
    """Prunes slices along ``dim`` that are drawn: ``amount`` of them, a number or a share."""

    def __init__(self, amount: int | float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t: Tensor, size: int, count: int) -> Any:
        if count == 0:
            return slice(None)
        drawn = functions.rand(size)
        return drawn > functions.kthvalue(drawn, k=count).values

    @classmethod
    def apply(cls, module: Module, name: str, amount: int | float, dim: int = -1) -> BasePruningMethod:
        """Put the hook on a module."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Structured):
    """Prunes the slices along ``dim`` of the least norms of order ``n``: ``amount``, a number or a share."""

    def __init__(self, amount: int | float, n: Any, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _kept(self, t: Tensor, size: int, count: int) -> Tensor:
        return functions.topk(_compute_norm(t, self.n, self.dim), k=size - count).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: int | float, n: Any, dim: int,
              importance_scores: Tensor | None = None) -> BasePruningMethod:
        """Put the hook on a module."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """Prunes where a mask is zero."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The product of both masks."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape "
                                 f"{self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor) -> BasePruningMethod:
        """Put the hook on a module."""
        return super().apply(module, name, mask=mask)


def identity(module: Module, name: str) -> Module:
    """Make a mask of ones for a parameter of ``module``, which is returned."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: int | float) -> Module:
    """Prune drawn elements of a parameter of ``module``, which is returned.

    Args:
        module: whose parameter it is.
        name: the parameter's.
        amount: how many elements; a float is a share of all.
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Module, name: str, amount: int | float,
                    importance_scores: Tensor | None = None) -> Module:
    """Prune the elements of the least absolute values of a parameter of ``module``, which is returned.

    Args:
        module: whose parameter it is.
        name: the parameter's.
        amount: how many elements; a float is a share of all.
        importance_scores: what is judged in place of the parameter, of its shape.

    Example:
        >>> layer = nn.Linear(3, 1)
        >>> _ = layer.weight.data.copy_(torch.tensor([[3.0, -1.0, 2.0]]))
        >>> nn.utils.prune.l1_unstructured(layer, "weight", amount=1).weight.tolist()
        [[3.0, 0.0, 2.0]]
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: int | float, dim: int) -> Module:
    """Prune drawn slices along ``dim`` of a parameter of ``module``, which is returned.

    Args:
        module: whose parameter it is.
        name: the parameter's.
        amount: how many slices; a float is a share of all.
        dim: the dimension.
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Module, name: str, amount: int | float, n: Any, dim: int,
                  importance_scores: Tensor | None = None) -> Module:
    """Prune the slices along ``dim`` of the least norms of a parameter of ``module``, which is returned.

    Args:
        module: whose parameter it is.
        name: the parameter's.
        amount: how many slices; a float is a share of all.
        n: order of the norm.
        dim: the dimension.
        importance_scores: what is judged in place of the parameter, of its shape.
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def global_unstructured(parameters: Iterable, pruning_method: type, importance_scores: dict | None = None,
                        **kwargs: Any) -> None:
    """Prune several parameters as if they were one vector.

    Args:
        parameters: pairs of a module and the name of a parameter of it.
        pruning_method: a class with the ``PRUNING_TYPE`` ``"unstructured"``, made with ``kwargs``.
        importance_scores: by such pairs, what is judged in place of the parameter.

    Raises:
        TypeError: for another kind of pruning, or arguments of another type.
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = {} if importance_scores is None else importance_scores
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    scores = parameters_to_vector([importance_scores.get(pair, t) for pair, t in zip(pairs, tensors)])
    mask = parameters_to_vector([getattr(module, name + "_mask", functions.ones_like(t))
                                 for (module, name), t in zip(pairs, tensors)])
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError('Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
                        f"{pruning_method} of type {method.PRUNING_TYPE}")
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    container.add_pruning_method(method)
    parts = container.compute_mask(scores, mask).split([t.numel() for t in tensors])
    for (module, name), t, part in zip(pairs, tensors, parts):
        custom_from_mask(module, name, mask=part.view_as(t))


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune a parameter of ``module``, which is returned, where ``mask``, of its shape, is zero."""
    CustomFromMask.apply(module, name, mask)
    return module


def remove(module: Module, name: str) -> Module:
    """Make the pruned tensor the parameter of ``module``, which is returned; ValueError if not pruned."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module: Module) -> bool:
    """Whether a parameter of ``module``, or of a module in it, is pruned."""
    return any(isinstance(hook, BasePruningMethod)
               for child in module.modules() for hook in child._forward_pre_hooks.values())


def _validate_pruning_amount_init(amount: Any) -> None:
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if amount < 0 or not isinstance(amount, numbers.Integral) and amount > 1.0:
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative "
                         "integer")


def _validate_pruning_amount(amount: Any, tensor_size: int) -> None:
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to "
                         f"prune={tensor_size}")


def _validate_structured_pruning(t: Tensor) -> None:
    if t.dim() <= 1:
        raise ValueError("Structured pruning can only be applied to multidimensional tensors. Found tensor "
                         f"of shape {t.shape} with {t.dim()} dims")


def _compute_nparams_toprune(amount: Any, tensor_size: int) -> int:
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _validate_pruning_dim(t: Tensor, dim: int) -> None:
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t: Tensor, n: Any, dim: int) -> Tensor:
    dims = list(range(t.dim()))
    del dims[dim]
    return functions.norm(t, p=n, dim=dims)
