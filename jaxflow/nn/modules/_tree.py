"""Walking a module's tree: children, descendants, and what they hold by dotted name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self

from jaxflow._core.tensor import Tensor
from jaxflow.nn.modules._registry import Registry
from jaxflow.nn.parameter import Parameter

if TYPE_CHECKING:
    from jaxflow.nn.modules.module import Module


class Tree(Registry):
    """Everything a module does to itself and all modules below it."""

    def children(self) -> Iterator[Module]:
        """The direct submodules, each once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Name and module of each direct submodule, each module once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it, parents first."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Dotted name and module of this module and all below it, parents first.

        Args:
            memo: modules to leave out; those visited are added.
            prefix: put before every name.
            remove_duplicate: whether a module held twice comes once.
        """
        if memo is None:
            memo = set()
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                below = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, below, remove_duplicate)

    def _named_members(
        self,
        get_members: Callable[[Module], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        owners = [(prefix, self)]
        if recurse:
            owners = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, owner in owners:
            for name, member in get_members(owner):
                if member is None or id(member) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(member))
                yield f"{path}.{name}" if path else name, member

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module and, with ``recurse``, of all below it, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Dotted name and parameter of this module and, with ``recurse``, of all below it."""
        return self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module and, with ``recurse``, of all below it, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Dotted name and buffer of this module and, with ``recurse``, of all below it."""
        return self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted name; the empty name is this module.

        Raises:
            AttributeError: when there is nothing at the name, or no module.
        """
        module = self
        for name in target.split(".") if target else ():
            module = _member(module, name)
            if not isinstance(module, Registry):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put ``module`` at a dotted name.

        Args:
            target: name of the place.
            module: what to put there.
            strict: refuse a place that holds nothing yet.

        Raises:
            ValueError: when ``target`` is empty or ``module`` is no module.
            AttributeError: when the path leads nowhere or to something else than a module.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Registry):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            if not isinstance(_member(parent, name), Registry):
                raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted name.

        Raises:
            AttributeError: when there is nothing at the name, or no parameter.
        """
        path, _, name = target.rpartition(".")
        parameter = _member(self.get_submodule(path), name)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted name.

        Raises:
            AttributeError: when there is nothing at the name, or no buffer.
        """
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        buffer = _member(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def apply(self, fn: Callable[[Module], None]) -> Self:
        """Call ``fn`` on every module below this one and then on this one; return this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Set training mode (``mode=False``: evaluation mode) here and below; return this module.

        Raises:
            ValueError: when ``mode`` is no bool.
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Set evaluation mode here and below: ``train(False)``."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set ``requires_grad`` of every parameter here and below; return this module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradient of every parameter, or without ``set_to_none`` fill it with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
                continue
            if parameter.grad.grad_fn is not None:
                parameter.grad.detach_()
            else:
                parameter.grad.requires_grad_(False)
            parameter.grad.zero_()


def _member(module: Module, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    return getattr(module, name)
