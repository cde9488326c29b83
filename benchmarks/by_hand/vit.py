"""A vision transformer; the patches are cut by reshaping, not by a convolution."""

import math

import jax
import jax.numpy as jnp

from ..models import vit
from .layers import cross_entropy, layer_norm, linear
from .programs import Model


class ViT(Model):
    task = vit.ViT

    def answer(self, p, buffers, new, images, train):
        task = self.task
        batch, colours, size, _ = images.shape
        side, patch, width, heads = size // task.patch, task.patch, task.width, task.heads
        cut = images.reshape(batch, colours, side, patch, side, patch).transpose(0, 2, 4, 1, 3, 5)
        x = cut.reshape(batch * side * side, -1) @ p["patches.weight"].reshape(width, -1).T
        x = (x + p["patches.bias"]).reshape(batch, -1, width)
        first = jnp.broadcast_to(p["first_token"], (batch, 1, width))
        x = jnp.concatenate((first, x), axis=1) + p["position"]
        for i in range(task.layers):
            name = f"blocks.{i}."
            parts = jnp.split(linear(layer_norm(x, p, name + "attention_norm"), p, name + "qkv"), 3, -1)
            q, k, v = (part.reshape(batch, -1, heads, width // heads) for part in parts)
            scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(width // heads)
            y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
            x = x + linear(y.reshape(x.shape), p, name + "out")
            h = linear(layer_norm(x, p, name + "mlp_norm"), p, name + "mlp.0")
            x = x + linear(jax.nn.gelu(h, approximate=False), p, name + "mlp.2")
        return linear(layer_norm(x, p, "norm")[:, 0], p, "head")

    def loss(self, p, buffers, new, images, targets, key=None):
        return cross_entropy(self.answer(p, buffers, new, images, train=True), targets)
