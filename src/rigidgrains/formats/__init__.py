"""Files of other programs: trajectories exported to them, starting states read from them."""

from .errors import FormatError, FrameError
from .export import export
from .state import State, read_state
from .table import FORMATS

__all__ = ["FORMATS", "FormatError", "FrameError", "State", "export", "read_state"]
