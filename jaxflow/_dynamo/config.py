"""Settings of how PyTorch's compiler follows Python.

They may be changed and are kept, but nothing reads them: `jaxflow.compile` makes as many specialisations as
there are kinds of calls. What would change how a program ends is refused.
"""

import sys as _sys

from jaxflow.utils._config_module import ConfigModule as _ConfigModule

accumulated_recompile_limit = 256
allow_unspec_int_on_nn_module = False
assume_static_by_default = True
automatic_dynamic_shapes = True
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
compiled_autograd = False
disable = False
dynamic_shapes = True
error_on_recompile = False
fail_on_recompile_limit_hit = False
force_parameter_static_shapes = True
guard_nn_modules = True
inline_inbuilt_nn_modules = True
log_file_name = None
optimize_ddp = True
raise_on_ctx_manager_usage = True
recompile_limit = 8
repro_after = None
repro_level = 2
skip_fwd_side_effects_in_bwd_under_checkpoint = False
specialize_float = False
specialize_int = False
suppress_errors = False
verbose = False

_aliases = {
    "accumulated_cache_size_limit": "accumulated_recompile_limit",
    "cache_size_limit": "recompile_limit",
}
_refused = {
    "disable": 'torch.compiler.set_stance("force_eager")',
    "error_on_recompile": 'torch.compiler.set_stance("fail_on_recompile")',
    "fail_on_recompile_limit_hit": 'torch.compiler.set_stance("fail_on_recompile")',
}

_sys.modules[__name__].__class__ = _ConfigModule
