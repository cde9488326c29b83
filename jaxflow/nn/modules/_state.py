"""Saving what a module holds into a dict, and loading it back."""

from __future__ import annotations

import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Iterator, Mapping
from typing import Any

from jaxflow import _functions as functions
from jaxflow._core.tensor import Tensor
from jaxflow._core.torchs import is_torchs
from jaxflow.autograd.grad_mode import no_grad
from jaxflow.nn.modules._hooks import Hooks
from jaxflow.nn.modules._tree import Tree
from jaxflow.nn.parameter import Parameter, is_lazy, made_lazy_again

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"


class _IncompatibleKeys(namedtuple("IncompatibleKeys", ("missing_keys", "unexpected_keys"))):
    __slots__ = ()

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return super().__repr__()

    __str__ = __repr__


class StateDict(Tree, Hooks):
    """``state_dict`` and ``load_state_dict``."""

    _version: int = 1

    def get_extra_state(self) -> Any:
        """What else to save with the module: override it together with `set_extra_state`."""
        raise RuntimeError(_EXTRA_HALF.format("get"))

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned."""
        raise RuntimeError(_EXTRA_HALF.format("set"))

    def state_dict(
        self, *args: Any, destination: dict | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Every parameter, persistent buffer and extra state, here and below, by dotted name.

        Args:
            args: ``destination, prefix, keep_vars`` by position, which is deprecated.
            destination: the dict to fill (default: a new one).
            prefix: put before every name.
            keep_vars: give the parameters themselves instead of detached tensors of the same
                storage.
        """
        if args:
            warnings.warn(_POSITIONAL, FutureWarning, stacklevel=2)
            given = dict(zip(("destination", "prefix", "keep_vars"), args))
            destination = given["destination"] if destination is None else destination
            prefix = given.get("prefix", "") if prefix == "" else prefix
            keep_vars = given.get("keep_vars", False) if keep_vars is False else keep_vars
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local_metadata = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local_metadata
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._state_dict_hooks.values():
            answer = hook(self, destination, prefix, local_metadata)
            if getattr(hook, "_from_public_api", False):
                if answer is not None:
                    raise RuntimeError("state_dict post-hook must return None")
            elif answer is not None:
                destination = answer
        return destination

    def _saved_tensors(self) -> Iterator[tuple[str, Tensor]]:
        """Name and value of every parameter and persistent buffer of this module alone."""
        for name, parameter in self._parameters.items():
            if parameter is not None:
                yield name, parameter
        for name, buffer in self._buffers.items():
            if buffer is not None and name not in self._non_persistent_buffers_set:
                yield name, buffer

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        """Put what this module alone saves into ``destination``; subclasses may override it."""
        for name, tensor in self._saved_tensors():
            destination[prefix + name] = tensor if keep_vars else tensor.detach()
        if type(self).get_extra_state is not StateDict.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> _IncompatibleKeys:
        """Copy values from a dict as `state_dict` makes it into this module and all below it.

        A load that fails leaves every parameter and buffer as it was.

        Args:
            state_dict: tensors by dotted name.
            strict: whether names missing on either side are an error.
            assign: keep the given tensors themselves (with their dtype and device) instead of
                copying.

        Returns:
            The lists ``missing_keys`` and ``unexpected_keys``.

        Raises:
            TypeError: when ``state_dict`` is no mapping.
            RuntimeError: listing every missing and unexpected name, every wrong shape, and every
                value that could not be copied.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        metadata = getattr(state_dict, "_metadata", None)
        state_dict = OrderedDict(state_dict)
        if metadata is not None:
            state_dict._metadata = metadata
        before = _Snapshot(self)
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        try:
            _load_tree(self, state_dict, "", metadata, assign, keys, errors)
            if strict:
                for name, found in (("Unexpected", keys[1]), ("Missing", keys[0])):
                    if found:
                        quoted = ", ".join(f'"{key}"' for key in found)
                        errors.insert(0, f"{name} key(s) in state_dict: {quoted}. ")
            if errors:
                lines = "\n\t".join(errors)
                raise RuntimeError(
                    f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{lines}"
                )
        except Exception:
            before.restore()
            raise
        return keys

    def _load_from_state_dict(
        self,
        state_dict: Mapping[str, Any],
        prefix: str,
        local_metadata: dict,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Copy what this module alone saved; subclasses may override it.

        Problems are added to the three lists rather than raised.
        """
        for hook in self._load_state_dict_pre_hooks.values():
            hook(self, state_dict, prefix, local_metadata, strict,
                 missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers", False)
        own = dict(self._saved_tensors())
        for name, target in own.items():
            key = prefix + name
            if key in state_dict:
                error = self._load_tensor(name, target, key, state_dict[key], assign)
                if error is not None:
                    error_msgs.append(error)
            elif strict:
                missing_keys.append(key)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not StateDict.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    name, _, below = key[len(prefix):].partition(".")
                    if name not in (self._modules if below else own):
                        unexpected_keys.append(key)

    def _load_tensor(
        self, name: str, target: Tensor, key: str, value: Any, assign: bool
    ) -> str | None:
        """Copy or assign one value; return what went wrong, if anything."""
        if is_torchs(value):
            value = functions.as_tensor(value)
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
                f"object from checkpoint but received {type(value)}"
            )
        # One without a shape takes another as it is, and what has one shows here what is wrong.
        lazy = is_lazy(target)
        if not lazy and target.dim() == 0 and len(value.shape) == 1:
            value = value[0]  # checkpoints from before PyTorch had 0-d tensors
        if not lazy and target.shape != value.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from "
                f"checkpoint, the shape in current model is {target.shape}."
            )
        try:
            with no_grad():
                if not assign:
                    target.copy_(value)
                elif not isinstance(target, Parameter):
                    setattr(self, name, value)
                elif isinstance(value, Parameter):
                    setattr(self, name, value.requires_grad_(target.requires_grad))
                else:
                    setattr(self, name, Parameter(value, requires_grad=target.requires_grad))
        except Exception as error:
            action = "assigning" if assign else "copying"
            return (
                f'While {action} the parameter named "{key}", whose dimensions in the model are '
                f"{target.size()} and whose dimensions in the checkpoint are {value.size()}, an "
                f"exception occurred : {error.args}."
            )
        return None


