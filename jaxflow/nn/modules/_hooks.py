"""Registering hooks on one module; `module.py`, `_backward_hooks.py` and `_state.py` call them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from jaxflow.nn.modules._registry import Registry
from jaxflow.utils.hooks import RemovableHandle


class Hooks(Registry):
    """The ``register_..._hook`` methods; each returns a handle whose ``remove()`` takes it back."""

    def _add_hook(
        self, table: str, hook: Callable, prepend: bool = False, flags: tuple[str, ...] = ()
    ) -> RemovableHandle:
        hooks = getattr(self, table)
        handle = RemovableHandle(hooks, extra_dict=[getattr(self, flag) for flag in flags])
        hooks[handle.id] = hook
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, args)`` before ``forward``; what it returns replaces ``args``.

        Args:
            hook: the function.
            prepend: run it before the hooks registered so far.
            with_kwargs: call ``hook(module, args, kwargs)``, which may return a pair replacing
                both.
        """
        flags = ("_forward_pre_hooks_with_kwargs",)
        handle = self._add_hook("_forward_pre_hooks", hook, prepend, flags)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        return handle

    def register_forward_hook(
        self,
        hook: Callable,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call ``hook(module, args, output)`` after ``forward``; what it returns replaces the
        output.

        Args:
            hook: the function.
            prepend: run it before the hooks registered so far.
            with_kwargs: call ``hook(module, args, kwargs, output)`` instead.
            always_call: call it even when ``forward`` raised.
        """
        flags = ("_forward_hooks_with_kwargs", "_forward_hooks_always_called")
        handle = self._add_hook("_forward_hooks", hook, prepend, flags)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        return handle

    def register_full_backward_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call ``hook(module, grad_output)`` before gradients flow in; it may return new ones."""
        return self._add_hook("_backward_pre_hooks", hook, prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call ``hook(module, grad_input, grad_output)`` once the gradients of the inputs exist.

        What it returns replaces ``grad_input``.

        Raises:
            RuntimeError: when the module has a hook of `register_backward_hook`.
        """
        self._choose_backward_kind(full=True)
        return self._add_hook("_backward_hooks", hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """Like `register_full_backward_hook`, seeing only the last operation of ``forward``.

        Raises:
            RuntimeError: when the module has a full backward hook.
        """
        self._choose_backward_kind(full=False)
        return self._add_hook("_backward_hooks", hook)

    def _choose_backward_kind(self, full: bool) -> None:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, prefix, keep_vars)`` before ``state_dict`` reads the module."""
        return self._add_hook("_state_dict_pre_hooks", hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, state_dict, prefix, local_metadata)`` after ``state_dict`` read it.

        The hook changes ``state_dict`` in place and returns None.
        """
        hook._from_public_api = True
        return self._add_hook("_state_dict_hooks", hook)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        """The older form of `register_state_dict_post_hook`: it may return another dict.

        Raises:
            RuntimeError: when the same function is registered by the public method.
        """
        if getattr(hook, "_from_public_api", False):
            raise RuntimeError(
                "Cannot register the same function as the state dict post hook that was previously "
                "registered via register_state_dict_post_hook"
            )
        return self._add_hook("_state_dict_hooks", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call a hook before ``load_state_dict`` copies into this module.

        It gets ``module, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys,
        error_msgs`` and changes them in place.
        """
        return self._register_load_state_dict_pre_hook(hook, with_module=True)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        """The older form of `register_load_state_dict_pre_hook`: by default without ``module``."""
        return self._add_hook("_load_state_dict_pre_hooks", LoadHook(hook, with_module))

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call ``hook(module, incompatible_keys)`` after ``load_state_dict`` copied into the
        module.

        The hook may change the two lists of ``incompatible_keys`` in place and returns None.
        """
        return self._add_hook("_load_state_dict_post_hooks", hook)


class LoadHook:
    """A hook that gets the module first when ``with_module``.

    The module comes with the call and is not kept, so that a copied module calls its hooks with
    itself.
    """

    def __init__(self, hook: Callable, with_module: bool) -> None:
        self.hook, self.with_module = hook, with_module
        wraps(hook)(self)

    def __call__(self, module: Registry, *args: object) -> None:
        if self.with_module:
            self.hook(module, *args)
        else:
            self.hook(*args)
