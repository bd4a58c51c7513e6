"""Sdist and wheel hold what they should, and the wheel works where nothing is installed but what it asks for."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from support import ROOT

from rigidgrains.app.doctor import REQUIREMENT
from rigidgrains.runtime.version import __version__

PACKAGE = ROOT / "src" / "rigidgrains"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SKIPPED = {"__pycache__"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """As `python -m build` makes them, the wheel of what the sdist holds, without fetching anything."""
    folder = tmp_path_factory.mktemp("dist")
    (sdist,) = hatch("sdist", ROOT, folder)
    with tarfile.open(sdist) as packed:
        packed.extractall(folder, filter="data")
    (wheel,) = hatch("wheel", folder / sdist.name.removesuffix(".tar.gz"), folder)
    return sdist, wheel


def hatch(kind: str, source: Path, folder: Path) -> list[Path]:
    line = [sys.executable, "-m", "hatchling", "build", "-d", folder, "-t", kind]
    done = subprocess.run(line, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return list(folder.glob("*.tar.gz" if kind == "sdist" else "*.whl"))


def closure(names: list[str]) -> set[str]:
    """Distributions that come with these, by what is installed here."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name.lower() in found:
            continue
        found.add(name.lower())
        todo += [
            REQUIREMENT.match(line)[1]
            for line in distribution(name).requires or []
            if ";" not in line or ("extra" not in line and "platform" not in line and "version" not in line)
        ]
    return found


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """An environment with the wheel and links to what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    (site,) = folder.glob("Lib/site-packages" if os.name == "nt" else "lib/*/site-packages")
    for name in closure([REQUIREMENT.match(line)[1] for line in PROJECT["project"]["dependencies"]]):
        files = distribution(name)
        for top in {file.parts[0] for file in files.files or [] if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(files.locate_file(top))))
    scripts = Path("Scripts" if os.name == "nt" else "bin")
    line = [sys.executable, "-m", "pip", "--python", folder / scripts / Path(sys.executable).name]
    done = subprocess.run(
        [*line, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", built[1]],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / scripts


def told(installed: Path, folder: Path, *words: str, check: int = 0) -> str:
    """What the installed command says, far from the sources."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    line = [installed / "rigidgrains", *words]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, env=environment | {"COLUMNS": "200"})
    assert done.returncode == check, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_every_file_of_the_package(built):
    with zipfile.ZipFile(built[1]) as wheel:
        held = {name.removeprefix("rigidgrains/") for name in wheel.namelist() if name.startswith("rigidgrains/")}
        metadata = wheel.read(f"rigidgrains-{__version__}.dist-info/METADATA").decode()
    tracked = subprocess.run(["git", "ls-files", "."], cwd=PACKAGE, capture_output=True, text=True).stdout.split("\n")
    there = {name for name in tracked if name} or {
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if not SKIPPED & {*path.parts}
    }
    assert not {name for name in there - held if (PACKAGE / name).exists()}
    assert not {name for name in held if name.endswith((".nbi", ".nbc", ".pyc"))}
    assert f"Version: {__version__}" in metadata
    assert "Author: the rigidgrains developers" in metadata


def test_the_sdist_holds_what_tests_and_pages_need(built):
    with tarfile.open(built[0]) as sdist:
        held = {name.partition("/")[2] for name in sdist.getnames()}
    pages = {"README.md", "CONTRIBUTING.md", "MAINTAINING.md"}
    assert pages | {"pyproject.toml", "LICENSE", "CITATION.cff", "Makefile"} <= held
    for folder in ("src", "tests", "docs", "examples", "web", "benchmarks", "validation"):
        assert any(name.startswith(f"{folder}/") for name in held), folder
    assert not {name for name in held if name.startswith((".venv", "node_modules", "docs/_build", ".git/"))}


def test_every_command_is_there_without_make(installed, tmp_path):
    """Also those that need extras: they tell which."""
    assert told(installed, tmp_path, "--version").strip() == __version__
    help_text = told(installed, tmp_path, "--help")
    for command in ("run", "resume", "check", "view", "study", "reproduce", "doctor", "--install-completion"):
        assert command in help_text
    report = told(installed, tmp_path, "doctor")
    assert str(installed.parent) in report.replace("\n", "")
    assert "pip install 'rigidgrains[view]'" in report
    assert "all that is needed is here" in report
    told(installed, tmp_path, "new", "bounce")
    told(installed, tmp_path, "schema", "-o", "schema.json")
    assert "1" in told(installed, tmp_path, "info", "bounce.toml")


@pytest.mark.slow
def test_the_installed_command_runs_a_scene(installed, tmp_path):
    """From a scene to a certified file and a picture; kernels are compiled beside the installed package."""
    told(installed, tmp_path, "new", "column")
    told(installed, tmp_path, "run", "column.toml")
    assert "certified" in told(installed, tmp_path, "check", "column/column.vtkhdf", "--frame", "last")
    assert (tmp_path / "column" / "packing.png").stat().st_size > 5000
    assert "certified" in told(installed, tmp_path, "doctor", "--run")


@pytest.mark.slow
def test_pip_installs_it_into_an_empty_environment(built, tmp_path):
    """The sdist, with all that it needs from an index of packages; no make, no sources, no link to this environment."""
    venv.create(tmp_path / "empty", with_pip=True)
    scripts = tmp_path / "empty" / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    reached = subprocess.run([python, "-m", "pip", "download", "--no-deps", "-d", tmp_path, "hatchling"])
    if reached.returncode:
        pytest.skip("no index of packages can be reached")
    done = subprocess.run([python, "-m", "pip", "install", built[0]], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert told(scripts, tmp_path, "--version").strip() == __version__
    assert "certified" in told(scripts, tmp_path, "doctor", "--run")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell):
    from rigidgrains.cli import app

    script = app.generate_completion(shell=shell)
    for word in ("reproduce", "doctor", "--until"):
        assert word in script
