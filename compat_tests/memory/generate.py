"""Random programs in which a tensor and a NumPy array may be one memory.

A program is a list of lines of Python, in which ``T`` is the library, ``look`` notes what it is given, and
``compiled`` compiles a function. All numbers are small integers, so that results are the same to the last
bit whatever computes them. A line that the library refuses is noted, and the program goes on.
"""

from __future__ import annotations

import random

#: Ways to make an array ``{a}``, with its number of dimensions.
ARRAYS = (
    ("np.arange(6, dtype=np.{d})", 1), ("np.arange(12, dtype=np.{d}).reshape(3, 4)", 2),
    ("np.arange(12, dtype=np.{d})[::2]", 1), ("np.arange(12, dtype=np.{d}).reshape(3, 4).T", 2),
    ("np.arange(20, dtype=np.{d}).reshape(4, 5)[1:, ::2]", 2),
    ("np.asfortranarray(np.ones((3, 2), np.{d}))", 2),
    ("np.arange(24, dtype=np.{d}).reshape(2, 3, 4)[:, 1]", 2), ("np.array(3, dtype=np.{d})", 0),
    ("np.zeros((0, 3), np.{d})", 2), ("np.ones((1, 4), np.{d})", 2),
    ("np.zeros((130, 140), np.{d})", 2),  # larger than what is copied without thinking
    ("np.broadcast_to(np.arange(3, dtype=np.{d}), (2, 3))", 2),
)
DTYPES = (
    "float32", "float64", "int64", "int32", "uint8", "bool", "complex64", "float16",
)

#: Ways to make a tensor of an array.
IMPORTS = (
    "T.from_numpy({a})", "T.as_tensor({a})", "T.asarray({a})", "T.asarray({a}, copy=False)",
    "T.from_numpy({a})[..., :2]", "T.from_numpy({a}).T", "T.tensor({a})",
    "T.frombuffer({a}, dtype=T.{d})", "T.utils.data.default_convert({a})",
    "T.from_dlpack({a})", "T.from_dlpack({a}.__dlpack__(max_version=(1, 0)))",
    "T.from_dlpack({a}, copy=True)",
)

#: Ways to make an array of a tensor.
EXPORTS = (
    "{t}.numpy()", "{t}.detach().numpy()", "np.asarray({t})", "{t}.cpu().numpy()", "{t}[1:].numpy()",
    "{t}.numpy(force=True)", "np.array({t})", "{t}.T.numpy()", "{t}.data.numpy()",
    "{t}.flatten().numpy()", "np.from_dlpack({t}.detach())", "np.from_dlpack({t}.detach()[..., 1:])",
    "np.from_dlpack({t}.detach(), copy=True)",
)

#: Tensors made by the library, with their number of dimensions.
TENSORS = (
    ("T.arange(6, dtype=T.{d})", 1), ("T.arange(12).reshape(3, 4).to(T.{d})", 2),
    ("T.ones(2, 3, dtype=T.{d})", 2),
    ("T.zeros((), dtype=T.{d})", 0), ("(T.arange(8, dtype=T.float64) + 1).to(T.{d})", 1),
    ("T.ones(130, 140, dtype=T.{d})", 2),
)

