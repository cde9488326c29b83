"""The class of compiled modules and the switches, under the name of ``torch._dynamo.eval_frame``."""

from jaxflow.compiler import OptimizedModule as OptimizedModule
from jaxflow.compiler import disable as disable
