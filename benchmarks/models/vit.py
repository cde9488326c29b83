"""A vision transformer: Dosovitskiy et al. (2020), six layers on 64 patches of 4 x 4 and a class token."""

from .task import Task, pictures


class ViT(Task):
    layers, heads, width, patch, examples = 6, 3, 192, 4, 32

    def network(self):
        torch, nn, F, task = self.torch, self.nn, self.F, self

        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.attention_norm, self.mlp_norm = nn.LayerNorm(width), nn.LayerNorm(width)
                self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
                self.mlp = nn.Sequential(
                    nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
                )

            def forward(self, x):
                batch, length, width = x.shape
                qkv = self.qkv(self.attention_norm(x)).view(batch, length, 3, task.heads, -1)
                q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
                y = F.scaled_dot_product_attention(q, k, v)
                x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
                return x + self.mlp(self.mlp_norm(x))

        class Network(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.patches = nn.Conv2d(3, width, task.patch, stride=task.patch)
                tokens = (32 // task.patch) ** 2 + 1
                self.first_token = nn.Parameter(torch.zeros(1, 1, width))
                self.position = nn.Parameter(torch.zeros(1, tokens, width))
                self.blocks = nn.Sequential(*(Block(width) for _ in range(task.layers)))
                self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 10)

            def forward(self, images):
                x = self.patches(images).flatten(2).transpose(1, 2)
                x = torch.cat((self.first_token.expand(len(x), -1, -1), x), dim=1) + self.position
                return self.head(self.norm(self.blocks(x))[:, 0])

        return Network(task.width)

    @classmethod
    def batch(cls, random):
        return pictures(random, cls.examples, 32)
