"""View plans: what a chain of view ops shows of its base, how it is read and how it is written.

NOTE [Where a view starts]
    ``x[i]`` and ``x[i : i + n]`` in a loop differ in a number that decides neither shape nor dtype. Such
    starts are not part of a plan but dynamic inputs of it (``ViewPlan.numbers``), so a loop over rows or
    batches records the same program every time.

NOTE [Written where it lies]
    Where memory repeats itself (``expand``, overlapping ``as_strided``) a write cannot go through the views
    in between: it goes straight to the positions in memory. Those are constants of its plan, which is the
    same for all views of that geometry, however many of them and of their numbers lead there. So such a plan
    takes no numbers, and that of a view of another dtype above it, which writes by it, is of those positions.

NOTE [Siblings]
    The rows of a tensor are views that differ in one number, and so are its slices of one length. There may
    be very many of them, so the plan of each is a copy of the first one's with other numbers, and what is
    seldom needed (its geometry, its step) is made of the first one's when it is first read. `several` makes
    them all and keeps none. What is taken of a row is like what is taken of the first one, and its plan a
    copy of that as well.

NOTE [Views that memory does not hold]
    ``expand`` and overlapping windows show more elements than there are, any number of them, in no memory.
    What a large view of this kind shows is not kept when it was read, as that of other views is: reading it
    again costs nothing, for whoever needs it spreads it out where it is needed, and a tensor that somebody
    holds does not have to be had in full. So an operation that is refused because its result is too large
    leaves nothing behind that has to be computed.

NOTE [Views of views of views]
    A view is read and written step by step, and what identifies its plan has a part for each step. So after
    ``_DEEP`` steps the next one starts from the base: it is read by where its elements lie in memory, like
    ``as_strided``, and those above it count from there. A program may so take views of views for ever.

The plans form a trie. The root is a base of some aval and strides; each child is one more view op with
static arguments. So making a view of a known kind is one dict look-up, and reading or writing through
any chain is one operation however long the chain is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax

from jaxflow._core import budget
from jaxflow._core.aval import Aval, alive, aval_of
from jaxflow._core.dtype import bool as bool_
from jaxflow._core.dtype import uint8
from jaxflow._core.geometry import contiguous_strides, has_internal_overlap
from jaxflow._core.tensor import Tensor
from jaxflow._ops.positions import by_position, capacity, directly, marks, repeats_itself
from jaxflow._ops.views import VIEWS, Geometry, Step
from jaxflow._plans.plan import Plan
from jaxflow._shapes.shape_families import flatten, of_family, renewed
from jaxflow._shapes.symbolic_dims import SymInt
from jaxflow._transforms.data_movement import backward

# So many steps are taken one after the other.
_DEEP = 32

# Bytes of a view from which on it matters that it shows more than there is.
_LARGE = 1 << 26


#: Views that are refused, or lie elsewhere, by where memory starts: what is like another one may not be here.
_BY_START = frozenset(("view_dtype", "view_as_complex", "as_strided"))


class ViewPlan:
    """One view of a base: its geometry, and the plans that read, write and differentiate it.

    Attributes:
        aval: what the view shows. ``stride`` is None for a contiguous layout.
        read: Plan from the base's array to the view's.
        write: Plan from the base's array and a new array for the view to the new base.
        step: Plan from the parent view's array to this one's; its vjp is the node of the view op.
        numbers: what ``read`` takes beside the base's array: NOTE [Where a view starts].
        write_numbers: what ``write`` takes beside the arrays: these, or none.
        placed: the geometry of the positions that a write goes to; None where it goes through the views:
            NOTE [Written where it lies].
        spread: whether it is large and shows more elements than its base has.
        first: of a plan made by `sibling` the one it was made of.
        firsts: a selection or a slice of each dimension, length and step, of which others are made.
    """

    __slots__ = ("_read", "_step", "_write", "aval", "children", "exact", "first", "firsts", "geometry",
                 "identity", "key", "name", "numbers", "offset", "older", "overlaps", "parent", "placed",
                 "repeats", "root", "spread", "step_fns", "stride", "structure", "write_numbers")

    def __init__(self, root, parent, step: Step, key: tuple, base: Aval, room: int | None = None) -> None:
        name = key[0]
        self.key = key
        self.root = root or self
        self.parent = parent
        self.name = name
        self.step_fns = step
        dtype = step.dtype or (parent.aval.dtype if parent else base.dtype)
        self.aval = aval_of(step.size, dtype, base.device)
        self.stride = None if step.stride == contiguous_strides(step.size) else step.stride
        self.offset = step.offset
        marked = marks(parent.geometry, step) if parent else (step.conj, step.neg)
        here = (step.size, step.stride, step.offset, dtype, *marked)
        self.geometry = Geometry(*here, *(
            root.geometry[6:] if root else (step.size, step.stride, dtype, step.offset, room, *marked)
        ))
        self.overlaps = has_internal_overlap(step.size, step.stride)
        # After a write the view shows exactly what was written, unless windows share elements.
        self.exact = name not in ("unfold", "as_strided") and (parent is None or parent.exact)
        self.repeats = (parent is not None and parent.repeats) or (
            name in ("expand", "unfold", "as_strided") and repeats_itself(step.size, step.stride)
        )
        # While a family is being made numbers may be symbols, which are not to be compared.
        self.spread = type(self.aval.numel) is type(base.numel) is int and (
            self.aval.nbytes > max(_LARGE, base.nbytes))
        self.identity = parent is None or (name == "alias" and parent.identity)
        if parent is None:
            self.structure = self.numbers = self.write_numbers = ()
            self.placed = None
        else:
            self.structure = (*parent.structure, step.structure or key)
            self.numbers = parent.numbers + step.numbers
            if step.from_root is not None and step.from_root[0] is not None:
                self.structure, self.numbers = (step.structure,), ()
            self.placed = parent.placed if step.from_root is None else self.geometry
            self.write_numbers = self.numbers if step.from_root is None else ()
        self.first: ViewPlan | None = None
        self.firsts: dict[tuple | None, ViewPlan] = {}
        self.children: dict = {}
        self.older: dict = {}  # of the generation before: NOTE [What is kept]
        budget.charge(budget.PLAN, 1)
        self._read = self._write = self._step = None

    @property
    def base_aval(self) -> Aval:
        """The aval of the base the chain starts from."""
        return self.root.aval

    def child(self, name: str, static: tuple) -> ViewPlan:
        """The plan of one more view op on this view. Raises what PyTorch raises for bad arguments."""
        key = (name, static)
        found = self.children.get(key) or self.again(key)
        alike = None
        if found is None and name in ("select", "slice"):
            alike = self._alike(name, static)
            first = self.firsts.get(alike)
            if first is not None:
                if len(self.children) >= _MAX_CHILDREN:
                    self.children.clear()
                found = self.children.setdefault(key, first.sibling(key, static[1]))
        if found is None and self.first is not None and name not in _BY_START:
            model = self.first.child(name, static)
            if model.has_siblings():
                if len(self.children) >= _MAX_CHILDREN:
                    self.children.clear()
                found = self.children.setdefault(key, model.sibling(key, model.numbers[-1], self))
        if found is None:
            step = VIEWS[name](self.geometry, *static)
            if step.from_root is None and step.dtype is None:
                if len(self.structure) >= _DEEP:
                    step = step._replace(from_root=directly(self.geometry, step),
                                         structure=(step.structure or key, self.geometry, step.offset))
                elif self.repeats:
                    # One element may show in several places of the parent, so a write to a part of it
                    # cannot go through the parent: it goes straight to where the elements lie.
                    step = step._replace(from_root=(None, by_position(self.geometry, step)[1]))
            if len(self.children) >= _MAX_CHILDREN:
                self.children.clear()  # only a cache: views keep their own plans
            found = self.children.setdefault(
                key, ViewPlan(self.root, self, step, key, self.root.aval)
            )
            if alike is not None and found.has_siblings():
                self.firsts.setdefault(alike, found)
        return found

    def _alike(self, name: str, static: tuple) -> tuple | None:
        """What selections, or slices of one size, along one dimension have in common.

        They lie inside of the dimension, of which a slice is neither all nor nothing. None for other views,
        and while a family is being made: symbols are not to be compared.
        """
        shape, dim = self.aval.shape, static[0]
        if not 0 <= dim < len(shape):
            return None
        extent = shape[dim]
        for number in (extent, *static):
            if type(number) is not int:
                return None
        start = static[1]
        if name == "select":
            return (dim,) if 0 <= start < extent else None
        stop, step = static[2:]
        if not (0 <= start < stop <= extent and step > 0):
            return None
        count = -(-(stop - start) // step)
        return (dim, count, step) if count < extent else None

    def several(self, keys: Sequence[tuple]) -> list[ViewPlan]:
        """The plans of view ops on this view that are all selections along one dimension, or all slices.

        NOTE [Siblings]; those of a slice have one size.
        """
        if not keys:
            return []
        first = self.child(*keys[0])
        if not first.has_siblings():
            return [self.child(*key) for key in keys]
        return [first, *(first.sibling(key, key[1][1]) for key in keys[1:])]

    def has_siblings(self) -> bool:
        """Whether views that differ from this one in where they start have a plan like this one."""
        step = self.step_fns
        return len(step.numbers) == 1 and step.from_root is None

    def sibling(self, key: tuple, start: int, above: ViewPlan | None = None) -> ViewPlan:
        """The plan of a view like this one that starts elsewhere in its parent: NOTE [Siblings].

        Or at the same place in ``above``, a sibling of its parent.
        """
        new = ViewPlan.__new__(ViewPlan)
        if above is None:
            parent = self.parent
            new.offset = self.offset + (start - self.numbers[-1]) * parent.geometry.stride[key[1][0]]
        else:
            parent = above
            new.offset = self.offset + above.offset - self.parent.offset
        new.parent, new.first, new.key = parent, self.first or self, key
        new.numbers = numbers = (*parent.numbers, start)
        new.write_numbers = numbers
        new.root, new.name, new.aval, new.stride = self.root, self.name, self.aval, self.stride
        new.structure, new.placed, new.exact, new.repeats = (
            self.structure, self.placed, self.exact, self.repeats)
        new.overlaps, new.spread, new.identity = self.overlaps, self.spread, False
        new._read, new._write, new._step = self._read, self._write, self._step
        return new

    def __getattr__(self, name: str):
        # Reached once for each of these slots of a sibling: until it is filled.
        if name == "geometry":
            found = self.first.geometry._replace(offset=self.offset)
        elif name == "step_fns":
            found = self.first.step_fns._replace(offset=self.offset, numbers=self.numbers[-1:])
        elif name in ("children", "firsts", "older"):
            found = {}
        else:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        setattr(self, name, found)
        return found

    def again(self, key: tuple) -> ViewPlan | None:
        """The child of the generation before, which is used again; None if there is none."""
        found = self.older.get(key)
        if found is not None:
            found = self.children.setdefault(key, found)
            for kind, plan in (("read", found._read), ("write", found._write), ("step", found._step)):
                if plan is not None:
                    _plans.add(found._place(kind), plan)
        return found

    def _place(self, kind: str) -> tuple:
        """Where its Plan of a kind is kept. See NOTE [Where a view starts]: numbers are no part of it."""
        root, key = self.root, self.structure
        if kind == "write" and self.placed is not None:  # NOTE [Written where it lies]
            key = self.placed if self.placed is self.geometry else (key, self.placed)
        elif kind == "step":
            key = (self.parent.aval, self.structure[-1])
        return (root.aval, root.geometry, kind, key)

    def reader(self) -> Callable:
        """The pure function from the base's array (and ``numbers``) to the view's."""
        if self.parent is None:
            return lambda x: x
        if self.step_fns.from_root is not None and self.step_fns.from_root[0] is not None:
            return self.step_fns.from_root[0]
        before, read, k = self.parent.reader(), self.step_fns.read, len(self.parent.numbers)
        if self.name == "view_dtype" and self.aval.dtype is not bool_:
            before, as_bytes = self.parent._held()
            if as_bytes:
                read = self._of_bytes().read
        return lambda x, *at: read(before(x, *at[:k]), *at[k:])

    def _of_bytes(self) -> Step:
        """The step of a view of bools as another dtype, where what these bools are is read as bytes."""
        return VIEWS["view_dtype"](self.parent.geometry._replace(dtype=uint8), self.aval.dtype)

    def writer(self) -> Callable:
        """The pure function from the arrays of base and view, and ``write_numbers``, to the new base."""
        if self.parent is None:
            return lambda x, new: new
        if self.step_fns.from_root is not None:
            return self.step_fns.from_root[1]
        (before, as_bytes), above, write = self.parent._held(), self.parent.writer(), self.step_fns.write
        k, n = len(self.parent.numbers), len(self.parent.write_numbers)
        if as_bytes and self.name == "view_dtype":
            as_bytes, write = False, self._of_bytes().write
        return lambda x, new, *at: above(
            x, write(before(x, *at[:k]), new.astype(uint8.np) if as_bytes else new, *at[k:]), *at[:n]
        )

    def _held(self) -> tuple[Callable, bool]:
        """As `reader`, for a write: the bytes of another dtype that are shown as bools stay what they are.

        The second says whether that is what is read.
        """
        if self.parent is None or self.step_fns.from_root is not None:
            return self.reader(), False
        before, as_bytes = self.parent._held()
        read, k = self.step_fns.read, len(self.parent.numbers)
        if self.name == "view_dtype":
            if as_bytes:
                read = self._of_bytes().read
            as_bytes = self.aval.dtype is bool_ and (as_bytes or self.parent.aval.dtype is not bool_)
            if as_bytes and self.parent.aval.dtype is not bool_:
                read = VIEWS["view_dtype"](self.parent.geometry, uint8).read
        return lambda x, *at: read(before(x, *at[:k]), *at[k:]), as_bytes

    @property
    def read(self) -> Plan:
        """Plan of reading the view from its base and ``numbers``."""
        if self._read is None:
            self._read = self._shared("read", self.reader, [self.base_aval],
                                      self.numbers, _READ_NAMES.get(self.name, "AsStridedBackward0"))
            if self.first is not None:  # the next siblings have it from the first one
                self.first._read = self._read
        return self._read

    @property
    def write(self) -> Plan:
        """Plan of writing the view into its base; takes ``write_numbers`` last."""
        if self._write is None:
            self._write = self._shared("write", self.writer, [self.base_aval, self.aval], self.write_numbers,
                                       "CopySlices")
        return self._write

    @property
    def step(self) -> Plan:
        """Plan of the last view op alone, from its parent's array and ``step_fns.numbers``."""
        if self._step is None:
            step = self.step_fns
            self._step = self._shared("step", lambda: step.read, [self.parent.aval], step.numbers,
                                      GRAD_NAMES.get(self.name) or _grad_name(self.name))
        return self._step

    def _shared(self, kind: str, make: Callable, avals: list, numbers: tuple, grad_name: str) -> Plan:
        """See NOTE [Where a view starts]: one plan for all views that differ in numbers only."""
        place = self._place(kind)
        found = _plans.get(place)
        if found is None:
            found = _plans.add(
                place, self._of_family(kind, lambda: self._plan(kind, make, avals, numbers, grad_name))
            )
            budget.settle()
        return found

    def _plan(self, kind: str, make: Callable, avals: list, numbers: tuple, grad_name: str) -> Plan:
        name = self.name if kind == "step" else f"{kind}_{self.name}"
        # PyTorch's gradient of strides over nothing, or of nothing, is zeros without a history.
        twice = grad_name != "AsStridedBackward0" or bool(avals[0].numel and self.aval.numel)
        plan = Plan(
            name, _flat(make()), [*avals, *(int,) * len(numbers)],
            [avals[0] if kind == "write" else self.aval], device=self.aval.device,
            grad_name=grad_name, saves="none", twice=twice,
        )
        if kind == "step":
            plan.view = (self.key, avals[0])
        return plan

    def _of_family(self, kind: str, plain: Callable[[], Plan]) -> Plan:
        """The plan that ``plain`` makes, or its equal in a family of views (NOTE [Families of plans])."""
        root, keys = self.root, []
        plan: ViewPlan | None = self
        while plan.parent is not None:
            keys.append(plan.key)
            plan = plan.parent
        base = root.aval
        if root.geometry.room is not None or root.geometry.conj or root.geometry.neg or not keys:
            return plain()
        keys = tuple(reversed(keys))
        layout = () if root.stride is None else root.stride
        head: list = [kind, base.dtype, base.device, base.ndim]
        values = [*base.shape]
        flatten((layout, keys), head, values)
        if any(type(n) is SymInt for n in values):
            return plain()  # a family is being made

        def make(symbolic: tuple) -> Plan:
            rest = iter(symbolic)
            aval = renewed(base, rest)
            stride, steps = renewed((layout, keys), rest)
            found = root_of(aval, stride or None)
            for name, static in steps:
                found = found.child(name, static)
            return getattr(found, kind)

        def copy(template, numbers: tuple) -> Plan:
            own = plain()
            found = template.member(numbers, own.kinds, own.out_avals, lambda: own.fn)
            found.view = own.view
            return found

        return of_family(tuple(head), tuple(values), len(base.shape), make, plain, copy)


