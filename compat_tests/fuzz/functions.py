"""Custom functions for random programs, made once for each library."""

import functools

FORWARDS = {
    "double": lambda ctx, x: x * 2,
    "itself": lambda ctx, x: x,
    "part": lambda ctx, x: x[:1] if x.dim() else x.view(1),
    "flat": lambda ctx, x: x.reshape(-1),
    "write": lambda ctx, x: (ctx.mark_dirty(x), x.mul_(2))[1],
    "marked": lambda ctx, x: _marked(ctx, x * 2),
}


def _marked(ctx, y):
    ctx.mark_non_differentiable(y)
    return y


@functools.cache
def function(T, name):
    """The function of that name; it saves its input, and its gradient is any that fits."""

    def forward(ctx, x):
        if name != "write":
            ctx.save_for_backward(x)
        ctx.example = x.detach().clone()
        return FORWARDS[name](ctx, x)

    def backward(ctx, g):
        saved = ctx.saved_tensors
        return ctx.example * g.sum() + (saved[0] * 0.5 if saved else 0)

    return type("Made", (T.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(backward)
    })


def call(T, name, x):
    """Apply it."""
    return function(T, name).apply(x)
