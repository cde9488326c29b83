"""``python -m jaxflow script.py``: run a PyTorch program as it is, on jaxflow."""

import sys

from ._as_torch.command import main
from ._as_torch.leaving import leave

if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except SystemExit as end:
        leave(end.code)
        raise
    except KeyboardInterrupt as end:
        leave(end)
        raise
    leave(status)
    sys.exit(status)
