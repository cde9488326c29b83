"""Paddle's page of ``Tensor.backward``."""

from .rows import Document, Noise, Row

_P, _T = "paddle::", "tensor_backward::"

PADDLE = Document("E", "paddle_tensor_backward.txt", "Paddle: Tensor.backward", 24, {
    1: Noise("heading"),
    2: Row("the parameters are grad_tensor and retain_graph", _P + "signature"),
    3: Row("grad_tensor is None by default", _P + "signature", _P + "none_is_a_tensor_of_ones"),
    4: Row("retain_graph is False by default", _P + "signature", _P + "false_frees_the_graph"),
    5: Row("runs backward of the graph that leads to this tensor", _P + "runs_backward_from_this_tensor",
           _T + "gradient_with_respect_to_leaves"),
    6: Row("a new gradient is added to the one before", _P + "gradients_accumulate",
           _T + "accumulates_until_zeroed_or_none"),
    7: Row("clear_grad() clears it", _P + "clear_grad"),
    8: Row("grad_tensor: the initial gradient of this tensor", _P + "the_initial_gradient",
           _T + "gradient_is_of_this_tensor"),
    9: Row("grad_tensor may be left out", _P + "none_is_a_tensor_of_ones"),
    10: Row("None stands for a tensor filled with 1, whatever the shape", _P + "none_is_a_tensor_of_ones"),
    11: Row("otherwise it has the length of this tensor", _P + "a_gradient_of_another_length_is_refused",
            _T + "gradient_of_matching_type_and_location"),
    12: Row("None is the default", _P + "signature"),
    13: Row("retain_graph: False frees the graph", _P + "false_frees_the_graph", _T + "retain_graph"),
    14: Row("True keeps it, for operations added to the graph afterwards",
            _P + "true_allows_more_operations_on_the_graph"),
    15: Row("and gradients are kept then", _P + "true_allows_more_operations_on_the_graph"),
    16: Row("False needs much less memory", _P + "false_lets_go_of_what_was_saved"),
    17: Row("False is the default", _P + "signature", _P + "false_frees_the_graph"),
    18: Row("returns None", _P + "runs_backward_from_this_tensor"),
    19: Row("of type NoneType", _P + "runs_backward_from_this_tensor"),
    20: Row("example: a leaf made with to_tensor(..., stop_gradient=False)", _P + "the_example"),
    21: Row("example: five times pow and backward, and what x.grad prints as", _P + "the_example"),
    22: Row("example: clear_grad, after which the gradient prints as zero", _P + "the_example",
            _P + "clear_grad"),
    23: Row("example: a tensor as the initial gradient", _P + "the_example", _P + "the_initial_gradient"),
    24: Row("example: five times with it, accumulating and printing", _P + "the_example"),
})
