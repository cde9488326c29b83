"""``python -m jaxflow script.py``: run a PyTorch program as it is, on jaxflow."""

import sys

from ._as_torch.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
