"""The classes of storages."""

from ._api.storage import TypedStorage as TypedStorage
from ._api.storage import UntypedStorage as UntypedStorage
