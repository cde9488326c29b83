"""The classes of storages."""

from ._api.typed_storage import TypedStorage as TypedStorage
from ._api.untyped_storage import UntypedStorage as UntypedStorage
