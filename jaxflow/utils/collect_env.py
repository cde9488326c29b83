"""``python -m jaxflow -m torch.utils.collect_env``: what a report of a bug should say about a machine."""

from __future__ import annotations

import importlib.metadata
import locale
import os
import platform
import re
import shutil
import subprocess
import sys
from collections import namedtuple

import jax
import jaxlib

from jaxflow import cuda
from jaxflow.version import __version__

_ABSENT = "N/A"
_UNKNOWN = "Could not collect"
#: Packages that matter, by what their names contain.
_PACKAGES = re.compile(r"jax|torch|numpy|optax|flax|onnx|triton|nvidia|cuda|mypy|tensorboard", re.I)

SystemEnv = namedtuple("SystemEnv", (
    "torch_version is_debug_build cuda_compiled_version gcc_version clang_version cmake_version os "
    "libc_version python_version python_platform is_cuda_available cuda_runtime_version cuda_module_loading "
    "nvidia_driver_version nvidia_gpu_models cudnn_version is_xpu_available pip_version pip_packages "
    "conda_packages hip_compiled_version hip_runtime_version miopen_runtime_version caching_allocator_config "
    "is_xnnpack_available cpu_info"))

#: The lines of the report, with names of fields; an empty row is an empty line.
_LINES = (
    ("PyTorch version", "torch_version"), ("Is debug build", "is_debug_build"),
    ("CUDA used to build PyTorch", "cuda_compiled_version"), ("ROCM used to build PyTorch",
                                                              "hip_compiled_version"),
    (), ("OS", "os"), ("GCC version", "gcc_version"), ("Clang version", "clang_version"),
    ("CMake version", "cmake_version"), ("Libc version", "libc_version"), (),
    ("Python version", "python_version"), ("Python platform", "python_platform"),
    ("Is CUDA available", "is_cuda_available"), ("CUDA runtime version", "cuda_runtime_version"),
    ("CUDA_MODULE_LOADING set to", "cuda_module_loading"), ("GPU models and configuration",
                                                            "nvidia_gpu_models"),
    ("Nvidia driver version", "nvidia_driver_version"), ("cuDNN version", "cudnn_version"),
    ("Is XPU available", "is_xpu_available"), ("HIP runtime version", "hip_runtime_version"),
    ("MIOpen runtime version", "miopen_runtime_version"), ("Is XNNPACK available", "is_xnnpack_available"),
    ("Caching allocator config", "caching_allocator_config"), (),
)


def run(command: str | list[str]) -> tuple[int, str, str]:
    """The exit status of a command, what it printed, and its errors; 127 where there is none such."""
    shell = isinstance(command, str)
    try:
        done = subprocess.run(command, shell=shell, capture_output=True, check=False, timeout=60)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    encoding = locale.getpreferredencoding(False)
    return done.returncode, *(text.decode(encoding, "replace").strip() for text in (done.stdout, done.stderr))


def _first(*command: str, pattern: str = "(.*)") -> str:
    """What a command prints, as far as a pattern says; that it is unknown, where it cannot be run."""
    status, out, _ = run(list(command)) if shutil.which(command[0]) else (127, "", "")
    found = re.search(pattern, out)
    return found[1] if status == 0 and found else _UNKNOWN


def _os() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.platform()
    return f"{name} ({platform.machine()})"


def _packages() -> str:
    found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
    return "\n".join(f"{name}=={found[name]}" for name in sorted(found,
                                                                 key=str.lower) if _PACKAGES.search(name))


def _cpu() -> str:
    status, out, _ = run(["lscpu"]) if shutil.which("lscpu") else (127, "", "")
    return out if status == 0 else f"{platform.processor()}, {os.cpu_count()} processors"


def get_env_info() -> SystemEnv:
    """What there is on this machine.

    Returns:
        A `SystemEnv`: strings by PyTorch's names. The version is jaxflow's, with jax's and jaxlib's; what
        belongs to libraries that jaxflow does not use is ``N/A``.
    """
    return SystemEnv(
        torch_version=f"jaxflow {__version__} (jax {jax.__version__}, jaxlib {jaxlib.__version__})",
        is_debug_build="False", cuda_compiled_version=_ABSENT, hip_compiled_version=_ABSENT,
        gcc_version=_first("gcc", "--version", pattern=r"gcc (.*)"),
        clang_version=_first("clang", "--version", pattern=r"clang version (.*)"),
        cmake_version=_first("cmake", "--version", pattern=r"cmake (.*)"),
        os=_os(), libc_version="-".join(filter(None, platform.libc_ver())) or _ABSENT,
        python_version=f"{sys.version.replace(chr(10), ' ')} ({sys.maxsize.bit_length() + 1}-bit runtime)",
        python_platform=platform.platform(), is_cuda_available=str(cuda.is_available()),
        cuda_runtime_version=_ABSENT,
        cuda_module_loading=os.environ.get("CUDA_MODULE_LOADING", _ABSENT),
        nvidia_driver_version=_first("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"),
        nvidia_gpu_models="\n".join(map(cuda.get_device_name, range(cuda.device_count()))) or _UNKNOWN,
        cudnn_version=_ABSENT, is_xpu_available="False", pip_version="pip3", pip_packages=_packages(),
        conda_packages="", hip_runtime_version=_ABSENT, miopen_runtime_version=_ABSENT,
        caching_allocator_config=_ABSENT, is_xnnpack_available="False", cpu_info=_cpu())


def pretty_str(envinfo: SystemEnv) -> str:
    """The report of what `get_env_info` found."""
    lines = [f"{row[0]}: {getattr(envinfo, row[1])}" if row else "" for row in _LINES]
    packages = [f"[{envinfo.pip_version}] {line}" for line in envinfo.pip_packages.splitlines()]
    conda = [f"[conda] {line}" for line in (envinfo.conda_packages or "Could not collect").splitlines()]
    return "\n".join([*lines, "CPU:", envinfo.cpu_info, "", "Versions of relevant libraries:", *packages,
                      *conda])


def get_pretty_env_info() -> str:
    """The report of this machine."""
    return pretty_str(get_env_info())


def main() -> None:
    """Print the report."""
    print("Collecting environment information...", file=sys.stdout)
    print(get_pretty_env_info(), file=sys.stdout)


if __name__ == "__main__":
    main()
