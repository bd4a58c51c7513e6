"""The table of a study for other programs, by the ending of the file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..files.outputs import whole
from .table import rows_of, write_csv, write_parquet

if TYPE_CHECKING:
    from .study import Study


def export_study(study: Study, path: Path, *, pages: bool = True) -> None:
    """Write .html, .csv, .parquet, or .nc for the dataset over the varied words.

    pages : with .html, also the page of each run
    """
    folder, kind = study.status().folder, path.suffix.lower()
    if kind == ".html":
        from .page import write_study_page

        write_study_page(study, path, pages=pages)
    elif kind == ".nc":
        with whole(path) as part:
            table = study.table()
            table["seed"] = table["seed"].astype(str)  # netCDF 3 has no whole numbers of this size
            part.write_bytes(bytes(table.to_netcdf(engine="scipy")))
    elif kind == ".parquet":
        write_parquet(rows_of(study, folder), path)
    else:
        write_csv(rows_of(study, folder), path)
