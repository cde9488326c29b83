"""Bytes a training step holds at most, and the resident size of its process."""

import collections
import gc
import pathlib
import re


def resident():
    """Bytes of this process that are in memory."""
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+) kB", text, re.M)[1]) * 1024


def flat(training, live, steps, every):
    """Resident bytes and what `live` counts, after every `every` steps, the first `every` left out."""
    training.first()
    training.measure(every)
    seen = []
    for _ in range(steps // every):
        training.measure(every)
        gc.collect()
        seen.append({"resident": resident(), "arrays": live()})
    return seen


def of_torch(training):
    """Bytes between steps, and at the peak of one, as PyTorch's allocator reports them; without data."""
    profiler = training.torch.profiler
    network, optimizer = training.parts
    # Gradients live on between steps, until zero_grad frees them within the next.
    held = [*network.parameters(), *network.buffers(), *(p.grad for p in network.parameters())]
    for state in optimizer.state.values():
        held += [value for value in state.values() if hasattr(value, "dim") and value.dim()]
    base = sum(t.numel() * t.element_size() for t in held if t is not None)
    activities = [profiler.ProfilerActivity.CPU]
    with profiler.profile(activities=activities, profile_memory=True) as profile:
        training.measure(1)
    events = [e for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"]
    now = most = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return {"state": base, "peak": base + most}


def arrays():
    import jax

    return len(jax.live_arrays())


def live_bytes(data):
    """Bytes of all arrays but `data`, tensors or arrays; of a tensor's array, if it has one by now."""
    import jax

    arrays = jax.live_arrays()
    total = sum(array.nbytes for array in arrays)
    there = collections.Counter((array.shape, array.dtype.itemsize) for array in arrays)
    for own in data:
        kind = tuple(own.shape), own.itemsize
        if there[kind]:
            there[kind] -= 1
            total -= own.nbytes
    return total


def planned(start, state, plan):
    """What XLA plans for a program: an output that takes over a donated argument's memory needs none."""
    own_outputs = plan.output_size_in_bytes - plan.alias_size_in_bytes
    return {"state": state, "peak": start + own_outputs + plan.temp_size_in_bytes}


def of_jaxflow(training, data):
    """The same of jaxflow, from XLA's plan of the largest program of a step; no peak where there is none.

    The gradients of the step before live between steps; ``zero_grad`` frees them while the next step is
    recorded, before its program starts.
    """
    from jaxflow._exec.handover import Entrance

    started, run = [], Entrance.run

    def watched(entrance, *args, **kwargs):
        started.append((live_bytes(data), entrance.compiled.memory_analysis()))
        return run(entrance, *args, **kwargs)

    state = live_bytes(data)
    Entrance.run = watched
    try:
        training.measure(1)
    finally:
        Entrance.run = run
    if not started:
        return {"state": state, "peak": None}
    start, plan = max(started, key=lambda found: found[1].temp_size_in_bytes)
    return planned(start, state, plan)
