"""A call that no specialisation serves: it runs as Python, on the real state, and is recorded as it does."""

from __future__ import annotations

import gc
import types
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jaxflow._core.generator import defaults, drawing
from jaxflow._core.graph import Node
from jaxflow._core.layouts import NotStrided
from jaxflow._core.symbolic_numbers import NumberTape, settled
from jaxflow._core.tensor import Tensor
from jaxflow._exec import explain
from jaxflow._exec.run import flush
from jaxflow._views.values import view_value

from ._apart import containers_of
from ._arguments import Arguments, flatten, records, same_attributes
from ._builder import Builder
from ._capture import END, FOLLOW, NEEDED, Capture, Unsupported
from ._code import asks_types
from ._graphs import hooks_on
from ._modes import modes
from ._numbers import Numbers, is_store
from ._python_guards import Reach
from ._python_tracer import Watcher
from ._shared_arguments import stays_there

if TYPE_CHECKING:
    from ._function import CompiledFunction, Entry
    from ._specialisation import Specialisation

# Captures of a function that may fail before Python runs at each call: the first ones may create state.
ATTEMPTS = 3

# Those that somebody else may have disturbed besides.
_DISTURBED = 20

_NUMBERS = (float, int)


class Disguised(Exception):
    """A call has to be captured again, with its numbers as they are; everything is as before it.

    ``names`` are the arguments, and ``places`` the (container, key), that are to be numbers like any other;
    all are, where there are none.
    """

    def __init__(self, names: Iterable = (), places: Iterable = ()) -> None:
        super().__init__()
        self.names, self.places = list(names), list(places)


