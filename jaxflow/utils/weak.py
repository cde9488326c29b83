"""Weak references and dictionaries that go by identity, for objects whose ``==`` is not an equivalence.

A tensor compares element by element, so the dictionaries of `weakref` cannot have tensors as keys.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, MutableMapping
from typing import Any

from jaxflow._core.tensor import Tensor

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):
    """A weak reference that is equal to another one if both refer to the very same object, which is alive.

    Args:
        key: the object.
        callback: called with the reference when the object is gone.

    Example:
        >>> from jaxflow.utils.weak import WeakIdRef
        >>> x = torch.ones(2)
        >>> WeakIdRef(x) == WeakIdRef(x), WeakIdRef(x) == WeakIdRef(x.clone())
        (True, False)
    """

    __slots__ = ["_id"]

    def __init__(self, key: Any, callback: Any = None) -> None:
        self._id = id(key)
        super().__init__(key, callback)

    def __call__(self) -> Any:
        """The object, or None once it is gone."""
        return super().__call__()

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        a = self()
        return a is not None and isinstance(other, weakref.ref) and a is other()

    def __ne__(self, other: object) -> bool:  # that of weakref.ref compares the objects
        return not self == other


class WeakIdKeyDictionary(MutableMapping):
    """A dictionary whose keys are weak references by identity; an entry goes with its key.

    Args:
        dict: a mapping whose entries are taken over.
        ref_type: the class of references.

    Example:
        >>> from jaxflow.utils.weak import WeakIdKeyDictionary
        >>> x = torch.ones(2)
        >>> names = WeakIdKeyDictionary()
        >>> names[x] = "x"
        >>> names[x], len(names)
        ('x', 1)
        >>> del x
        >>> len(names)
        0
    """

    def __init__(self, dict: Any = None, ref_type: type = WeakIdRef) -> None:  # noqa: A002 - PyTorch's name
        self.data: Any = {}
        self.ref_type = ref_type
        reference = weakref.ref(self)

        def remove(key: Any) -> None:
            mapping = reference()
            if mapping is not None:
                mapping.data.pop(key, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # nothing that can be referred to weakly
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator:
        for reference in list(self.data):
            key = reference()
            if key is not None:
                yield key

    def keyrefs(self) -> list:
        """The references, of which some may refer to nothing any more."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Another dictionary with the same entries."""
        return type(self)(self, self.ref_type) if type(self) is WeakIdKeyDictionary else type(self)(self)

    __copy__ = copy

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __or__(self, other: Any) -> Any:
        found = self.copy()
        found.update(other)
        return found

    def __ior__(self, other: Any) -> Any:
        self.update(other)
        return self


#: A dictionary by tensors.
WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor.

    Args:
        tensor: the tensor.

    Example:
        >>> from jaxflow.utils.weak import TensorWeakRef
        >>> x = torch.ones(2)
        >>> TensorWeakRef(x)() is x
        True
    """

    ref: weakref.ref

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected a Tensor, got {type(tensor)}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        """The tensor, or None once it is gone."""
        return self.ref()
