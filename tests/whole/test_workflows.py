"""Workflows and forms are valid, name things that exist, and say that nobody has run them yet."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
import yaml
from support import ROOT
from support.shares import function_of, measured, shares_of, turned

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(
    set((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")) - {ROOT / ".github" / "ISSUE_TEMPLATE" / "config.yml"}
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="an sdist has no workflows")


def read(path: Path) -> dict:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps() -> list[dict]:
    return [step for path in WORKFLOWS for job in read(path)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-issue-forms", FORMS),
        ("dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_files_follow_their_schema(schema, files):
    pytest.importorskip("check_jsonschema")
    line = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint():
    done = subprocess.run(["actionlint", *WORKFLOWS], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_steps_call_targets_and_files_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    extras = set(PROJECT["optional-dependencies"])
    commands = [step["run"] for step in steps() if "run" in step]
    called = {target for text in commands for target in re.findall(r"\bmake ([\w-]+)", text)}
    assert called <= targets
    assert {"lint", "test", "test-slow", "docs"} <= called
    asked = {part for text in commands for group in re.findall(r"\.\[([\w,]+)\]", text) for part in group.split(",")}
    assert asked <= extras
    for text in commands:
        for path in re.findall(r"\b(?:src|tests|docs|benchmarks)/[\w/.-]+", text):
            assert (ROOT / path).exists(), path


def test_what_notebooks_need_is_installed_for_the_site():
    """They are executed at build."""
    (given,) = re.findall(r"editable '\.\[(docs[\w,]*)\]'", (ROOT / "Makefile").read_text(encoding="utf-8"))
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "notebooks").glob("*.ipynb"))
    for word, extra in (("workers=", "study"), (".gsd", "formats"), ("write_video", "view")):
        assert word not in text or extra in given.split(","), extra


def test_every_python_that_is_promised_is_tested():
    matrix = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    told = {line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    assert set(matrix["python"]) == told
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert PROJECT["requires-python"] == f">={min(told, key=lambda text: int(text[2:]))}"


def test_jobs_have_a_time_limit_and_few_rights():
    for path in WORKFLOWS:
        workflow = read(path)
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            assert job["timeout-minutes"] <= 120, (path.name, name)
        assert "has not run on GitHub yet" in path.read_text(encoding="utf-8")


def test_no_text_from_outside_gets_into_a_shell():
    """`${{ }}` within a command would run what a branch is called."""
    for step in steps():
        assert "${{" not in step.get("run", "")


def test_the_nightly_shares_are_all_slow_tests():
    job = read(ROOT / ".github" / "workflows" / "nightly.yml")["jobs"]["slow"]
    shares = job["strategy"]["matrix"]["share"]
    (given,) = (step["env"]["SHARE"] for step in job["steps"] if "env" in step)
    assert shares == list(range(int(given.rpartition("/")[2])))


def test_the_nightly_benchmark_is_compared_with_earlier_nights():
    """Its file is restored before, and kept whatever the comparison says."""
    steps = read(ROOT / ".github" / "workflows" / "nightly.yml")["jobs"]["benchmarks"]["steps"]
    uses = [step.get("uses", step.get("run", "")).partition("@")[0] for step in steps]
    cache, run = steps[uses.index("actions/cache")], uses.index("make bench-record")
    assert uses.index("actions/cache") < run
    assert (ROOT / cache["with"]["path"]).parent == ROOT / "benchmarks"
    assert cache["with"]["key"].startswith(cache["with"]["restore-keys"])
    assert cache["with"]["path"] == steps[-1]["with"]["path"]
    assert steps[-1]["if"] == "always()"


def test_shares_are_whole_and_apart(tmp_path):
    """With SHARE each slow test runs in one share, others in all; after SLOW_SECONDS none is started."""
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(
        "import pytest\n\ndef test_quick(): pass\n"
        + "".join(f"\n@pytest.mark.slow\ndef test_{k}(): pass\n" for k in range(9)),
        encoding="utf-8",
    )
    ran: list[str] = []
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    for share, seconds in (("0/3", "inf"), ("1/3", "inf"), ("2/3", "inf"), ("", "-1")):
        line = [
            sys.executable,
            "-m",
            "pytest",
            "-v",
            "-p",
            "no:cacheprovider",
            "-o",
            "markers=slow",
            "--rootdir=.",
            ".",
        ]
        done = subprocess.run(
            line, cwd=tmp_path, capture_output=True, text=True,
            env=alone | {"SHARE": share, "SLOW_SECONDS": seconds, "PYTHONPATH": str(ROOT / "tests")},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        assert "test_quick PASSED" in done.stdout
        ran += re.findall(r"::(test_\d) PASSED", done.stdout)
    assert sorted(ran) == [f"test_{k}" for k in range(9)]


def test_measured_slow_tests_exist():
    """A name that is no test any more would make its share too short; tests that are not measured count as well."""
    for name, seconds in measured().items():
        path, _, function = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8")
        assert "mark.slow" in text, name
        assert f"def {function}(" in text, name
        assert seconds > 0, name


def test_shares_take_equal_time():
    """Long functions are cut into their cases, short ones are kept whole."""
    seconds = measured() | {"new.py::test": 20.0}
    cases = [f"{name}[{k}]" for name in seconds for k in range(4)] + ["unknown.py::test"]
    of = shares_of(cases, 3, seconds)
    assert set(of) == set(cases)
    took = [sum(seconds.get(function_of(case), 0) / 4 for case in cases if of[case] == k) for k in range(3)]
    assert max(took) < 1.1 * min(took) + 30.0
    assert len({of[case] for case in cases if function_of(case) == "new.py::test"}) == 1
    assert sorted(turned(cases, 7)) == sorted(cases)
    assert turned(cases, 1)[0] != turned(cases, 2)[0]


@pytest.mark.parametrize(("code", "ends"), [(0, 0), (5, 1), (124, 0), (137, 0), (1, 1), (2, 1)])
def test_slowness_is_no_failure(tmp_path, code, ends):
    """pytest's exit codes through `.ci/slow`: time that is over is green; a failure, and an empty share, are red."""
    ours, bin_folder = tmp_path / ".ci", tmp_path / ".venv" / "bin"
    shutil.copytree(ROOT / ".ci", ours)
    bin_folder.mkdir(parents=True)
    python = bin_folder / "python"
    python.write_text(f"#!/bin/sh\nexit {code}\n", encoding="utf-8")
    python.chmod(0o755)
    done = subprocess.run([ours / "slow"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == ends, done.stderr


def test_all_ends_within_fifteen_minutes(tmp_path):
    """What has been used before is not the slow tests' any more."""
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for used, told in ((880, "no time is left"), (290, "share 0/3, 600 s")):
        environment = os.environ | {"CI_BEGUN": str(int(time.time()) - used), "GIT_DIR": str(tmp_path / "none")}
        done = subprocess.run([tmp_path / ".ci" / "slow"], capture_output=True, text=True, env=environment)
        assert told in done.stdout.replace("599 s", "600 s")
    assert "CI_BEGUN" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_fields_of_maintainers_are_listed():
    """In one place, each with a file that exists; and nothing else names an address of the project."""
    text = (ROOT / "MAINTAINING.md").read_text(encoding="utf-8")
    table = text.partition("## Fields to fill in")[2].partition("\n## ")[0]
    files = re.findall(r"\| `([\w./-]+)` \|", table)
    assert len(files) >= 6
    for name in files:
        assert (ROOT / name).exists(), name
    assert PROJECT["authors"] == [{"name": "the rigidgrains developers"}]
    assert "urls" not in PROJECT
