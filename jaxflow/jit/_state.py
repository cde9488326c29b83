"""What programs call to forget all that was scripted. Nothing is kept of it, so there is nothing to
forget."""


def _clear_class_state() -> None:
    """Do nothing: there are no classes of TorchScript."""
