"""Losses, normalisations, attention and recurrent layers."""

import jaxflow as torch
from jaxflow._dispatch.dispatch import apply
from jaxflow._plans.op import OPS
from jaxflow._publish.bind import draw
from jaxflow.nn._functional.recurrent import recurrent

from .row import index, row

F = torch.nn.functional
X = (2, 3)


def _double(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def _kinds(loss, *shapes, kinds="none mean sum", **where):
    """The reductions of one loss, each a result of one call."""
    def call(*tensors):
        return tuple(loss(*tensors, reduction=kind) for kind in kinds.split())

    return row(call, *shapes, **where)


def _layer(mode, states=1, bias=False, projected=False):
    """One recurrent layer, run from both ends with the same weights."""

    def call(input, *tensors):
        first, weights = tensors[:states], tensors[states:]
        output, lasts = recurrent(
            mode, input, [torch.stack([s, s]) for s in first], [weights, weights], bias=bias,
            bidirectional=True, projected=projected, dropout=0.0,
        )
        return output, *lasts

    return call


def _lstm_cell(which):
    return lambda x, h, c, *weights: torch.lstm_cell(x, (h, c), *weights)[which]


def _classes(loss, targets, **options):
    return lambda x, **o: loss(x, targets(), _double(0.5, 1.0, 2.0), **options, **o)


def _flat():
    return index(2, 0)


def _signs():
    return _double([1, -1, 1], [-1, -1, 1])


def _image():
    return index([[[2, 0]]])


def _line():
    return index([[2, 0]])


def _dropped(q, k, v):
    torch.manual_seed(3)
    return F.scaled_dot_product_attention(q, k, v, dropout_p=0.5)


def _dropped_in_blocks(q, k, v):
    torch.manual_seed(3)
    inputs = (q, k, v, None, 0.5, 2.0, *draw(torch.Generator(stream="counter")))
    return apply(OPS["_scaled_dot_product_attention_dropped"], inputs, (False, None, False))


Q, K, V = (1, 2, 2), (1, 3, 2), (1, 3, 1)

ROWS = {
    "_weight_norm": row(torch._weight_norm, (2, 3), (2, 1)),
    "_weight_norm/all": row(lambda v, g: torch._weight_norm(v, g, -1), (2, 3), ()),
    # of a difference
    "_mse_loss": _kinds(F.mse_loss, X, X),
    "_smooth_l1_loss": _kinds(lambda x, y, **o: F.smooth_l1_loss(x, y, beta=0.7, **o), X, X),
    "_huber_loss": _kinds(lambda x, y, **o: F.huber_loss(x, y, delta=0.7, **o), X, X),
    "_soft_margin_loss": _kinds(lambda x, **o: F.soft_margin_loss(x, _signs(), **o), X, low=-1.1, high=1.3),
    # of probabilities
    "_binary_cross_entropy": _kinds(
        lambda x, y, **o: F.binary_cross_entropy(x, y, _double(0.5, 1.0, 2.0), **o),
        X, X, low=0.1, high=0.9,
    ),
    "_binary_cross_entropy_with_logits": _kinds(
        lambda x, y, **o: F.binary_cross_entropy_with_logits(
            x, y, _double(0.5, 1.0, 2.0), pos_weight=_double(2.0, 0.3, 1.0), **o
        ),
        X, X,
    ),
    "_kl_div": _kinds(F.kl_div, X, X, kinds="none batchmean sum"),
    "_kl_div/log_target": _kinds(
        lambda x, y, **o: F.kl_div(x, y, log_target=True, **o), X, X, kinds="none batchmean sum"
    ),
    # over classes
    **{
        f"_{name}_{layout}": _kinds(_classes(loss, targets), shape)
        for name, loss in (("nll_loss", F.nll_loss), ("cross_entropy", F.cross_entropy))
        for layout, targets, shape in (
            ("flat", _flat, (2, 3)), ("images", _image, (1, 3, 1, 2)), ("reshaped", _line, (1, 3, 2))
        )
    },
    "_cross_entropy_flat/ignored": _kinds(_classes(F.cross_entropy, _flat, ignore_index=0), X),
    "_cross_entropy_smoothed": _kinds(_classes(F.cross_entropy, _flat, label_smoothing=0.3), X),
    "_cross_entropy_of_probabilities": _kinds(
        lambda x, y, **o: F.cross_entropy(x, y, _double(0.5, 1.0, 2.0), label_smoothing=0.2, **o), X, X
    ),
    "_ctc_loss": row(
        lambda x: F.ctc_loss(x.log_softmax(-1), index([[1, 1]]), (3,), (2,), reduction="none"), (3, 1, 2)
    ),
    "_ctc_loss/one row": row(
        lambda x: F.ctc_loss(x.log_softmax(-1), index(0, 0), (2, 1), (1, 1), blank=1), (2, 2, 2)
    ),
    "_softmax_backward_data": row(lambda g, y: torch._softmax_backward_data(g, y, 1, y.dtype), X, X),
    "_log_softmax_backward_data": row(lambda g, y: torch._log_softmax_backward_data(g, y, 0, y.dtype), X, X),
    "_safe_softmax": row(
        lambda x: torch.ops.aten._safe_softmax(x.masked_fill(index([0], [1]) == 1, -torch.inf), 1), X
    ),
    "_native_group_norm": row(
        lambda x, w, b: torch.native_group_norm(x, w, b, 2, 4, 2, 2, 0.1), (2, 4, 2), (4,), (4,)
    ),
    "_multi_margin_loss": _kinds(lambda x, **o: F.multi_margin_loss(x, _flat(), **o), X),
    "_multi_margin_loss/squared": _kinds(
        lambda x, **o: F.multi_margin_loss(x, _flat(), p=2, weight=_double(0.5, 1, 2), **o), X
    ),
    "_multilabel_margin_loss": _kinds(
        lambda x, **o: F.multilabel_margin_loss(x, index([2, 0, -1], [1, -1, 0]), **o), X
    ),
    # normalisations
    "_layer_norm": row(lambda x, w, b: F.layer_norm(x, (3,), w, b), X, (3,), (3,)),
    "_layer_norm/two": row(lambda x: F.layer_norm(x, (2, 2), eps=0.1), (2, 2, 2)),
    "_rms_norm": row(lambda x, w: F.rms_norm(x, (3,), w), X, (3,)),
    "_group_norm": row(lambda x, w, b: F.group_norm(x, 2, w, b), (1, 4, 2), (4,), (4,)),
    "_batch_norm_train": row(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), (2, 2, 2), (2,), (2,)
    ),
    "_batch_norm_eval": row(
        lambda x, w, b: F.batch_norm(x, _double(0.4, 0.9), _double(1.5, 0.6), w, b), (2, 2, 1), (2,), (2,)
    ),
    # attention
    "_scaled_dot_product_attention": row(F.scaled_dot_product_attention, Q, K, V),
    "_scaled_dot_product_attention/causal": row(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.9), K, K, V
    ),
    "_scaled_dot_product_attention/mask": row(
        F.scaled_dot_product_attention, Q, K, V, (2, 3)
    ),
    "_scaled_dot_product_attention/bool mask": row(
        lambda q, k, v: F.scaled_dot_product_attention(
            q, k, v, torch.tensor([[True, False, True], [False, False, False]])
        ),
        Q, K, V,
    ),
    "_scaled_dot_product_attention/dropout": row(_dropped, Q, K, V),
    "_scaled_dot_product_attention_dropped": row(_dropped_in_blocks, Q, K, V),
    "_scaled_dot_product_attention/gqa": row(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        (2, 1, 2), (1, 2, 2), (1, 2, 1),
    ),
    # recurrent layers: the input, the first state (and memory), the weights
    "_rnn_tanh_layer": row(_layer("RNN_TANH"), (2, 1, 2), (1, 2), (2, 2), (2, 2), low=-0.9, high=0.9),
    "_rnn_relu_layer": row(_layer("RNN_RELU", bias=True), (2, 1, 2), (1, 2), (2, 2), (2, 2), (2,), (2,)),
    "_gru_layer": row(
        _layer("GRU", bias=True), (2, 1, 1), (1, 2), (6, 1), (6, 2), (6,), (6,), low=-0.9, high=0.9
    ),
    "_lstm_layer": row(
        _layer("LSTM", 2, bias=True), (2, 1, 1), (1, 2), (1, 2), (8, 1), (8, 2), (8,), (8,), low=-0.9,
        high=0.9,
    ),
    "_lstm_layer/projected": row(
        _layer("LSTM", 2, projected=True), (2, 1, 1), (1, 1), (1, 2), (8, 1), (8, 1), (1, 2), low=-0.9,
        high=0.9,
    ),
    "_pad_sequence": row(
        lambda x, y: torch.nn.utils.rnn.pad_sequence([x, y], True, padding_side="left"), (3, 2), (1, 2)
    ),
    "_pack_padded_sequence": row(
        lambda x: torch.nn.utils.rnn.pack_padded_sequence(x, [1, 3], enforce_sorted=False).data, (3, 2, 2)
    ),
    "_pad_packed_sequence": row(
        lambda x: torch.nn.utils.rnn.pad_packed_sequence(
            torch.nn.utils.rnn.PackedSequence(x, torch.tensor([2, 1])), padding_value=7.0)[0],
        (3, 2),
    ),
    # one step of them: the input, the state (and memory), the weights and biases
    "_rnn_tanh_cell": row(torch.rnn_tanh_cell, (2, 1), (2, 2), (2, 1), (2, 2), low=-0.9, high=0.9),
    "_rnn_relu_cell": row(torch.rnn_relu_cell, (2, 1), (2, 2), (2, 1), (2, 2), (2,), (2,)),
    "_gru_cell": row(torch.gru_cell, (2, 1), (2, 2), (6, 1), (6, 2), (6,), (6,), low=-0.9, high=0.9),
    "_lstm_memory": row(
        _lstm_cell(1), (2, 1), (2, 2), (2, 2), (8, 1), (8, 2), (8,), (8,), low=-0.9, high=0.9
    ),
    "_lstm_state": row(_lstm_cell(0), (2, 1), (2, 2), (2, 2), (8, 1), (8, 2), low=-0.9, high=0.9),
}
