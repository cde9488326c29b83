"""Names that programs take from ``torch._inductor``: those of `jaxflow.compiler`, and settings."""

from jaxflow.compiler import cudagraph_mark_step_begin as cudagraph_mark_step_begin

from . import config as config
