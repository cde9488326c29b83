"""How tensors, parameters and storages travel to other processes: by their memory, which both then share.

What is sent is moved to shared memory (`Tensor.share_memory_`), and whoever receives it has a tensor on the
same memory: NOTE [Names of shared memory]. Of tensors that lie on one storage, the received ones do too.
What has no memory of the host's is sent as a copy.
"""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from typing import Any

from jaxflow._api.shape.conjugates import as_marked, is_conj, is_neg
from jaxflow._api.storage.untyped import UntypedStorage, storage_of
from jaxflow._api.tensor.pickling import restored
from jaxflow._core.tensor import Tensor
from jaxflow._dispatch.dispatch import plan_of, strides_of
from jaxflow._memory import mappings
from jaxflow.nn.parameter import Parameter


def reduce_tensor(tensor: Tensor) -> tuple:
    """What ``pickle`` is to make of a tensor for another process.

    RuntimeError for one that was computed and requires grad: a graph does not reach to other processes.
    """
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not "
            "support crossing process boundaries.  If you just want to transfer the data, call detach() on "
            "the tensor before serializing (e.g., putting it on the queue).")
    memory = as_marked(tensor.detach(), False, False)
    root = plan_of(memory).root.geometry
    sent = None if root.root_conj or root.root_neg else mappings.sent(memory)
    if sent is None:
        return tensor.__reduce_ex__(2)
    where = memory.dtype, memory.storage_offset(), tuple(memory.shape), strides_of(memory)
    marks = is_conj(tensor), is_neg(tensor)
    return rebuild_tensor, (type(tensor), sent, where, marks, tensor.requires_grad, tensor.__dict__ or None)


def rebuild_tensor(cls: type, sent: tuple, where: tuple, marks: tuple, requires_grad: bool,
                   attributes: dict | None) -> Tensor:
    """The tensor that `reduce_tensor` describes."""
    tensor = storage_of(mappings.received(*sent)).tensor(*where)
    return restored(tensor, cls, requires_grad, attributes, marks)


def reduce_storage(storage: UntypedStorage) -> tuple:
    """What ``pickle`` is to make of a storage for another process."""
    sent = mappings.sent(storage._tensor)
    return storage.__reduce__() if sent is None else (rebuild_storage, sent)


def rebuild_storage(name: str, nbytes: int) -> UntypedStorage:
    """The storage that `reduce_storage` describes."""
    return storage_of(mappings.received(name, nbytes))


def init_reductions() -> None:
    """Let the picklers of ``multiprocessing`` send tensors so; done when jaxflow is imported."""
    kinds: tuple[Any, ...] = Tensor, Parameter
    for kind in kinds:
        ForkingPickler.register(kind, reduce_tensor)
    ForkingPickler.register(UntypedStorage, reduce_storage)
