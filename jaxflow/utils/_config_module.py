"""Modules whose variables are settings: they can be changed, for a block too; other names are refused.

A setting that would change how a program ends is refused with what to use instead, in ``_refused`` of its
module; ``_aliases`` has second names.
"""

from __future__ import annotations

import types
from operator import setitem
from typing import Any

from jaxflow._core.commit import commit
from jaxflow._core.modes import Restored


class Settings:
    """Named settings, each with a value at first. AttributeError for another name.

    Args:
        name: the full name of the group.
        values: the settings and their first values.
    """

    def __init__(self, name: str, **values: Any) -> None:
        self.__dict__.update(values, _name=name)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{self.__dict__.get('_name', 'a group of settings')}.{name} does not exist")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self.__dict__:
            raise AttributeError(f"{self._name}.{name} does not exist")
        self.__dict__[name] = value


class ConfigModule(types.ModuleType):
    """The class of a module of settings."""

    def _place(self, name: str) -> tuple[dict[str, Any], str]:
        """The dict that holds a setting, and its name there. AttributeError for one that there is not."""
        group, _, last = self.__dict__.get("_aliases", {}).get(name, name).rpartition(".")
        held = vars(self.__dict__[group]) if isinstance(self.__dict__.get(group), Settings) else self.__dict__
        if last.startswith("_") or last not in held or (group and held is self.__dict__):
            raise AttributeError(f"torch.{self.__name__.partition('.')[2]}.{name} does not exist")
        return held, last

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        held, last = self._place(name)
        return held[last]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):  # what Python keeps of a module
            super().__setattr__(name, value)
            return
        self.load_config({name: value})

    def _checked(self, name: str, value: Any) -> tuple[dict[str, Any], str]:
        """`_place` of a setting that may have this value. NotImplementedError where it may not."""
        held, last = self._place(name)
        instead = self.__dict__.get("_refused", {}).get(last)
        if value and instead is not None:
            raise NotImplementedError(f"torch.{self.__name__.partition('.')[2]}.{name} = {value!r} is not "
                                      f"supported: use {instead}")
        return held, last

    def get_config_copy(self) -> dict[str, Any]:
        """All settings and their values, those of groups by names with a dot."""
        found = {}
        for name, value in self.__dict__.items():
            if isinstance(value, Settings):
                found.update({f"{name}.{last}": x for last, x in vars(value).items() if last != "_name"})
            elif not name.startswith("_"):
                found[name] = value
        return found

    shallow_copy_dict = get_config_copy

    def load_config(self, config: dict[str, Any]) -> None:
        """Change the settings that ``config`` names: all of them, or none."""
        commit([(setitem, *self._checked(name, value), value) for name, value in config.items()])

    def patch(self, arg1: str | dict[str, Any] | None = None, arg2: Any = None, **kwargs: Any) -> _Patch:
        """Change settings for a block, or for the calls of a function that it decorates.

        Args:
            arg1: the name of a setting, or a dict from names to values.
            arg2: the value, where ``arg1`` is a name.
            kwargs: further settings.

        Returns:
            A context manager, which is a decorator too.

        Raises:
            AttributeError: for a name that there is not.
        """
        changes = {arg1: arg2} if isinstance(arg1, str) else dict(arg1 or {})
        changes.update(kwargs)
        for name in changes:
            self._place(name)
        return _Patch(self, changes)


class _Patch(Restored):
    """A block with other settings."""

    def __init__(self, module: ConfigModule, changes: dict[str, Any]) -> None:
        super().__init__()
        self.module, self.changes = module, changes

    def noted(self) -> dict[str, Any]:
        """The values before."""
        return {name: getattr(self.module, name) for name in self.changes}

    def change(self) -> None:
        """Set the others."""
        self.module.load_config(self.changes)

    def put_back(self, before: dict[str, Any]) -> None:
        """Set these again."""
        self.module.load_config(before)
