"""Control flow and scans: functions that take functions of tensors."""

from .associative_scan import associative_scan as associative_scan
from .cond import cond as cond
from .map import map as map
from .scan import scan as scan
from .while_loop import while_loop as while_loop
