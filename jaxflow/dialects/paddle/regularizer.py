"""Weight decay as an object: what an optimizer's ``weight_decay`` may be."""


class L2Decay:
    """``coeff`` times every parameter is added to its gradient."""

    def __init__(self, coeff: float = 0.0) -> None:
        self.coeff = float(coeff)
