"""Settings of how PyTorch makes kernels.

They may be changed and are kept; XLA, which makes kernels here, has its own (``XLA_FLAGS``).
"""

import sys as _sys

from jaxflow.utils._config_module import ConfigModule as _ConfigModule
from jaxflow.utils._config_module import Settings as _Settings

allow_buffer_reuse = True
assert_indirect_indexing = True
b2b_gemm_pass = False
benchmark_kernel = False
combo_kernels = False
compile_threads = 1
conv_1x1_as_mm = False
coordinate_descent_check_all_directions = False
coordinate_descent_search_radius = 1
coordinate_descent_tuning = False
cpp_wrapper = False
dce = False
debug = False
emulate_precision_casts = False
epilogue_fusion = True
fallback_random = False
force_fuse_int_mm_with_mul = False
force_shape_pad = False
freezing = False
fx_graph_cache = True
fx_graph_remote_cache = None
group_fusion = False
joint_graph_constant_folding = True
keep_output_stride = True
layout_optimization = True
max_autotune = False
max_autotune_gemm = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
max_autotune_pointwise = False
memory_planning = False
pattern_matcher = True
permute_fusion = False
reorder_for_compute_comm_overlap = False
reorder_for_locality = True
shape_padding = True
size_asserts = True
split_reductions = True
static_weight_shapes = True
unroll_reductions_threshold = 8
use_mixed_mm = True

cpp = _Settings("torch._inductor.config.cpp", simdlen=None, threads=-1, enable_kernel_profile=False)
trace = _Settings("torch._inductor.config.trace", enabled=False, debug_dir=None, graph_diagram=False)
triton = _Settings(
    "torch._inductor.config.triton",
    autotune_cublasLt=True, autotune_pointwise=True, cudagraph_skip_dynamic_graphs=False,
    cudagraph_support_input_mutation=True, cudagraph_trees=True, cudagraphs=False, debug_sync_graph=False,
    debug_sync_kernel=False, dense_indexing=False, descriptive_names="original_aten", max_tiles=None,
    multi_kernel=0, persistent_reductions=True, unique_kernel_names=True,
)

_sys.modules[__name__].__class__ = _ConfigModule
