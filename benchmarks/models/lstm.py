"""A language model of two LSTM layers, on sequences of one length or of another one in every batch."""

from .task import Task


class LanguageModel(Task):
    layers, width, length, examples, vocabulary = 2, 256, 64, 32, 1000
    clip = 1.0

    def network(self):
        nn, task = self.nn, self

        class Network(nn.Module):
            def __init__(self):
                super().__init__()
                self.embedding = nn.Embedding(task.vocabulary, task.width)
                self.lstm = nn.LSTM(task.width, task.width, task.layers, batch_first=True)
                self.decoder = nn.Linear(task.width, task.vocabulary)

            def forward(self, words):
                hidden, _ = self.lstm(self.embedding(words))
                return self.decoder(hidden)

        return Network()

    @classmethod
    def batch(cls, random, length=None):
        chunk = random.integers(cls.vocabulary, size=(cls.examples, (length or cls.length) + 1))
        return chunk[:, :-1].copy(), chunk[:, 1:].copy()

    def loss(self, network, words, targets):
        return self.F.cross_entropy(network(words).flatten(0, 1), targets.flatten())
