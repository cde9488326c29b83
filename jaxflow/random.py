"""Random state, under ``torch.random``'s names."""

from ._api.random.state import drawing_from as drawing_from
from ._api.random.state import fork_rng as fork_rng
from ._api.random.state import get_rng_state as get_rng_state
from ._api.random.state import initial_seed as initial_seed
from ._api.random.state import manual_seed as manual_seed
from ._api.random.state import seed as seed
from ._api.random.state import set_rng_state as set_rng_state
from ._api.random.state import set_stream as set_stream
from ._core.generator import default_generator as default_generator
from .utils.data._utils.worker import thread_safe_generator as thread_safe_generator