def _load_tree(
    module: StateDict,
    state_dict: Mapping[str, Any],
    prefix: str,
    metadata: Mapping | None,
    assign: bool,
    keys: _IncompatibleKeys,
    errors: list[str],
) -> None:
    local_metadata = {} if metadata is None else metadata.get(prefix[:-1], {})
    if assign:
        local_metadata["assign_to_params_buffers"] = assign
    module._load_from_state_dict(
        state_dict, prefix, local_metadata, True, keys.missing_keys, keys.unexpected_keys, errors
    )
    for name, child in module._modules.items():
        if child is not None:
            below = f"{prefix}{name}."
            part = {key: value for key, value in state_dict.items() if key.startswith(below)}
            _load_tree(child, part, below, metadata, assign, keys, errors)
    for hook in module._load_state_dict_post_hooks.values():
        if hook(module, keys) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace."
            )


class _Snapshot:
    """What a module tree held at one moment, so that a failed load can be undone.

    Loading may run hooks and overridden methods, so only running it shows whether it will fail.
    Copies cost next to nothing here: values are immutable and a copy that is not needed again is never
    computed.
    """

    def __init__(self, module: StateDict) -> None:
        self.tables = []
        self.values: dict[int, tuple[Tensor, Tensor]] = {}
        self.lazy: dict[int, tuple[Tensor, type]] = {}
        for part in module.modules():
            for table in (part._parameters, part._buffers):
                self.tables.append((table, dict(table)))
                for tensor in table.values():
                    if is_lazy(tensor):
                        self.lazy[id(tensor)] = tensor, type(tensor)
                    elif tensor is not None and id(tensor) not in self.values:
                        self.values[id(tensor)] = tensor, tensor.detach().clone()

    def restore(self) -> None:
        """Put everything back."""
        for table, held in self.tables:
            table.clear()
            table.update(held)
        with no_grad():
            for tensor, value in self.values.values():
                tensor.copy_(value)
        for tensor, cls in self.lazy.values():
            made_lazy_again(tensor, cls)


_EXTRA_HALF = (
    "Module.{}_extra_state() is not overridden: a module with extra state overrides both "
    "get_extra_state() and set_extra_state()."
)

_POSITIONAL = (
    "Positional args are being deprecated, use kwargs instead. Refer to "
    "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for "
    "details."
)