#: The plans of all views, by what of a base they show, read or write.
_plans = budget.Table("plans of views")


def _rotate() -> None:
    """The end of a generation: forget the views that were not used in it."""
    for aval in alive():
        for stride, root in list(aval.roots.items()):
            waiting = [root]
            while waiting:
                view = waiting.pop()
                if view.__class__ is ViewPlan:
                    view.older, view.children, view.firsts = view.children, {}, {}
                    waiting.extend(view.older.values())
            if not root.older:
                aval.roots.pop(stride, None)


budget.on_rotate.append(_rotate)


def _flat(fn: Callable) -> Callable:
    def flat(*inputs):
        return (fn(*inputs),)

    return flat


def view_node(plan: Plan, numbers: tuple, edges: list):
    """The node of a view plan: its only kept inputs are the numbers."""
    n, k = len(edges), len(numbers)
    return plan.node(
        plan, [*(None,) * n, *numbers], [*edges, *(None,) * k],
        (*(e is not None for e in edges), *(False,) * k), None,
    )


# More views of one parent than this are not remembered (``x[i]`` for every i of a long x).
_MAX_CHILDREN = 1024

GRAD_NAMES = {
    "t": "TBackward0",
    "view_dtype": "ViewBackward0",
    "real": "SelectBackward0",
    "imag": "SelectBackward0",
    "squeeze_dim": "SqueezeBackward1",
    "squeeze_dims": "SqueezeBackward2",
}

