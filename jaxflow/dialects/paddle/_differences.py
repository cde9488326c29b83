"""Where Paddle's documented behaviour is not PyTorch's, and where this dialect is not Paddle's."""

from __future__ import annotations

# What, what PyTorch does, what Paddle and so this dialect do.
DIFFERENCES: list[tuple[str, str, str]] = [
    ("Tensor.stop_gradient", "requires_grad, False by default", "its opposite, True by default"),
    ("Tensor.backward()", "refuses more than one element without a gradient",
     "starts from a tensor filled with 1; a tensor with stop_gradient is passed over"),
    ("Tensor.backward(grad_tensor)", "RuntimeError for another shape",
     "AssertionError that names both tensors"),
    ("Tensor.clear_grad()", "grad = None", "fills the gradient with zeros; clear_gradient(False) forgets it"),
    ("paddle.grad", "a tuple; RuntimeError for an unused input",
     "a list; ValueError for an unused input; no_grad_vars close tensors to the gradient"),
    ("Tensor.register_hook", "the handle's remove() returns None",
     "remove() says whether the hook was there"),
    ("PyLayer.backward", "a gradient for every argument of forward", "one for every tensor among them"),
    ("PyLayerContext.saved_tensor()", "the attribute saved_tensors", "a method"),
    ("repr", "tensor(...)", "Tensor(shape=..., dtype=..., place=..., stop_gradient=..., and the numbers)"),
    ("Tensor.shape, .size, .numel()", "a Size, a method, an int", "a list, the number of elements, a tensor"),
    ("Tensor.numpy()", "refuses a tensor that requires grad", "gives a copy"),
    ("max, min", "over a dimension: values and indices",
     "values; several extremes get the whole gradient each"),
    ("sort", "values and indices", "values"),
    ("median", "the lower of two middle values", "their mean; mode='min' for the lower and its index"),
    ("cumsum, cumprod, cummax, ...", "want a dimension", "flatten without an axis"),
    ("split(x, n)", "parts of n elements", "n parts"),
    ("reshape", "0 is an empty dimension", "0 keeps the extent of x there"),
    ("transpose", "swaps two dimensions", "permutes all"),
    ("gather", "elements along a dimension", "rows: index_select"),
    ("nonzero(as_tuple=True), where(c)", "vectors", "columns"),
    ("dot", "vectors only", "row by row for matrices"),
    ("quantile", "in the dtype of x", "in float64"),
    ("nn.Linear.weight", "[out_features, in_features]", "[in_features, out_features]"),
    ("nn.BatchNorm momentum", "the share of the new statistics", "the share of the old ones"),
    ("nn.functional.smooth_l1_loss", "delta divides", "delta multiplies: PyTorch's huber_loss"),
    ("nn.functional.avg_pool*d", "padding counts", "padding does not count (exclusive=True)"),
]

# Where the dialect knowingly falls short of Paddle.
SHORTCOMINGS: list[str] = [
    "A gradient made without create_graph says stop_gradient=False, as in Paddle, but operations on it are "
    "not recorded; the same holds for integers set to stop_gradient=False.",
    "reshape_ of a tensor with history is refused.",
    "Names of PyTorch's tensor that Paddle's has not stay reachable on it, with PyTorch's meaning.",
    "Messages of errors that come from below the dialect are PyTorch's.",
]
