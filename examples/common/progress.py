"""A progress bar with loss, speed and time left, for terminals and for logs."""

import collections
import sys
import time


def clock(seconds):
    """``75`` as ``1:15``."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


class Progress:
    """Shows how far a run of `total` steps is: one moving line in a terminal, ten lines in a log.

    `items` is how many of `unit` a step works through. The speed is that of the last few updates,
    so that compiling, which happens in the first steps, does not spoil the time left.
    """

    WIDTH = 24

    def __init__(self, total, start=0, items=1, unit="items", stream=None):
        self.total, self.items, self.unit = total, items, unit
        self.stream = stream or sys.stdout
        self.moving = self.stream.isatty()
        self.recent = collections.deque(maxlen=20)
        self.next_line = start

    def update(self, step, **numbers):
        """Show that `step` steps are done, and what `numbers` (name to float) are now."""
        now = time.perf_counter()
        self.recent.append((step, now))
        since, began = self.recent[0]
        filled = self.WIDTH * step // self.total
        parts = [f"[{'#' * filled:.<{self.WIDTH}}] {step}/{self.total}"]
        parts += [f"{name} {value:.3f}" for name, value in numbers.items()]
        if step > since:
            speed = (step - since) / (now - began)
            parts.append(f"{speed * self.items:,.0f} {self.unit}/s")
            parts.append(f"{clock((self.total - step) / speed)} left")
        self._show("  ".join(parts), step)

    def _show(self, line, step):
        if self.moving:
            self.stream.write(f"\r\x1b[K{line}")
        elif step >= self.next_line or step >= self.total:
            self.stream.write(f"{line}\n")
            self.next_line = step + self.total / 10
        self.stream.flush()

    def note(self, text):
        """Print a line of its own above the bar."""
        self.stream.write(f"\r\x1b[K{text}\n" if self.moving else f"{text}\n")
        self.stream.flush()

    def close(self):
        """Leave the bar where it is and go to the next line."""
        if self.moving:
            self.stream.write("\n")
