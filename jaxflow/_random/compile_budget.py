"""When a compiled program for draws pays for itself."""

from __future__ import annotations


class CompileBudget:
    """What was spent on draws without a compiled program, in numbers drawn.

    Compiling begins once as much was spent as it costs: whatever is drawn afterwards, the time in all is at
    most twice that of the better way (Karlin et al., "Competitive snoopy caching", 1988).

    Args:
        price: what compiling costs.
    """

    def __init__(self, price: int) -> None:
        self.price = price
        self.spent = 0

    def spend(self, numbers: int) -> None:
        """Note that so many numbers were drawn without the program."""
        self.spent += numbers

    @property
    def used_up(self) -> bool:
        """Whether the program is to be compiled."""
        return self.spent >= self.price
