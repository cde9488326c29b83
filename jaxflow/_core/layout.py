"""``layout``, ``memory_format`` and ``qscheme``: words by which programs name how elements are stored."""

from __future__ import annotations


class _Word:
    """A named singleton whose repr is PyTorch's; pickling and copying give the same object."""

    __slots__ = ("name",)

    def __new__(cls, *args, **kwargs):
        raise TypeError(f"cannot create 'torch.{cls.__name__}' instances")

    @classmethod
    def _declare(cls, name):
        self = object.__new__(cls)
        object.__setattr__(self, "name", name)
        return self

    def __setattr__(self, name, value):
        raise AttributeError(f"'torch.{type(self).__name__}' objects cannot be changed")

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return self.name


class layout(_Word):
    """How elements are stored: one by one (``strided``), those that are not zero, rows (``jagged``)."""

    __slots__ = ()


class memory_format(_Word):
    """The order in memory that a new tensor's strides follow."""

    __slots__ = ()


class qscheme(_Word):
    """How the integers of a quantized tensor stand for numbers: by one scale, or one for each channel."""

    __slots__ = ()


strided = layout._declare("strided")
sparse_coo = layout._declare("sparse_coo")
sparse_csr = layout._declare("sparse_csr")
sparse_csc = layout._declare("sparse_csc")
sparse_bsr = layout._declare("sparse_bsr")
sparse_bsc = layout._declare("sparse_bsc")
jagged = layout._declare("jagged")

contiguous_format = memory_format._declare("contiguous_format")
preserve_format = memory_format._declare("preserve_format")
channels_last = memory_format._declare("channels_last")
channels_last_3d = memory_format._declare("channels_last_3d")

per_tensor_affine = qscheme._declare("per_tensor_affine")
per_channel_affine = qscheme._declare("per_channel_affine")
per_tensor_symmetric = qscheme._declare("per_tensor_symmetric")
per_channel_symmetric = qscheme._declare("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme._declare("per_channel_affine_float_qparams")
