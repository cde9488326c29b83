"""Which operations are cast inside autocast regions, and how: PyTorch's lists in this project's names.

Source: the operator reference in PyTorch's documentation of ``torch.amp``; what it leaves out was measured
on PyTorch 2.13 (``compat_tests/test_autocast_dtypes.py``). A name is that of an operation, or
``namespace.name`` of a function that is composed of operations and that PyTorch counts as one.
"""

from __future__ import annotations

#: How operands are cast: to the lower precision, to float32, to the widest dtype among them.
LOWER, FLOAT, WIDEST = "lower", "float32", "widest"
#: To float32 if the first operand is of floating point, and no ``dtype`` is given.
FLOAT_UNLESS_NAMED = "float32 unless dtype="
#: To the widest of the lower precision and the dtype of one operand, the state that a recurrent cell adds to:
#: PyTorch computes the gates by `linear`, in the lower precision, and the rest in the dtype of the state.
AS_OPERAND = {"as operand 1": 1, "as operand 2": 2}
_AS_STATE, _AS_MEMORY = AS_OPERAND
#: Refused.
BANNED = "banned"

BANNED_WORDS = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Use binary_cross_entropy_with_logits or BCEWithLogitsLoss instead: they take what comes before the "
    "sigmoid, and may be computed in lower precision.")

_PRODUCTS = """
    mm bmm addmm addbmm baddbmm prelu matmul __matmul__ __rmatmul__
    _matmul_vec_mat _matmul_folded _matmul_vec_batch _matmul_mat_batch _matmul_batched
    nn.functional.linear linalg.vecdot
    _linear_vector_bias _linear_matrix_bias _linear_batched_bias
    _linear_vector _linear_matrix _linear_batched
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    _convolution _convolution_transposed
    nn.functional.scaled_dot_product_attention _scaled_dot_product_attention
    _scaled_dot_product_attention_composed _scaled_dot_product_attention_dropped
"""

_LOSSES = """
    nn.functional.cosine_embedding_loss cosine_embedding_loss nn.functional.cross_entropy
    nn.functional.hinge_embedding_loss hinge_embedding_loss nn.functional.huber_loss
    nn.functional.kl_div kl_div nn.functional.l1_loss nn.functional.margin_ranking_loss margin_ranking_loss
    nn.functional.mse_loss nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss
    nn.functional.nll_loss nn.functional.poisson_nll_loss poisson_nll_loss
    nn.functional.smooth_l1_loss nn.functional.soft_margin_loss
    triplet_margin_loss nn.functional.binary_cross_entropy_with_logits binary_cross_entropy_with_logits
"""

_LISTS: dict[str, dict[str, str]] = {
    "cpu": {
        LOWER: _PRODUCTS + """
            _einsum_pair _inner _multi_dot _tensordot _lstm_layer
            _rnn_relu_cell _rnn_relu_layer _rnn_tanh_cell _rnn_tanh_layer
        """,
        FLOAT: _LOSSES + """
            nn.functional.binary_cross_entropy nn.functional.ctc_loss ctc_loss
            nn.functional.adaptive_avg_pool3d nn.functional.adaptive_max_pool3d
            nn.functional.adaptive_max_pool3d_with_indices nn.functional.avg_pool3d
            nn.functional.fractional_max_pool2d nn.functional.fractional_max_pool2d_with_indices
            nn.functional.fractional_max_pool3d nn.functional.fractional_max_pool3d_with_indices
            max_pool3d
            nn.functional.max_unpool1d nn.functional.max_unpool2d nn.functional.max_unpool3d
            reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d replication_pad3d
            grid_sampler grid_sampler_2d grid_sampler_3d
            cdist nanquantile polar prod quantile stft trace view_as_complex
            cholesky cholesky_inverse cholesky_solve geqrf inverse lu_solve lu orgqr ormqr pinverse
            triangular_solve
            linalg.cholesky linalg.cholesky_ex linalg.cond linalg.inv linalg.inv_ex linalg.lstsq
            linalg.matrix_rank linalg.solve linalg.tensorinv linalg.tensorsolve
            eig eigh eigvals eigvalsh qr svd svdvals
            fft.fft fft.ifft fft.ihfft fft fft2 fftn hfft ifft2 ifftn irfft irfft2 irfftn rfft rfft2 rfftn
        """,
        WIDEST: """
            cat index_copy stack
        """,
        _AS_STATE: """
            _gru_cell _gru_layer
        """,
        _AS_MEMORY: """
            _lstm_memory
        """,
    },
    "cuda": {
        LOWER: _PRODUCTS + """
            _inner einsum addmv addr chain_matmul linalg.multi_dot mv
            gru_cell lstm_cell rnn_relu_cell rnn_tanh_cell
            _gru_layer _lstm_layer _rnn_relu_layer _rnn_tanh_layer
        """,
        FLOAT: _LOSSES + """
            acos asin cosh erfinv exp expm1 log log10 log1p log2 reciprocal rsqrt sinh softplus tan
            pow pow_fixed _power_of_number _power_of_one logsumexp
            cdist cosine_similarity dist pairwise_distance pdist renorm square
            group_norm layer_norm native_layer_norm rms_norm
            nn.functional.group_norm nn.functional.layer_norm nn.functional.rms_norm
            _resize
        """,
        FLOAT_UNLESS_NAMED: """
            cumprod cumsum log_softmax prod softmax sum _sum_along_all
            frobenius_norm linalg.matrix_norm linalg.vector_norm norm nuclear_norm
        """,
        WIDEST: """
            addcdiv addcmul atan2 cross dot nn.functional.bilinear bilinear grid_sampler
            _inner_dot index_put scatter_add tensordot vdot
        """,
        BANNED: """
            nn.functional.binary_cross_entropy
        """,
    },
}

#: By type of device (``"cuda"`` stands for all accelerators): the kind of cast by name.
LISTS: dict[str, dict[str, str]] = {
    where: {name: kind for kind, names in kinds.items() for name in names.split()}
    for where, kinds in _LISTS.items()
}

#: The functions that count as one operation somewhere.
WHOLE = frozenset(name for names in LISTS.values() for name in names)
