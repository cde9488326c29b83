"""Modules whose parameters get their shapes from the first input."""

from __future__ import annotations

from typing import Any, NoReturn

from jaxflow.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Lets a module's parameters wait for their shapes until it is called; it then becomes its
    `cls_to_become`.

    A class derives from this one and from the class of modules that it becomes, makes its parameters as
    `UninitializedParameter`, and gives them their shapes in `initialize_parameters`.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination: dict, prefix: str, keep_vars: bool) -> None:
        for name, tensor in self._saved_tensors():
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(self, state_dict: dict, prefix: str, *further: Any) -> None:
        """Before a checkpoint is loaded, give the tensors the shapes that they have in it."""
        for name, tensor in (*self._parameters.items(), *self._buffers.items()):
            found = state_dict.get(prefix + name)
            if is_lazy(tensor) and found is not None and not is_lazy(found):
                tensor.materialize(found.shape)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give parameters and buffers their shapes and first values; every class overrides it.

        Args:
            args: what the module is called with.
            kwargs: likewise.

        Raises:
            NotImplementedError: where it is not overridden.
        """
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module alone has no shape yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module: Any, args: tuple, kwargs: dict | None = None) -> None:
        """Before the first call: what `initialize_parameters` does, and an ordinary module from then on."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self) -> NoReturn:
        raise RuntimeError("Modules with uninitialized parameters can't be used with `DataParallel`. Call "
                           "the module with a batch first.")


class Waiting(LazyModuleMixin):
    """How jaxflow's own layers wait for their sizes: one size of the input decides all shapes."""

    #: The attribute that holds the size.
    _size: str

    def _size_of(self, input: Any) -> int:
        """The size that an input has."""
        raise NotImplementedError

    def _shapes(self, size: int) -> dict[str, tuple[int, ...]]:
        """The shapes of parameters and buffers, by name."""
        raise NotImplementedError

    def _check_loaded(self, size: int) -> None:
        """Raise where parameters that were loaded before the first call are for another size."""

    def reset_parameters(self) -> None:
        """The parameters' first values, once they have shapes and the size is known."""
        if getattr(self, self._size) != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take the size from an input, give the parameters shapes, and draw their values.

        Where something interrupts it, the next call begins anew: `_half` says so.

        Args:
            input: the module's input.
            args: not read.
            kwargs: not read.
        """
        size = self._size_of(input)
        if not self.has_uninitialized_params() and not self.__dict__.get("_half"):
            self._check_loaded(size)
            setattr(self, self._size, size)
            return
        shapes = self._shapes(size)
        self._half = True
        for name, shape in shapes.items():
            tensor = getattr(self, name)
            if is_lazy(tensor):
                tensor.materialize(shape)
        setattr(self, self._size, size)
        self.reset_parameters()
        del self._half
