"""Where the bytes of a storage lie.

NOTE [Addresses]
    Who asks for an address may read what lies there until the next write to the storage, and compares it
    with those of others: tensors on one storage have one address, different storages different ones. Arrays
    never change and may serve several storages, so one whose address another storage has given out already
    gets a copy. Asking changes nothing else: the storage goes on holding an array of XLA, which gets a new
    address when it is written to. Only of a host-shared storage the address stays, and may be written to.
"""

from __future__ import annotations

import weakref

import jax
import numpy as np

from jaxflow._core.commit import Overtaken, commit
from jaxflow._core.shared import ALIGNED, HostValue, aligned
from jaxflow._core.tensor import Tensor
from jaxflow._core.value import Storage, Value
from jaxflow._dispatch.dispatch import plan_of
from jaxflow._views.chain import ViewPlan

from .storage_bytes import in_order

# By address the storage that gave it out.
_given: weakref.WeakValueDictionary[int, Storage] = weakref.WeakValueDictionary()
# The bytes of storages whose array is in another order than their strides say: at which epoch, and what.
_in_order: weakref.WeakKeyDictionary[Storage, tuple[int, np.ndarray]] = weakref.WeakKeyDictionary()


def address_of(t: Tensor) -> int:
    """Where the storage of a tensor begins; what it shows is computed first.

    0 where it has no bytes, unless these are none of memory that others have, too.
    """
    storage, root = t._storage, plan_of(t).root
    while True:
        epoch, value = storage.epoch, storage.value
        if value.__class__ is HostValue:
            return value.memory.address()
        array = value.settled()
        if storage.value is not value:  # it was what a recorded call reads, and is shared memory again
            continue
        if value.__class__ is not Value or isinstance(array, jax.core.Tracer):
            raise RuntimeError(
                "inside jax.jit, jax.grad or vmap a tensor has no memory yet, so data_ptr() has no answer")
        if not value.aval.nbytes or value.aval.device.type == "meta":
            return 0
        if root.stride is not None and value.aval.device.type == "cpu":
            return _laid_out(storage, epoch, root, array)
        if array.__class__ is np.ndarray and array.__array_interface__["data"][0] % ALIGNED:
            array = value.array = aligned(array)  # which XLA reads where it lies, whenever it needs it
        address = _of(array)
        other = _given.get(address)
        if other is None or other is storage or not _lies_at(other, address):
            _given[address] = storage
            return address
        try:
            commit([(setattr, storage, "value", _copied(value))], storages=(storage,), epochs=(epoch,))
        except Overtaken:
            continue


def _of(array: np.ndarray | jax.Array) -> int:
    if array.__class__ is np.ndarray:
        return array.__array_interface__["data"][0]
    array.block_until_ready()  # its address is known before its bytes, where a large input is still copied
    return array.unsafe_buffer_pointer()


def _lies_at(storage: Storage, address: int) -> bool:
    """Whether a storage still has that address."""
    value = storage.value
    return value.__class__ is Value and value.producer is None and _of(value.array) == address


def _copied(value: Value) -> Value:
    array = value.settled()
    if array.__class__ is np.ndarray:
        copy = aligned(array)
    else:
        copy = jax.device_put(array, may_alias=False)
    return Value(value.aval, copy)


def _laid_out(storage: Storage, epoch: int, root: ViewPlan, array: np.ndarray | jax.Array) -> int:
    """The address of the bytes in the order that strides speak of."""
    at, found = _in_order.get(storage, (None, None))
    if at != epoch:
        found = in_order(np.asarray(array), root)
        _in_order[storage] = epoch, found
    return found.__array_interface__["data"][0]
