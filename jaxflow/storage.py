"""The classes of storages."""

from ._api.storage.typed import TypedStorage as TypedStorage
from ._api.storage.untyped import UntypedStorage as UntypedStorage
