"""What single operations cost, in PyTorch's style; by hand in by_hand/small.py."""

from .clock import now, repeated

OPS = 400


class Small:
    """As `programs.Program`, without a network; ``numbers()`` is the result of doing it once."""

    compiles = False  # whether there is something to compile

    def __init__(self, torch, task, compiled=False, device="cpu", dtype="float32"):
        if compiled and not self.compiles:
            raise NotImplementedError("nothing is compiled there")
        self.torch, self.compiled, self.device = torch, compiled, device
        self.dtype = getattr(torch, dtype)
        self.make()

    def shapes(self):
        return {}

    def make(self):
        pass

    def full(self, value, *shape, grad=False):
        made = self.torch.full(shape, value, device=self.device, dtype=self.dtype)
        return made.requires_grad_(grad)

    def numbers(self):
        return [float(self.once())]

    def measure(self, steps):
        """Seconds of `steps` times ``once()``, over what it does each time."""
        return repeated(self.once, float, steps) / (steps * self.each)


class Op(Small):
    """Elementwise operations on 8 x 8, one after the other; their result is read afterwards, untimed."""

    each, grad = OPS, False

    def make(self):
        self.x, self.y = self.full(1.0, 8, 8, grad=self.grad), self.full(1.5, 8, 8)

    def chain(self):
        z, y = self.x, self.y
        for _ in range(OPS // 4):
            z = ((z * y + 1.0) - y) * 0.5
        return z

    def numbers(self):
        return [float(self.chain().sum().item())]

    def measure(self, steps):
        seconds = 0.0
        for _ in range(steps):
            began = now()
            z = self.chain()
            seconds += now() - began
            z.sum().item()
        return seconds / (steps * OPS)


class OpWithGrad(Op):
    grad = True


class BackwardNode(Op):
    """``backward`` of the chain until the gradient can be read, by node."""

    grad = True

    def numbers(self):
        self.x.grad = None
        self.chain().sum().backward()
        return [self.x.grad.sum().item()]

    def measure(self, steps):
        seconds = 0.0
        for _ in range(steps):
            self.x.grad = None
            loss = self.chain().sum()
            loss.item()
            began = now()
            loss.backward()
            self.x.grad[0, 0].item()
            seconds += now() - began
        return seconds / (steps * OPS)


class Optimizer(Small):
    """A step of Adam over so many parameters of 8 x 8, by parameter; the last result is read."""

    each, compiles = 10, True

    def make(self):
        torch = self.torch
        self.parameters = [torch.nn.Parameter(self.full(1.0, 8, 8)) for _ in range(self.each)]
        for parameter in self.parameters:
            parameter.grad = self.full(0.5, 8, 8)
        optimizer = torch.optim.Adam(self.parameters, lr=1e-3)
        # What is recorded to make the parameters does not belong to the step.
        self.parameters[0].sum().item()
        self.step = optimizer.step
        if self.compiled:
            self.step = torch.compile(lambda: optimizer.step())  # noqa: PLW0108 (hooks stay outside)

    def numbers(self):
        self.step()
        return [self.parameters[-1].sum().item()]

    def measure(self, steps):
        seconds = repeated(self.step, lambda _: self.parameters[-1][0, 0].item(), steps)
        return seconds / (steps * self.each)


class Optimizer100(Optimizer):
    each = 100


class Optimizer1000(Optimizer):
    each = 1000


class Item(Small):
    """One operation on one number, and ``item()``."""

    each = 1

    def make(self):
        self.x = self.full(1.0, 1)

    def once(self):
        return (self.x + 1.0).item()


def indexed(x, rows):
    parts = x[3], x[:, 2], x[1:9, ::2], x[rows], x[..., None, -1], x[4, 5]
    return sum(part.sum() for part in parts)


class Index(Small):
    """Six ways to index a matrix and a sum over each; the last is read."""

    each = 6

    def make(self):
        self.x = self.torch.arange(1200, dtype=self.dtype, device=self.device).reshape(30, 40)
        self.rows = self.torch.tensor([3, 7, 29], device=self.device)

    def once(self):
        return indexed(self.x, self.rows).item()


class Chain(Small):
    """A hundred elementwise operations on one tensor, and one number of the result."""

    each, size, compiles = 100, 10, True

    def make(self):
        torch = self.torch
        self.x = self.full(0.5, self.size)

        def chain(x):
            for _ in range(25):
                x = torch.sin(x * 1.01 + 0.1) - 0.2
            return x

        self.chain = torch.compile(chain) if self.compiled else chain

    def once(self):
        return self.chain(self.x)[0].item()


class LargeChain(Chain):
    size = 10_000_000


class Nothing:
    """Stands where a workload has no network."""