# Strides cannot express these, so after a write of the base PyTorch repeats the view op itself.
_READ_NAMES = {
    "view_as_real": "ViewAsRealBackward0",
    "view_as_complex": "ViewAsComplexBackward0",
    "conj": "ConjBackward0",
    "neg_view": "NegViewBackward0",
}


def _grad_name(name: str) -> str:
    return "".join(p[:1].upper() + p[1:] for p in name.split("_")) + "Backward0"


def root_of(aval: Aval, stride: tuple[int, ...] | None) -> ViewPlan:
    """The identity view of a base of this aval and layout."""
    found = aval.roots.get(stride)
    if found is None:
        found = _root(aval, stride, stride, False, False)
    return found


def detached_root(t: Tensor) -> ViewPlan:
    """The identity view of a detached view, which may show its memory conjugated or negated."""
    g, stride = t._view.plan.geometry, t._stride
    if not (g.conj or g.neg):
        return root_of(t._aval, stride)
    key = (stride, g.conj, g.neg)
    return t._aval.roots.get(key) or _root(t._aval, key, stride, g.conj, g.neg)


def is_marked(t: Tensor) -> bool:
    """Whether a tensor shows its memory conjugated or negated."""
    if t._view is None:
        return False
    shown = t._view.plan.geometry
    return shown.conj or shown.neg