VIEWS_OF_TENSORS = (
    "{t}[1:]", "{t}[..., 0]", "{t}.T", "{t}.detach()", "{t}.reshape(-1)", "{t}[::2]", "{t}[None]",
    "{t}.expand(2, *{t}.shape)", "{t}.view(-1)", "{t}.as_strided((2,), (1,), 1)", "{t}.data", "{t}[-1]",
    "{t}.unbind(0)[0]",
    "T.utils.dlpack.from_dlpack(T.utils.dlpack.to_dlpack({t}.detach()))",
    "{t}.view(T.uint8) if {t}.numel() else None", "{t}.real",
)
VIEWS_OF_ARRAYS = (
    "{a}[1:]", "{a}.T", "{a}[::2]", "{a}.reshape(-1)", "{a}[None]", "{a}[..., :1]", "{a}.view()",
    "{a}.ravel()", "memoryview({a})", "{a}.view(np.uint8)",
)
WRITES_TO_TENSORS = (
    "{t}.add_({n})", "{t}[0] = {n}", "{t}.fill_({n})", "{t}.mul_(2)", "{t}.zero_()", "{t}[...] = {n}",
    "{t}.copy_({u})", "{t}[{t} > {n}] = 1", "T.add({t}, {n}, out={t})", "{t}.T.add_({n})",
    "{t}[:1].add_({n})", "{t} += {n}", "{t}.index_fill_(0, T.tensor([0]), {n}) if {t}.numel() else None",
    "{t}.data.add_({n})",
    "{t}.numpy()[...] = {n}", "{t}.clamp_(max={n})", "{t}.reshape(-1)[0] = {n}", "{t}[[0]] = {n}",
    "{t}.resize_(1) if {t}.numel() else None", "{t}.squeeze_()", "T._foreach_add_([{t}, {u}], {n})",
    "{t}.__ior__({n})", "{t}.index_add_(0, T.tensor([0, 0]), {t}[[0, 0]]) if {t}.numel() else None",
    "{t}.index_copy_(-1, T.tensor([0]), {t}[..., :1].clone() + {n}) if {t}.numel() else None",
    "{t}[..., [0, -1]] = {n}", "{t}.put_(T.tensor([-1, 0]), {t}.reshape(-1)[[0, 0]] * {n})",
    "{t}.scatter_(0, T.zeros_like({t}[:1], dtype=T.int64), {n})",
    "{t}.scatter_add_(-1, T.zeros_like({t}[..., :2], dtype=T.int64), {t}[..., :2].clone())",
    "{t}.index_put_((T.tensor([0, 0]),), {t}[:1].clone(), accumulate=True)",
    "{t}.masked_fill_({t}[:1] > {n}, 2)", "{t}[{t}[..., 0] > 1] = {u}.reshape(-1)[0]",
    "{t}.index_fill_(-1, T.tensor([-1]), {n}) if {t}.numel() else None",
    "{t}.masked_scatter_({t} > {n}, {t}.flatten().flip(0))", "{t}.copy_({t}.flip(0))",
)
WRITES_TO_ARRAYS = (
    "{a}[...] = {n}", "{a} += {n}", "{a}[0] = {n}", "{a}[..., 0] = {n}", "{a}.fill({n})",
    "np.add({a}, {n}, out={a})", "{a}[::-1].sort()", "np.copyto({a}, {n})", "{a}.flat[0] = {n}",
    "np.multiply({a}, 2, out={a})",
)
READS = (
    "{t} + 0", "{t} * 2", "{t}.sum()", "{t}.clone()", "{t}.to(T.float64)", "{t} == {u}",
    "T.stack([{t}, {t}])", "{t}[T.tensor([0])]", "{t}.T.contiguous()", "{t}.max()",
    "T.where({t} > 1, {t}, {t} * 0)", "{t}.float().mean()", "T.cat([{t}.reshape(-1), {u}.reshape(-1)])",
    "T.zeros_like({t})", "{t}.new_tensor({t}.tolist())", "copy.deepcopy({t})", "{t}.sort()[0]",
    "T.vmap(lambda x: x * 2)({t})", "{t}.double() @ {t}.double().T",
)
#: Writes through storages. A byte of a floating-point number is one that leaves small integers. When a
#: storage grows or moves to shared memory, arrays and slices of PyTorch's point at memory that was freed, so
#: neither happens to a storage that others may have.
WRITES_TO_STORAGES = (
    "{t}.untyped_storage()[{t}.itemsize - 1] = 64 if {t}.is_floating_point() else 0",
    "{t}.untyped_storage().fill_(0)", "{t}._typed_storage()[0] = {n}", "{t}._typed_storage().fill_({n})",
    "{t}._typed_storage()[-1] = {n}", "{t}._typed_storage()[1:3] = {n}",
    "{t}.untyped_storage()[:{t}.itemsize].fill_(0)", "{t}.untyped_storage()[4:12][1:] = 0",
    "{t}.untyped_storage().copy_({u}.untyped_storage())", "{t}._typed_storage().copy_({u}._typed_storage())",
    "{t}.untyped_storage().byteswap({t}.dtype if {t}.dtype in (T.int32, T.int64) else T.uint8)",
)
#: Tensors on the storage of another.
ON_STORAGES = (
    "T.zeros(0, dtype={t}.dtype).set_({t}.untyped_storage())",
    "T.zeros(0, dtype={t}.dtype).set_({t}._typed_storage(), 0, (2,) * ({t}._typed_storage().size() > 1)) "
    "if {t}._typed_storage().size() else None",
    "T.zeros(0, dtype=T.uint8).set_({t}.untyped_storage(), 1, (2, 2), (1, 2)) if {t}.nbytes > 4 else None",
    "T.asarray({t}.untyped_storage()[:2 * {t}.itemsize], dtype={t}.dtype)", "T.asarray({t}._typed_storage())",
    "T.as_tensor({t}.untyped_storage(), dtype=T.uint8)", "T.tensor({t}._typed_storage())",
    "T.asarray({t}._typed_storage().clone())", "{t}.clone().share_memory_()",
    "T.tensor({t}._typed_storage(), dtype={t}.dtype)",
    "T.asarray(copy.deepcopy({t}.untyped_storage()), dtype={t}.dtype)",
)
#: A tensor is given other memory; views of it, arrays and nodes have that of before.
OTHER_MEMORY = (
    "{t}.data = {u}", "{t}.data = {u}.clone()", "{t}.data = {t}[..., :1]", "{t}.data = {t} * 2",
    "{t}.data = {u}.T", "{t}.data = T.arange(6).reshape(2, 3).to({t}.dtype)", "{t}.data = {t}.T",
    "{t}.data = T.from_numpy(np.full(tuple({t}.shape), {n}, np.int64)).to({t}.dtype)",
    "{t}.data = T.from_numpy({a})", "{t}.data, {u}.data = {u}.data, {t}.data", "{t}.set_({u})",
    "{t}.data = {t}.data", "{t}.data = T.ones_like({t})",
)
#: Lists of tensors at once, and results that go into a part of memory or into several tensors.
AT_ONCE = (
    "T._foreach_add_([{t}, {u}], {n})", "T._foreach_mul_([{t}, {t}], 2)", "T._foreach_add_([{t}], [{u}])",
    "T._foreach_copy_([{t}, {u}], [{u}, {t}])", "T._foreach_zero_([{t}, {u}])",
    "T._foreach_neg_([{t}[1:]])", "T._foreach_mul_([{t}, {u}], [2, 3])",
    "T._foreach_clamp_max_([{t}, {u}], {n})", "T._foreach_addcmul_([{t}], [{u}], [{u}])",
    "T._foreach_lerp_([{t}], [{t}.clone()], 1)", "T.add({t}, {u}, out={t})",
    "T.add({t}[1:], {n}, out={t}[1:])", "T.mul({t}, {u}, out={u})", "T.sub({t}[0], {n}, out={t}[-1])",
    "T.where({t} > {n}, {t}, {u}, out={t})", "T.clamp({t}, max={n}, out={t}[...])",
    "T.index_select({t}, 0, T.tensor([0]), out={t}[:1])", "T.cumsum({t}, 0, out={t})",
    "T.sort({t}, 0, out=({u}, T.zeros(0, dtype=T.int64)))", "{t}.mul_({u})", "{t}.sub_({t}.flip(0))",
    "{t}.addcmul_({u}, {t})", "{t}.lerp_({u}, 1)", "{t}.view(-1)[::2].mul_(3)",
    "{t}.copy_({u}.clone().expand_as({t}))", "T.where({t} > {n}, {t}, {t} * 2, out={t}[...])",
    "{t}.expand(2, *{t}.shape).add_(1)", "T.neg({t}, out={t}.expand(2, *{t}.shape)[0])",
    "T.add({t}, {n}, out={t}.expand(2, *{t}.shape))",
)
#: What requires grad is written to ``g``.
IN_PLACE = (
    "g.mul_(w)", "g.addcmul_(w, w)", "g.addcmul_({u}, w)", "g.lerp_(w, 0.5)", "g[..., :1].mul_(w[..., :1])",
    "g.copysign_(w)", "g.sub_(w, alpha=3)", "g.clamp_(w, w + 2)", "g.T.mul_(w.T)",
    "T._foreach_mul_([g], [w])", "g[1:].mul_(w[0])", "g.mul_(w).neg_()",
)
#: What is asked of storages.
STORAGE_FACTS = (
    "{t}._typed_storage().tolist()[:20]", "{t}.untyped_storage().tolist()[:20]", "{t}.is_shared()",
    "{t}.untyped_storage()[1]", "{t}._typed_storage()[-1]", "{t}._typed_storage()[50]",
    "{t}.untyped_storage() is {u}.untyped_storage()", "{t}._typed_storage().size()",
    "(lambda s, part: part.data_ptr() - s.data_ptr())({t}.untyped_storage(), {t}.untyped_storage()[2:])",
    "{t}._typed_storage().type()",
    "{t}._typed_storage().long().tolist()[:20]",
)
#: What a function that is compiled does: some write to their argument, return it, or need its numbers.
FUNCTIONS = (
    "lambda x: x * 2 + 1", "lambda x: (x + x).sum()", "lambda x: x[..., :1] * 3", "lambda x: x.add_(1)",
    "lambda x: (x, x.T, x + 1)", "lambda x: x * 2 + x.sum().item()", "lambda x: (x.add_(1), x.sum().item())",
    "lambda x: x + x.numpy().sum()", "lambda x: (x.numpy().fill(2), x + 1)[1]",
    "lambda x: (x * 2, x.data_ptr() == x.data_ptr())[0]", "lambda x: x[..., :1].mul_(2) + x",
    "lambda x: x + (x.detach() * 2 if x.sum() > 5 else x)", "lambda x: x.untyped_storage().tolist()[:4]",
    "lambda x: (x * 2, x.view((2, 2, 9)))[0]",
)
#: The same, of functions whose graph is walked after the call.
LOSSES_OF = ("lambda x: (x * w).sum()", "lambda x: T.exp(w * x * 0).sum()", "lambda x: (w * x).pow(2).sum()",
             "lambda x: (x.T @ w).sum()", "lambda x: (w ** x.clamp(0, 2)).sum()")
