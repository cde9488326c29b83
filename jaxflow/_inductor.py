"""Names that programs take from ``torch._inductor``: those of `jaxflow.compiler`."""

from .compiler import cudagraph_mark_step_begin as cudagraph_mark_step_begin