def _root(aval: Aval, key, stride: tuple[int, ...] | None, conj: bool, neg: bool) -> ViewPlan:
    full = contiguous_strides(aval.shape) if stride is None else stride
    step = _whole(aval.shape, full, 0, conj, neg)
    return aval.roots.setdefault(key, ViewPlan(None, None, step, ("alias", ()), aval))


def _whole(size: tuple, stride: tuple, offset: int, conj: bool, neg: bool) -> Step:
    return Step(size, stride, offset, lambda x: x, lambda x, new: new, conj=conj, neg=neg)


def piece_of(t: Tensor) -> ViewPlan:
    """The identity view of a detached view, as the piece of its storage that it is."""
    plan, root = t._view.plan, detached_root(t)
    room = capacity(plan.geometry)
    key = ("piece", plan.offset, room)
    found = root.children.get(key) or root.again(key)
    if found is None:
        g = plan.geometry
        step = _whole(g.size, g.stride, g.offset, g.conj, g.neg)
        if len(root.children) >= _MAX_CHILDREN:
            root.children.clear()
        found = root.children.setdefault(
            key, ViewPlan(None, None, step, ("alias", ()), t._aval, room)
        )
    return found


def replayed(plan: ViewPlan, root: ViewPlan) -> ViewPlan:
    """The steps of ``plan`` taken from ``root``."""
    keys = []
    while plan.parent is not None:
        keys.append(plan.key)
        plan = plan.parent
    for key in reversed(keys):
        root = root.child(*key)
    return root