FACTS = (
    "{t}._version", "{t}.stride()", "{t}.storage_offset()", "{t}.is_contiguous()", "{t}.shape",
    "{t}.dtype",
    "{t}.data_ptr() - {u}.data_ptr() if {t}.numel() and {t}.untyped_storage().data_ptr() == "
    "{u}.untyped_storage().data_ptr() else None",
    "{t}.untyped_storage().nbytes()", "{t}.requires_grad", "{t}.is_set_to({u})", "{t}._base is not None",
)
#: Gradients: what is saved, what is written meanwhile, what comes out.
LOSSES = (
    "({t} * {w}).sum()", "({w} * 3 + {t}).pow(2).sum()", "(({w} * {t}) ** 2).sum()",
    "T.exp({w} * 0 * {t}).sum()", "({t}.detach() * {w}).relu().sum()",
    "T.where({t} > 1, {w}, {w} * 2).sum()", "({w}.T @ {t}.T.T).sum()", "({w} / ({t}.abs() + 1)).sum()",
)


class _Writer:
    """The lines so far, and the names that they have made."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.lines: list[str] = []
        self.arrays: list[str] = []
        self.tensors: list[str] = []
        self.made = 0
        self.dtype = self.draw.choice(DTYPES[:3]) if self.draw.random() < 0.7 else self.draw.choice(DTYPES)

    def name(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def filled(self, forms: tuple) -> str:
        form = self.draw.choice(forms)
        return form.format(
            a=self.draw.choice(self.arrays or ["None"]), t=self.draw.choice(self.tensors or ["None"]),
            u=self.draw.choice(self.tensors or ["None"]), n=self.draw.randrange(1, 9), d=self.dtype, w="w")

    def array(self) -> None:
        name = self.name("a")
        self.lines.append(f"{name} = {self.draw.choice(ARRAYS)[0].format(d=self.dtype)}")
        self.arrays.append(name)

    def tensor(self) -> None:
        name = self.name("t")
        self.lines.append(f"{name} = {self.draw.choice(TENSORS)[0].format(d=self.dtype)}")
        self.tensors.append(name)

    def imported(self) -> None:
        if not self.arrays:
            self.array()
        name = self.name("t")
        self.lines.append(f"{name} = {self.filled(IMPORTS)}")
        self.tensors.append(name)

    def exported(self) -> None:
        name = self.name("a")
        self.lines.append(f"{name} = {self.filled(EXPORTS)}")
        self.arrays.append(name)

    def view(self) -> None:
        if self.arrays and self.draw.random() < 0.4:
            name, made, forms = self.name("a"), self.arrays, VIEWS_OF_ARRAYS
        else:
            name, made, forms = self.name("t"), self.tensors, VIEWS_OF_TENSORS
        self.lines.append(f"{name} = {self.filled(forms)}")
        made.append(name)

    def write(self) -> None:
        forms = WRITES_TO_ARRAYS if self.arrays and self.draw.random() < 0.55 else WRITES_TO_TENSORS
        line = self.filled(forms)
        if self.draw.random() < 0.08:
            line = f"in_thread(lambda: exec({line!r}, space))"
        self.lines.append(line)

    def read(self) -> None:
        name = self.name("r")
        self.lines.append(f"{name} = {self.filled(READS)}")
        if self.draw.random() < 0.6:
            self.write()
        self.lines.append(f"look({name})")

    def fact(self) -> None:
        self.lines.append(f"look({self.filled(FACTS)})")

    def called(self) -> None:
        name = self.name("f")
        self.lines.append(f"{name} = compiled({self.draw.choice(FUNCTIONS)})")
        argument = self.draw.choice(self.tensors)
        for _ in range(3):
            self.lines.append(f"look({name}({argument}))")
            self.write()

    def called_and_walked(self) -> None:
        """A compiled function whose graph is walked after the call, at several batches."""
        t = self.draw.choice(self.tensors)
        name = self.name("f")
        self.lines += [f"w = T.ones({t}.shape, dtype={t}.dtype).requires_grad_()",
                       f"{name} = compiled({self.draw.choice(LOSSES_OF)})"]
        for _ in range(3):
            self.lines += ["w.grad = None", f"loss = {name}({t})"]
            for _ in range(self.draw.randrange(2)):
                self.write()
            self.lines += ["loss.backward()", "look(w.grad)"]
            self.write()

    def gradient(self) -> None:
        t = self.draw.choice(self.tensors)
        self.lines += [f"w = T.ones({t}.shape, dtype={t}.dtype).requires_grad_()",
                       f"loss = {self.filled(LOSSES).replace('{t}', t)}"]
        for _ in range(self.draw.randrange(3)):
            self.write()
        self.lines += ["loss.backward()", "look(w.grad)"]

    def written_with_gradient(self) -> None:
        """A tensor written to by what requires grad: what its node keeps is what was there before."""
        t = self.draw.choice(self.tensors)
        self.lines += [f"w = T.full({t}.shape, 2, dtype={t}.dtype).requires_grad_()", f"g = {t}.detach()",
                       self.filled(IN_PLACE), "loss = (g * g).sum()"]
        if self.draw.random() < 0.3:
            self.write()
        self.lines += ["loss.backward()", "look(w.grad)"]

    def storage(self) -> None:
        kind = self.draw.randrange(3)
        if kind == 0:
            self.lines.append(self.filled(WRITES_TO_STORAGES))
        elif kind == 1:
            self.lines.append(f"look({self.filled(STORAGE_FACTS)})")
        else:
            name = self.name("t")
            self.lines.append(f"{name} = {self.filled(ON_STORAGES)}")
            self.tensors.append(name)

    def given(self) -> None:
        self.lines.append(self.filled(OTHER_MEMORY))

    def at_once(self) -> None:
        self.lines.append(self.filled(AT_ONCE))

    def gone(self) -> None:
        made = self.draw.choice((self.arrays, self.tensors))
        if len(made) > 1:
            name = made.pop(self.draw.randrange(len(made)))
            self.lines += [f"del {name}", "gc.collect()"]


_STEPS = (
    ("imported", 3), ("exported", 3), ("view", 4), ("write", 8), ("read", 5), ("fact", 1), ("called", 1),
    ("called_and_walked", 1),
    ("gradient", 2), ("gone", 1), ("array", 1), ("tensor", 1),
    ("storage", 3),
)
_WIDER = (*_STEPS, ("given", 5), ("at_once", 5), ("written_with_gradient", 4))


def generate(seed: int, wider: bool = False) -> list[str]:
    """The lines of the program of a seed; ``wider``, with what `_WIDER` has besides."""
    writer = _Writer(seed)
    if writer.draw.random() < 0.6:
        writer.array()
        writer.imported()
    else:
        writer.tensor()
        writer.exported()
    names, weights = zip(*(_WIDER if wider else _STEPS), strict=True)
    for step in writer.draw.choices(names, weights, k=writer.draw.randrange(4, 14)):
        getattr(writer, step)()
    writer.lines += [f"look({name})" for name in (*writer.tensors, *writer.arrays)]
    return writer.lines
