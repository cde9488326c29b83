"""What programs call to forget all that was scripted; nothing is kept of it."""


def _clear_class_state() -> None:
    """Do nothing: there are no classes of TorchScript."""