def placed(root: ViewPlan, view: ViewPlan) -> ViewPlan:
    """The plan that shows of ``root`` the part of its memory that ``view`` does, as that shows it."""
    size, stride, offset, dtype = view.geometry[:4]
    have, plan = root.aval.dtype, root
    last = view.name if view.name in ("conj", "neg_view") else None  # PyTorch repeats this op itself
    shown = view.geometry if last is None else view.parent.geometry
    layout = (size, stride, offset)
    if dtype.is_complex and dtype.to_real() is have:
        pairs = (*size, 2), (*(2 * s for s in stride), 1), 2 * offset
        plan, layout = root.child("as_strided", pairs).child("view_as_complex", ()), None
    elif have.is_complex and have.to_real() is dtype:
        plan = root.child("real", ())
    elif have is not dtype:
        raise RuntimeError(
            f"the history of a view as {dtype} of a tensor of {have} cannot follow a change of the tensor's "
            "shape or strides in place; change them before the view is made"
        )
    if plan.geometry.conj is not shown.conj:
        plan = plan.child("conj", ())
    if plan.geometry.neg is not shown.neg:
        plan = plan.child("neg_view", ())
    if layout is not None:
        plan = plan.child("as_strided", layout)
    return plan if last is None else plan.child(last, ())


def _bound(step: Step) -> Callable:
    return lambda x: step.read(x, *step.numbers)


