"""Study: a scene, what is varied and what is measured, from Python or from a file, checked as soon as it is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Field, PlainValidator, PrivateAttr

from ..scene.errors import Origin, SceneError
from ..scene.section import Section
from ..scene.toml import plain
from ..scene.values import Count, Seed
from . import read
from .check import check
from .errors import StudyError
from .grid import Run, all_runs
from .words import End, Measured

if TYPE_CHECKING:
    import pandas
    import xarray
    from matplotlib.figure import Figure

    from .live import Watcher
    from .status import Status


class Study(Section):
    """Many runs of one scene, from a file, from the folder of an earlier run, or from words.

    >>> study = Study(scene="pile.toml", vary={"friction": [0.1, 0.3, 0.5]}, replicas=20, measure={"z": "coordination"})
    >>> study.run("pile-study", workers=4)
    >>> Study("pile-study").table()
    """

    model_config = ConfigDict(title="rigidgrains study")
    _origin: Origin | None = PrivateAttr(default=None)
    _folder: Path | None = PrivateAttr(default=None)
    _beside: Path = PrivateAttr(default_factory=Path)
    _scene_words: dict[str, Any] = PrivateAttr(default_factory=dict)
    _scene_origin: Origin | None = PrivateAttr(default=None)

    title: str | None = Field(default=None, strict=True, description="a line about the study")
    scene: Any = Field(
        description="the scene: a file in TOML relative to the study, a table with its words, or a Scene"
    )
    vary: Annotated[dict[str, list[Any]], PlainValidator(read.varied)] = Field(
        default_factory=dict, description="names of scene keys, each with a list or a range of values"
    )
    points: Annotated[list[dict[str, Any]], PlainValidator(read.points)] = Field(
        default_factory=list, description="a table of points: keys of the scene that vary together"
    )
    replicas: Count = Field(default=1, description="runs at each point, with different seeds")
    seed: Seed = Field(default=0, description="from which the seeds of all runs are made")
    seeds: Literal["independent", "shared"] = Field(
        default="independent", description="shared: replica k has the same seed at all points"
    )
    set: Annotated[dict[str, Any], PlainValidator(read.fixed)] = Field(
        default_factory=dict, description="scene keys that are changed in all runs"
    )
    end: End | None = Field(default=None, description="when each run ends; as in the scene if absent")
    measure: Annotated[dict[str, Measured], PlainValidator(read.measured)] = Field(
        default_factory=dict, description="names of columns and what is measured in them"
    )

    def __init__(self, path: str | Path | None = None, /, **words: Any) -> None:
        if path is not None and words:
            raise TypeError("Study() takes a path or words, not both")
        origin, folder, beside = None, None, Path()
        try:
            if path is not None:
                words, origin, folder, beside = read.study_file(Path(path))
            super().__init__(**words)
            self._origin, self._folder, self._beside = origin, folder, beside
            self._scene_words, self._scene_origin = read.scene_words(self.scene, beside)
            check(self)
        except SceneError as error:
            known = origin.locate(error) if origin is not None and not error.source else error
            raise StudyError(known.problems, source=known.source) from None

    @property
    def scene_words(self) -> dict[str, Any]:
        """Words of the scene before any change; files of grains by their full paths."""
        return self._scene_words

    @property
    def scene_origin(self) -> Origin | None:
        """The file of the scene, and the lines of its words."""
        return self._scene_origin

    @property
    def folder(self) -> Path | None:
        """Where its runs are; None until it is known."""
        return self._folder

    @property
    def beside(self) -> Path:
        """The folder of the study file, where modules with functions are looked for."""
        return self._beside

    @property
    def runs(self) -> list[Run]:
        """All its runs, in the order of the table."""
        return all_runs(self)

    @property
    def names(self) -> list[str]:
        """The varied words: those of the table of points first."""
        return [*(self.points[0] if self.points else ()), *self.vary]

    def words(self) -> dict[str, Any]:
        """As in a study file, with functions by their names."""
        told = self.model_dump(exclude_unset=True, exclude_none=True, exclude={"scene", "measure", "end"})
        told["scene"] = str(self.scene) if isinstance(self.scene, (str, Path)) else self.scene_words
        if self.end is not None:
            told["end"] = self.end.model_dump(exclude_none=True)
        if self.measure:
            told["measure"] = {name: one.words() for name, one in self.measure.items()}
        return plain(told)  # type: ignore[no-any-return]

    def run(
        self,
        folder: str | Path | None = None,
        *,
        workers: int | None = None,
        cluster: Any = None,
        part: str | None = None,
        limit: int | None = None,
        retry: bool = False,
        watcher: Watcher | None = None,
    ) -> Status:
        """Run what has not been run, and measure what has not been measured; gives how it stands then.

        folder  : of the study; default: that from which it was read
        workers : processes of one thread each, one for each core by default; 0 runs in this process, without Dask
        cluster : address of a Dask scheduler, or a Dask cluster, in place of local workers
        part    : "3/16" runs each sixteenth run from the third on, in this process
        limit   : begin no more runs than this; retry : also those that have failed
        """
        from .engine import run_study

        return run_study(
            self, folder, workers=workers, cluster=cluster, part=part, limit=limit, retry=retry, watcher=watcher
        )

    def status(self) -> Status:
        """How many runs are done, failed, begun or waiting."""
        from .status import status_of

        return status_of(self, self._place())

    def rows(self) -> pandas.DataFrame:
        """One row for each run: varied words, replica, seed, state, measures, error."""
        from .table import frame_of

        return frame_of(self, self._place())

    def table(self) -> xarray.Dataset:
        """Measures over the varied words and replicas, and over replicas NAME_mean and its standard error NAME_error.

        >>> Study("folder").table()["z_mean"].sel(friction=0.3)
        >>> Study("folder").table().to_dataframe()
        """
        from .table import dataset_of

        return dataset_of(self, self._place())

    def plot(self, what: Sequence[str] = (), **options: Any) -> Figure:
        """Measures against a varied word, with standard errors; options against, hue and panels as in `draw_study`."""
        from .plot import draw_study

        return draw_study(self, what, **options)

    def _place(self) -> Path:
        if self._folder is None:
            raise ValueError("this study has no folder yet; run it: study.run('folder'), or read one: Study('folder')")
        return self._folder
