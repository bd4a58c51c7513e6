"""The doctor tells versions, what is missing and the remedy."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, requires, version

import pytest
from support.commands import called

from rigidgrains.app import doctor
from rigidgrains.runtime.version import __version__


def test_everything_is_here(tmp_path):
    told = called(tmp_path, "doctor").stdout
    assert f"rigidgrains  {__version__}" in told
    for word in ("numpy", "processor", "cores", "GPU", "MPI", "all that is needed is here"):
        assert word in told
    assert doctor.try_out().endswith("certified")


def test_every_extra_of_the_user_is_known():
    """Those for developers apart."""
    extras = {line.partition("extra == ")[2].strip("'\"") for line in requires("rigidgrains") if "extra ==" in line}
    assert extras - {"test", "dev", "docs"} == set(doctor.PARTS)


@pytest.mark.parametrize(("has", "says"), [(None, "is missing"), ("1.9.2", "1.9.2 is older than")])
def test_what_is_needed_and_missing_is_a_problem(tmp_path, monkeypatch, has, says):
    def found(name):
        if name != "numpy":
            return version(name)
        if has is None:
            raise PackageNotFoundError(name)
        return has

    monkeypatch.setattr(doctor, "version", found)
    done = called(tmp_path, "doctor", check=1)
    assert f"numpy {says}" in done.stderr
    least = next(line for line in requires("rigidgrains") if line.startswith("numpy"))  # as pyproject.toml has it
    assert f"pip install '{least}'" in done.stderr


def test_what_is_optional_and_missing_has_its_remedy(tmp_path, monkeypatch):
    def found(name):
        if name in ("websockets", "distributed"):
            raise PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor, "version", found)
    told = " ".join(called(tmp_path, "doctor").stdout.split())  # however wide the terminal is
    assert "websockets is missing; pip install 'rigidgrains[live]'" in told
    assert "distributed is missing; pip install 'rigidgrains[study]'" in told


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("numpy>=2.0", ("numpy", None, "2.0", None)),
        ("dask[distributed]>=2024.8; extra == 'study'", ("dask", "distributed", "2024.8", "study")),
        ('gsd>=3.3 ; extra == "formats"', ("gsd", None, "3.3", "formats")),
    ],
)
def test_requirements_are_read(line, parts):
    assert doctor.REQUIREMENT.match(line).groups() == parts
