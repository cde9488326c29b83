"""The profiler, shaped as ``torch.profiler``, over jax's."""

from jaxflow.autograd.profiler import record_function as record_function
from jaxflow.autograd.profiler_util import DeviceType as DeviceType

from .profile import ProfilerAction as ProfilerAction
from .profile import ProfilerActivity as ProfilerActivity
from .profile import kineto_available as kineto_available
from .profile import profile as profile
from .profile import schedule as schedule
from .profile import supported_activities as supported_activities
from .profile import tensorboard_trace_handler as tensorboard_trace_handler

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "kineto_available", "profile",
           "record_function", "schedule", "supported_activities", "tensorboard_trace_handler"]