def _joint_reader(children: tuple[ViewPlan, ...]) -> Callable:
    """The function to the pieces. Of few, its gradient is one concatenation, not a padded array for each."""
    name, dim = children[0].name, children[0].key[1][0]
    if len(children) > _FEW or name == "slice":
        reads = tuple(_bound(c.step_fns) for c in children)
        return lambda x: tuple(read(x) for read in reads)
    if name == "select":
        ones = (1,) * len(children)
        return lambda x: tuple(jax.lax.squeeze(part, (dim,)) for part in jax.lax.split(x, ones, dim))
    sizes = tuple(stop - start for _, start, stop in (c.key[1] for c in children))
    return lambda x: tuple(jax.lax.split(x, sizes, dim))


# Of more pieces than this one may be all that is used, and its gradient is better off alone.
_FEW = 8


def joint_plan(children: tuple[ViewPlan, ...], grad_name: str) -> Plan:
    """One plan with the steps of several sibling views as its outputs: split, chunk, unbind."""
    parent = children[0].parent
    key = ("joint", children, grad_name)
    found = parent.children.get(key)
    if found is None:
        found = parent.children.setdefault(key, _joint_of(children, parent.aval, grad_name))
    return found


def _joint_of(children: tuple[ViewPlan, ...], aval: Aval, grad_name: str) -> Plan:
    """As steps read their parent's array and nothing else, parents of one aval have one plan in common."""
    key = ("joint", aval, grad_name, *((c.key, c.step_fns.numbers) for c in children))
    found = _plans.get(key)
    if found is None:
        found = _plans.add(key, Plan(
            "split", _joint_reader(children), [aval], [c.aval for c in children],
            device=aval.device, grad_name=grad_name, saves="none", single=False,
        ))
        found.view = (("joint", children[0].key[1][:1], tuple(c.key for c in children)), aval)
        found.untraced = backward
    return found
