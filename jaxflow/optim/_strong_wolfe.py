"""A line search for a step that keeps the strong Wolfe conditions.

Nocedal and Wright, "Numerical optimization", 2006, chapter 3.5: a bracket is found by growing steps and then
made smaller, each time at the minimum of a cubic. The numbers are those of PyTorch's search.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple


class Point(NamedTuple):
    """A step ``t`` along the direction: the loss there, the flat gradient, and its slope."""

    t: float
    loss: float
    gradient: Any
    slope: float


def cubic_minimum(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """Where the cubic with the losses and slopes of two points is least, within bounds (by default them)."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    left, right = (a, b) if a.t <= b.t else (b, a)
    if a.t == b.t:
        return (low + high) / 2
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = mean * mean - a.slope * b.slope
    if not square >= 0:
        return (low + high) / 2
    root = math.sqrt(square)
    below = right.slope - left.slope + 2 * root
    if below == 0:
        return high
    best = right.t - (right.t - left.t) * ((right.slope + root - mean) / below)
    return min(max(best, low), high)


class _Search:
    """What both phases share: the function, the start, the conditions and the evaluations so far."""

    armijo, curvature = 1e-4, 0.9

    def __init__(self, evaluate: Callable[[float], Point], start: Point) -> None:
        self.evaluate, self.start = evaluate, start

    def is_too_high(self, point: Point) -> bool:
        """Whether the loss fell by less than the first condition says."""
        return point.loss > self.start.loss + self.armijo * point.t * self.start.slope

    def is_flat(self, point: Point) -> bool:
        """Whether the slope is as small as the second condition says."""
        return abs(point.slope) <= -self.curvature * self.start.slope


def strong_wolfe(evaluate: Callable[[float], Point], t: float, start: Point, longest: float,
                 tolerance_change: float, max_ls: int) -> tuple[Point, int]:
    """The step that was found, and how many evaluations that took.

    Args:
        evaluate: gives the point at a step.
        t: the first step that is tried.
        start: the point at 0.
        longest: the largest absolute element of the direction.
        tolerance_change: the least width of a bracket, in units of the parameters.
        max_ls: the largest number of evaluations after the first.
    """
    search = _Search(evaluate, start)
    bracket, tried, done = _bracket(search, t, max_ls)
    spent = tried
    if done:
        return bracket[0], spent + 1
    best, worst = sorted(bracket, key=lambda point: point.loss)  # stable: the first of two equal ones
    first, second = bracket
    low = 0 if first is best else 1
    pair = [first, second]
    stuck = False
    while spent < max_ls:
        best, worst = pair[low], pair[1 - low]
        if abs(pair[1].t - pair[0].t) * longest < tolerance_change:
            break
        t, stuck = _inside(pair, stuck)
        new = evaluate(t)
        spent += 1
        if search.is_too_high(new) or new.loss >= best.loss:
            pair[1 - low] = new
            low = 0 if pair[0].loss <= pair[1].loss else 1
            continue
        done = search.is_flat(new)
        if not done and new.slope * (worst.t - best.t) >= 0:
            pair[1 - low] = best
        pair[low] = new
        if done:
            break
    return pair[low], spent + 1


def _bracket(search: _Search, t: float, max_ls: int) -> tuple[list[Point], int, bool]:
    """Two points around one that keeps the conditions, or that one; how many further were evaluated."""
    before, new = search.start, search.evaluate(t)
    tried = 0
    while tried < max_ls:
        if search.is_too_high(new) or (tried > 1 and new.loss >= before.loss):
            return [before, new], tried, False
        if search.is_flat(new):
            return [new], tried, True
        if new.slope >= 0:
            return [before, new], tried, False
        bounds = (new.t + 0.01 * (new.t - before.t), new.t * 10)
        t = cubic_minimum(before, new, bounds)
        before, new = new, search.evaluate(t)
        tried += 1
    return [search.start, new], tried, False


def _inside(pair: list[Point], stuck: bool) -> tuple[float, bool]:
    """A step inside of the bracket, at a tenth of it from an end that it came close to twice."""
    t = cubic_minimum(*pair)
    low, high = min(p.t for p in pair), max(p.t for p in pair)
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if stuck or t >= high or t <= low:
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
    return t, True
