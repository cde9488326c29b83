"""The end of a process in whose background a program is being compiled, which nobody will run."""

from __future__ import annotations

import atexit
import gc
import io
import os
import signal
import sys
import threading

from jaxflow._exec import background


def leave(status: object) -> None:
    """End the process if something is being compiled: with an exit status, as ``sys.exit`` takes it, or as
    a KeyboardInterrupt ends it.

    Python ends by itself otherwise. A thread inside XLA can neither be stopped nor be left behind by an
    interpreter that ends. So what Python does at its end is done here: it waits for threads, calls what
    ``atexit`` has, lets go of the objects of the program and writes out what files hold; then the process
    ends at once.
    """
    if not background.busy():
        return
    threading._shutdown()  # other threads may wait for what is to be compiled
    background.drop()
    atexit.unregister(background.stop)
    atexit._run_exitfuncs()
    if not background.busy():
        return  # it is done meanwhile
    sys.modules["__main__"].__dict__.clear()
    gc.unfreeze()  # NOTE [Objects that stay]: files are among them
    gc.collect()
    number = status if isinstance(status, int) else int(status is not None)
    if not isinstance(status, (int, KeyboardInterrupt)) and status is not None:
        print(status, file=sys.stderr)
    for file in [x for x in gc.get_objects() if isinstance(x, io.IOBase)]:
        _written_out(file)
    if isinstance(status, KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(number & 0xFF)


def _written_out(file: io.IOBase) -> None:
    try:
        if not file.closed and file.writable():
            file.flush()
    except (OSError, ValueError) as error:  # as Python says it of a file that it closes at its end
        os.write(2, f"Exception ignored in {file!r}: {error}\n".encode())
