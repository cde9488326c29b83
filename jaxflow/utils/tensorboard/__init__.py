"""Event files for TensorBoard, under PyTorch's names."""

from .record_writer import RecordWriter as RecordWriter
from .writer import FileWriter as FileWriter
from .writer import SummaryWriter as SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
