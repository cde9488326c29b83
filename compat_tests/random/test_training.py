"""Training from a seed: weights, batches and masks are PyTorch's, so the losses are, but for rounding."""

import pytest
import torch

import jaxflow

STEPS = 12


def transformer(T):
    """A small language model with dropout, on batches drawn from a text of random letters."""
    nn, F = T.nn, T.nn.functional

    class Block(nn.Module):
        def __init__(self, width, heads, p):
            super().__init__()
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.parts, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(p))
            self.heads, self.p = heads, p

        def forward(self, x):
            batch, length, width = x.shape
            parts = self.parts(self.before(x)).reshape(batch, length, 3, self.heads, width // self.heads)
            q, k, v = parts.permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p, is_causal=True)
            x = x + F.dropout(self.out(y.transpose(1, 2).reshape(batch, length, width)), self.p)
            return x + self.mlp(self.between(x))

    codes = T.randint(0, 30, (400,))
    embed, head = nn.Embedding(30, 32), nn.Linear(32, 30)
    blocks = nn.Sequential(Block(32, 4, 0.2), Block(32, 4, 0.2))
    parameters = [*embed.parameters(), *blocks.parameters(), *head.parameters()]
    optimizer = T.optim.AdamW(parameters, lr=1e-3)

    def step():
        starts = T.randint(len(codes) - 17, (8,))
        x = T.stack([codes[i:i + 16] for i in starts])
        y = T.stack([codes[i + 1:i + 17] for i in starts])
        loss = F.cross_entropy(head(blocks(embed(x))).reshape(-1, 30), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def network(T):
    """A perceptron on shuffled batches of a loader, with noise on its inputs."""
    nn = T.nn
    x = T.randn(60, 10)
    data = T.utils.data.TensorDataset(x, (x.sum(1) > 0).long())
    loader = T.utils.data.DataLoader(data, batch_size=15, shuffle=True)
    net = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))
    optimizer = T.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)

    def step():
        total = 0.0
        for batch, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(batch + 0.1 * T.randn_like(batch)), labels)
            loss.backward()
            optimizer.step()
            total = total + loss.detach()
        return total

    return step


@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
@pytest.mark.parametrize("make", [transformer, network])
def test_losses_and_what_is_drawn_after_them(make, compiled):
    losses, states = [], []
    for T in (torch, jaxflow):
        T.manual_seed(1337)
        step = make(T)
        if compiled and T is jaxflow:
            step = jaxflow.compile(step)
        losses.append([step().item() for _ in range(STEPS)])
        states.append(T.get_rng_state().tolist())
    assert losses[1] == pytest.approx(losses[0], rel=2e-5)
    assert states[0] == states[1]
