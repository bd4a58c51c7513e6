"""Many runs of one scene: what is varied and measured, runs on Dask that survive a kill, one table of results."""

from .errors import StudyError
from .study import Study

__all__ = ["Study", "StudyError"]
