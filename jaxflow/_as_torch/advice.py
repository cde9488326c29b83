"""What to do about names of torch that jaxflow lacks or treats differently."""

from __future__ import annotations

_STAYS_PYTHON = "gives a wrapper of what it is given, which stays Python; torch.compile makes it fast"
_ONE_PROCESS = ("makes a group of one process, and refuses several when the program runs; one process "
                "computes on all devices")

#: By name: what is different where jaxflow has the name.
DIFFERENT = {
    "torch.jit.script": _STAYS_PYTHON,
    "torch.jit.trace": _STAYS_PYTHON,
    "torch.jit.trace_module": _STAYS_PYTHON,
    "torch.distributed.init_process_group": _ONE_PROCESS,
    "torch.set_num_threads": "is remembered and has no effect; limit the process's cores before it starts",
    "torch.set_num_interop_threads": "is remembered and has no effect",
}

_QUANTIZED = ("models are quantized module by module: torch.ao.quantization.prepare, prepare_qat, convert "
              "and quantize_dynamic")
_COMPILED = ("code compiled against PyTorch's C++ library cannot be used; write the operation in Python, or "
             "with JAX")
_PARTS_OF_FX = ("symbolic_trace, Tracer, Interpreter, replace_pattern, split_module and fuse are there; "
                "jax.make_jaxpr shows what is computed")

#: By the beginning of a name, the longest first: what to use instead.
INSTEAD = {
    "torch.ao": _QUANTIZED,
    "torch.quantization": _QUANTIZED,
    "torch.cuda.CUDAGraph": "steps are compiled whole; leave the graph out",
    "torch.cuda.graph": "steps are compiled whole; leave the graph out",
    "torch.classes": _COMPILED,
    "torch.library": _COMPILED,
    "torch.ops": _COMPILED,
    "torch.utils.cpp_extension": _COMPILED,
    "torch.distributed": "one process computes on all devices",
    "torch.nn.parallel": "one process computes on all devices; leave the wrapper out",
    "torch.export": "torch.export.export makes a program of StableHLO, without a graph of Python nodes",
    "torch.fx": _PARTS_OF_FX,
    "torch.jit": "torch.jit.save and load write and read programs of StableHLO; there are no graphs",
    "torch.onnx": "torch.export.export and torch.jit.save write programs of StableHLO",
    "torch.package": "save and load the state_dict() of a module written in Python",
    "torch.utils.mobile_optimizer": "torch.export.export and torch.jit.save write programs of StableHLO",
    "Tensor.is_mkldnn": "leave it out",
    "Tensor.to_mkldnn": "leave it out: XLA chooses layouts",
    "Tensor.to_padded_tensor": "pad, with a mask",
}

#: PyTorch's tensor methods that there are none of here, but those with names that other classes often have.
METHODS = frozenset(("slice_inverse", "to_mkldnn"))