class FirstCall:
    """One such call of ``function``, which makes a specialisation for the next ones if that can be.

    ``tracked`` says which of the ``leaves``, at which positions and keywords, are numbers to be followed.
    """

    def __init__(self, function: CompiledFunction, entry: Entry, structure: Any, leaves: list, args: tuple,
                 kwargs: dict, tracked: dict) -> None:
        self.function, self.entry, self.structure, self.leaves = function, entry, structure, leaves
        self.args, self.kwargs, self.tracked = args, kwargs, tracked
        self.tensors = [x for x in leaves if isinstance(x, Tensor)]
        self.attributes = [dict(t.__dict__) for t in self.tensors]
        self.given = records((args, kwargs))
        self.result: Any = None
        self.failure: BaseException | None = None

    def run(self) -> Any:
        """What the function returns. Raises what it raises, and Disguised."""
        try:
            self._prepare()
        except NotStrided:
            return self._with_sparse_tensors()
        try:
            spec = self._capture()
            self._let_run(spec)
            if spec is not None:
                self.entry.attempts = 0
                self.entry.specialisations.insert(0, spec)
                self.function.count += 1
        except (Unsupported, Disguised):
            self.capture.rollback()
            self.numbers.put_back()
            self.watcher.put_back()
            raise
        except BaseException:  # a run that failed, or an interrupt
            self.capture.commit()
            self.capture.end()
            self._settle()
            raise
        if self.failure is not None:
            try:
                raise self.failure
            finally:
                self.failure = None  # or the error and this frame would refer to each other
        return settled(self.result)

    def _with_sparse_tensors(self) -> Any:
        """What the function returns that reaches tensors of other layouts; Python runs it, at each call."""
        reason = "it reaches a sparse tensor, which has no values that a compiled call could be given"
        if self.function.fullgraph:
            raise Unsupported(f"fullgraph=True, but {reason}")
        self.entry.leave_to_python([reason])
        return self.function.fn(*self.args, **self.kwargs)

    # ----------------------------------------------------------------------------------- before the call

    def _prepare(self) -> None:
        """Find out what the function can reach, and note how that is."""
        function, leaves, tensors = self.function, self.leaves, self.tensors
        views = [(t, t._storage.epoch, view_value(t)) for t in tensors if t._view is not None
                 and not stays_there(t._storage.value)]
        flush()
        roots: list = [(function.fn, function.name), *((f, f.__qualname__) for f in function.extra.values())]
        roots += [(x, "argument") for x in leaves if not isinstance(x, Tensor)]
        roots += [(x, f"argument.{name}") for held in self.attributes for name, x in held.items()]
        roots += [(type(x), type(x).__qualname__) for x in self.given]
        reach = self.reach = Reach(function.names).walk(
            roots, [(scope, code) for code, scope in function.scopes.items()])
        numbers = self.numbers = self._numbers()
        tape = self.tape = NumberTape(len(self.tracked) + len(numbers.found))
        if tape.count and asks_types(reach.codes):
            raise Disguised
        generators = {**reach.generators, **{id(g): g for g in (*defaults(), drawing.generator) if g}}
        reads = END if asks_types(reach.codes) else self.entry.reads
        capture = self.capture = Capture(function.fullgraph, tape, generators, reads)
        self.watcher = Watcher(capture)
        for row in reach.rows:
            for key, *_ in row.changes():
                capture.blame(f"{row.describe(key)} is another thing each time it is asked for")
        self.builder = Builder(capture, self.watcher, reach, tensors, {id(x) for x in self.given}, numbers)
        self.builder.lengths = self.entry.lengths
        given = (x for y in (*self.args, *self.kwargs.values()) for x in containers_of(y))
        self.builder.given = frozenset(id(x) for x in given if not isinstance(x, tuple))
        self.arguments = Arguments(self.structure, leaves, self.builder.fixed, list(self.tracked.values()))
        self.views = views

    def _numbers(self) -> Numbers:
        """Numbers kept in containers that are followed: those that were another one before."""
        entry = self.entry
        if self.function.dynamic is False or entry.tracked is None:
            return Numbers(self.reach, ())
        for spec in entry.specialisations:
            for row in filter(is_store, spec.guard.rows):
                for key, old, new in row.changes():
                    if type(old) in _NUMBERS and type(new) in _NUMBERS:
                        entry.note_number(row.holder, key)
        return Numbers(self.reach, entry.numbers)

    # ----------------------------------------------------------------------------------------- the call

    def _capture(self) -> Specialisation | None:
        """Let the function run, and make a specialisation if Python need not run at each call."""
        capture, watcher, tape = self.capture, self.watcher, self.tape
        start = tape.start([*(self.leaves[i] for i in self.tracked.values()),
                            *(place.before for place in self.numbers.found)])
        args, kwargs = self._with_numbers(start)
        before = modes()
        marks = self._marks()
        try:
            self.numbers.note()
            capture.begin(self.views, self.builder.counters, {id(t._storage) for t in self.tensors})
            watcher.start()
            self.numbers.track(start[len(self.tracked):])
            del start  # nothing here keeps a tracked number alive
            self._call(args, kwargs)
        finally:
            del args, kwargs
            watcher.stop()
            capture.leave()
            for mark in marks:
                mark.remove()
        if tape.used and capture.break_line is None:
            self._ask_types(watcher)
        if self.failure is not None:
            return None
        if self._rearranged():
            capture.blame("it changes a container or an object among its arguments")
        if any(hooks_on(node) != hooks for node, hooks in self.hooked):
            capture.blame("it adds or removes hooks of a history that was there before")
        if modes() != before:
            capture.blame("it leaves another grad mode or default dtype behind")
        with capture.program.lock:  # another thread that ends the capture waits, or has ended it
            return self._specialisation()

    def _ask_types(self, watcher: Watcher) -> None:
        """Raise Disguised if some code that ran may have read the type of a tracked number."""
        found, start = watcher.asked, len(self.tracked)
        if asks_types(watcher.codes) or any(at >= self.tape.count for at in found):
            raise Disguised
        if found:
            names = list(self.tracked)
            raise Disguised([names[at] for at in found if at < start],
                            [(p.holder, p.key) for p in self.numbers.found if p.entry in found])

    def _with_numbers(self, numbers: list) -> tuple[list, dict]:
        """The arguments, with ``numbers`` in the place of those that are tracked."""
        args, kwargs = list(self.args), dict(self.kwargs)
        for name, x in zip(self.tracked, numbers):
            (kwargs if isinstance(name, str) else args)[name] = x
        return args, kwargs

    def _call(self, args: list, kwargs: dict) -> None:
        try:
            self.result = self.function.fn(*args, **kwargs)
        except BaseException as error:
            if isinstance(error, Unsupported):
                raise
            if self.tape.used and isinstance(error, TypeError) and self.capture.break_line is None:
                raise Disguised from error  # something looked closer at a number than it can bear
            self.failure = error  # the user's: what was recorded before it is run, and it is raised again

    def _marks(self) -> list:
        """Note the nodes, at tensors that were there, that a backward comes to; handles to end that."""
        walked = self.builder.walked
        tensors = (*(t for t, _ in self.reach.tensors.values()), *self.tensors)
        nodes = {id(t._grad_fn): t._grad_fn for t in tensors if isinstance(t._grad_fn, Node)}
        self.hooked = [(node, hooks_on(node)) for node in nodes.values()]
        return [node.register_prehook(lambda grads, at=at: walked.add(at)) for at, node in nodes.items()]

    def _rearranged(self) -> bool:
        """Whether what was given to it has another structure now."""
        again: list = []
        structure = flatten(self.args, again), flatten(self.kwargs, again) if self.kwargs else None
        return structure != self.structure or any(a is not b for a, b in zip(self.leaves, again)) or not all(
            map(same_attributes, self.attributes, map(vars, self.tensors))
        )

    # ----------------------------------------------------------------------------------- after the call

    def _specialisation(self) -> Specialisation | None:
        capture, watcher, reach, entry = self.capture, self.watcher, self.reach, self.entry
        function = self.function
        entry.attempts += 1
        spec = None
        unknown = {code: scope for code, scope in watcher.codes.items() if code not in reach.codes}
        function.names |= watcher.names
        if capture.break_line is not None:
            pass  # the reason was noted where the number was needed
        elif unknown:
            function.scopes.update(unknown)
            for code in unknown:
                if code.co_freevars:
                    for f in gc.get_referrers(code):
                        if isinstance(f, types.FunctionType):
                            function.extra[id(f)] = f
            capture.blame("it ran code that was not known before: " + ", ".join(
                f"{code.co_name} ({code.co_filename}:{code.co_firstlineno})" for code in unknown
            ))
        else:
            spec = self._built()
            for place in capture.numbers:
                entry.note_number(*place)
            if capture.keeps_numbers:
                entry.tracked, entry.reads = None, END
            elif capture.read_line is not None:
                # Nothing is known to stand in the way: the next capture follows such numbers.
                entry.reads = END if capture.lasting else FOLLOW
                entry.attempts -= 1
        if capture.reads == END:
            entry.reads = END
        if spec is None:
            self._refuse(bool(unknown))
        return spec

    def _built(self) -> Specialisation | None:
        capture, builder = self.capture, self.builder
        if capture.read_line is not None:
            capture.blame(f"{NEEDED} {capture.read_line}")
        try:
            spec = builder.build(self.result, self.arguments)
        except Exception:
            if builder.committed or not capture.over():
                raise
            spec = None  # what it read had changed in the middle
        if spec is None and capture.over():
            capture.blame("a finalizer needed a number of its results", of_others=True)
        return spec

    def _refuse(self, unknown: bool) -> None:
        """Python runs at this call, and from the last attempt on at each. Raises Unsupported."""
        capture, entry = self.capture, self.entry
        if capture.of_others and entry.disturbed < _DISTURBED:
            entry.disturbed += 1
            entry.attempts -= 1  # this one says nothing of the function
        last = entry.attempts >= (2 if capture.lasting else ATTEMPTS)
        refused = self.function.fullgraph and not capture.outside
        if refused and (last or capture.lasting or (not unknown and entry.attempts > 1)):
            raise Unsupported(
                f"fullgraph=True, but Python has to run at each call of {self.function.name}: "
                + "; ".join(capture.reasons)
            )
        entry.reasons += capture.reasons
        if last:
            entry.leave_to_python(list(capture.reasons))

    def _let_run(self, spec: Specialisation | None) -> None:
        """Run what was recorded, like any program; what the call has dropped is no result of it."""
        capture, broken = self.capture, self.capture.break_line is not None
        capture.commit()
        self._settle()
        if spec is not None:
            self.builder.follow(spec)
        self.watcher.forget()
        self.builder = self.arguments = self.views = None
        capture.release()
        if not broken and capture.program.device is not None:
            capture.program.close(explain.ASKED)
        capture.end()

    def _settle(self) -> None:
        """Leave plain numbers where tracked ones stood."""
        if self.tape.used:
            self.numbers.settle(self.tape, self.result, *map(vars, self.tensors))
