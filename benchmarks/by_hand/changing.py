"""Changing shapes, as who knows JAX writes them: padded to a few sizes, each compiled once."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from .. import changing
from ..clock import OverBatches, now
from ..models import gpt, policy, trees
from ..models.policy import Cart
from . import layers
from .gpt import GPT
from .optimizers import AdamW
from .programs import Model, Program, Training


def padded(array, size, value=0):
    """A NumPy array made `size` long in its last dimension."""
    room = [(0, 0)] * (array.ndim - 1) + [(0, size - array.shape[-1])]
    return np.pad(array, room, constant_values=value)


class ChangingLengths(OverBatches, Training):
    """Lengths are rounded up to multiples of 16; targets of the added places do not count."""

    bucket = 16

    def data(self):
        batches = []
        for words, targets in changing.of_all_lengths(self.model.task):
            size = -(-words.shape[-1] // self.bucket) * self.bucket
            batches.append((self.array(padded(words, size)), self.array(padded(targets, size, -1))))
        return batches

    def numbers(self):
        return super().numbers(len(changing.CHECKED))

    def over(self, batches):
        for batch in batches:
            self.state, loss = self.step(self.state, *batch)
        float(loss)


class LengthsAgain(ChangingLengths):
    passes = 1


class Trees(Model):
    """All trees of a batch at once: leaves looked up together, inner nodes in a scan over places."""

    task = trees.Trees

    def loss(self, p, buffers, new, words, pairs, roots, targets, key=None):
        task = self.task
        width, leaves = task.width, task.leaves[1]
        start = jnp.zeros((task.examples, 2 * leaves - 1, 2 * width))
        start = start.at[:, :leaves].set(p["embedding.weight"][words])
        row = jnp.arange(task.examples)

        def join(states, at):
            place, (left, right) = at
            one, two = states[row, left], states[row, right]
            both = jnp.concatenate((one[:, :width], two[:, :width]), -1)
            i, f, g, o, u = jnp.split(layers.linear(both, p, "join"), 5, axis=-1)
            c = jax.nn.sigmoid(i) * jnp.tanh(u)
            c = c + jax.nn.sigmoid(f) * one[:, width:] + jax.nn.sigmoid(g) * two[:, width:]
            joined = jnp.concatenate((jax.nn.sigmoid(o) * jnp.tanh(c), c), -1)
            return jax.lax.dynamic_update_index_in_dim(states, joined, place, 1), None

        places = leaves + jnp.arange(leaves - 1)
        states, _ = jax.lax.scan(join, start, (places, (pairs[..., 0].T, pairs[..., 1].T)))
        logits = layers.linear(states[row, roots][:, :width], p, "head")
        return layers.cross_entropy(logits, targets)


class TreeTraining(Training):
    def data(self):
        return [self.laid_out(*batch) for batch in self.model.task.data()]

    def laid_out(self, words, pairs, targets):
        """Leaves at places 0 to most - 1, inner nodes after them; what is missing joins place 0 to itself."""
        most = self.model.task.leaves[1]
        inner = np.zeros((len(words), most - 1, 2), int)
        for tree, (own, joins) in enumerate(zip(words, pairs)):
            for place, pair in enumerate(joins):
                inner[tree, place] = [n if n < len(own) else n - len(own) + most for n in pair]
        roots = np.array([most + len(joins) - 1 for joins in pairs])
        words = np.stack([padded(own, most) for own in words])
        return tuple(map(self.array, (words, inner, roots, targets)))

    def numbers(self):
        return super().numbers(3)


class Generator(GPT):
    task = gpt.Generator


class Generation(Program):
    """The context lies in an array of 32, 64, 128, ... places; what is behind its end is not looked at."""

    def numbers(self):
        model, (p, buffers) = self.model, self.fresh()

        def logits(window, length):
            return model.answer(p, buffers, {}, window, train=False)[0, length - 1]

        def following(window, length):
            code = logits(window, length).argmax()
            return jax.lax.dynamic_update_slice(window, code.astype(jnp.int32)[None, None], (0, length)), code

        self.following = jax.jit(following, donate_argnums=0)
        self.length = changing.Generation.start - 1
        codes = np.random.default_rng(5).integers(model.task.vocabulary, size=(1, self.length))
        self.codes = codes.astype(np.int32)
        ask, window = jax.jit(logits), jnp.asarray(padded(self.codes, 32))
        return [float(jnp.abs(ask(window, length)).mean()) for length in (3, 5, 7)]

    def measure(self, steps):
        began = now()
        codes, length = self.codes, self.length
        for _ in range(steps):
            if length == codes.shape[1]:
                codes = jnp.asarray(padded(np.asarray(codes), max(32, 2 * length)))
            codes, code = self.following(codes, length)
            length += 1
            int(code)
        seconds = now() - began
        self.codes, self.length = codes, length
        return seconds / steps


class GenerationAgain(Generation):
    """Nothing else happens the second time."""


class Policy(Model):
    task = policy.Policy
    optimizer = AdamW(1e-3, weight_decay=0.0)

    def answer(self, p, states):
        return layers.linear(jax.nn.relu(layers.linear(states, p, "0")), p, "2")


class Reinforcement(Program):
    """A jitted choice at each step; at the end one jitted update on the states seen, padded."""

    def numbers(self):
        model, (self.p, _) = self.model, self.fresh()
        self.moments = model.optimizer.start(self.p)
        self.key = jax.random.key(0)

        @jax.jit
        def chance(p, state):
            return jax.nn.softmax(model.answer(p, state[None]))[0, 0]

        @jax.jit
        def sampled(p, state, key):
            key, draw = jax.random.split(key)
            return jax.random.categorical(draw, model.answer(p, state[None])[0]), key

        def update(p, moments, states, actions, returns):
            def loss_of(p):
                chosen = jax.nn.log_softmax(model.answer(p, states))
                return -(jnp.take_along_axis(chosen, actions[:, None], 1)[:, 0] * returns).sum()

            loss, gradients = jax.value_and_grad(loss_of)(p)
            return *model.optimizer.update(p, gradients, moments), loss

        self.sampled, self.update = sampled, jax.jit(update, donate_argnums=(0, 1))
        self.lengths = model.task.lengths()
        random = np.random.default_rng(6)

        def given(state):
            return int(random.random() > float(chance(self.p, state)))

        return [float(self.episode(length, given)) for length in (12, 17, 12)]

    def choose(self, state):
        action, self.key = self.sampled(self.p, state, self.key)
        return int(action)

    def measure(self, steps):
        moves = list(itertools.islice(self.lengths, steps))
        began = now()
        for length in moves:
            loss = self.episode(length, self.choose)
        float(loss)
        return (now() - began) / sum(moves)

    def episode(self, length, choose):
        task, cart = self.model.task, Cart()
        states = np.zeros((task.longest, 4), np.float32)
        actions = np.zeros(task.longest, np.int32)
        rewards = []
        for i in range(length):
            states[i] = cart.state()
            actions[i] = choose(states[i])
            rewards.append(cart.step(actions[i]))
        returns = padded(task.returns(rewards), task.longest)
        self.p, self.moments, loss = self.update(self.p, self.moments, states, actions, returns)
        return loss
