"""Modules as programs of StableHLO: ``export``, and archives of such programs."""

from . import decomp_utils as decomp_utils
from . import dynamic_shapes as dynamic_shapes
from . import exported_program as exported_program
from . import graph_signature as graph_signature
from ._archives import load as load
from ._archives import save as save
from ._export import export as export
from ._refused import draft_export as draft_export
from ._refused import register_dataclass as register_dataclass
from ._refused import unflatten as unflatten
from .decomp_utils import CustomDecompTable as CustomDecompTable
from .decomp_utils import default_decompositions as default_decompositions
from .dynamic_shapes import Dim as Dim
from .dynamic_shapes import ShapesCollection as ShapesCollection
from .dynamic_shapes import dims as dims
from .exported_program import ExportedProgram as ExportedProgram
from .graph_signature import ExportBackwardSignature as ExportBackwardSignature
from .graph_signature import ExportGraphSignature as ExportGraphSignature
