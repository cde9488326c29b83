"""A network whose shape is the data's: the binary tree LSTM of Tai et al. (2015) over random trees."""

from .task import Task


class Trees(Task):
    """Each example is a tree in post-order: leaves are words, inner nodes pairs of places before them."""

    width, examples, vocabulary, classes = 64, 4, 200, 5
    leaves = (4, 16)
    batches = 100  # every batch has its own structure; none comes twice in a run

    def network(self):
        torch, nn, task = self.torch, self.nn, self

        class Network(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(task.vocabulary, 2 * task.width)
                self.join = nn.Linear(2 * task.width, 5 * task.width)
                self.head = nn.Linear(task.width, task.classes)

            def forward(self, words, pairs):
                states = [row.chunk(2) for row in self.embedding(words)]
                for left, right in pairs:
                    (h, c), (k, d) = states[left], states[right]
                    i, f, g, o, u = self.join(torch.cat((h, k))).chunk(5)
                    c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(f) * c + torch.sigmoid(g) * d
                    states.append((torch.sigmoid(o) * torch.tanh(c), c))
                return self.head(states[-1][0])

        return Network()

    @classmethod
    def batch(cls, random):
        """Words of each tree, pairs of each tree, and a class for each."""
        trees = []
        for _ in range(cls.examples):
            count = int(random.integers(cls.leaves[0], cls.leaves[1] + 1))
            roots, pairs = list(range(count)), []
            while len(roots) > 1:
                place = int(random.integers(len(roots) - 1))
                pairs.append((roots[place], roots[place + 1]))
                roots[place : place + 2] = [count + len(pairs) - 1]
            trees.append((random.integers(cls.vocabulary, size=count), pairs))
        words, pairs = zip(*trees)
        return words, pairs, random.integers(cls.classes, size=cls.examples)

    def loss(self, network, words, pairs, targets):
        logits = [network(*tree) for tree in zip(words, pairs)]
        return self.F.cross_entropy(self.torch.stack(logits), targets)
