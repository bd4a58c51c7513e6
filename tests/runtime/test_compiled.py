"""Kernels compiled from older sources are forgotten, those of the present ones kept; on the first run two compile."""

import os
import subprocess
import sys

import pytest

from rigidgrains import Scene, Simulation
from rigidgrains.runtime import compiled
from rigidgrains.simulation import simulation


@pytest.mark.parametrize("beside", [True, False])
def test_only_kernels_older_than_any_source_of_kernels_are_dropped(beside, tmp_path, monkeypatch):
    package, cache = tmp_path / "package", tmp_path / "cache"
    room = package / "solve"
    folder = room / "__pycache__" if beside else cache / "solve_0123"
    room.mkdir(parents=True)
    folder.mkdir(parents=True)
    monkeypatch.setattr(compiled, "_HERE", package)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(cache))
    monkeypatch.setattr(compiled, "_user_cache", lambda: None)
    for path, time in [
        (package / "early.py", 100),
        (room / "late.py", 200),
        (folder / "stale.nbi", 150),
        (folder / "fresh.nbi", 250),
    ]:
        path.touch()
        os.utime(path, (time, time))
    (package / "words.py").write_text("nothing here is a kernel's")  # newer than all
    some = compiled.forget_stale_kernels()
    assert some is not beside  # with a folder of its own Numba looks nowhere else
    assert sorted(path.name for path in folder.iterdir()) == ["fresh.nbi"]
    (package / "words.py").write_text("from .runtime.compiled import kernel")
    assert not compiled.forget_stale_kernels()
    assert not any(folder.iterdir())


def test_two_processes_compile_on_the_first_run_only(monkeypatch):
    """Once, if nothing is compiled yet, and never by the second process itself."""
    begun = []

    class Process:
        def __init__(self, words, **_):
            begun.append(words[1:])

        def wait(self):
            return 0

    monkeypatch.setattr(compiled.subprocess, "Popen", Process)
    monkeypatch.setattr(compiled.os, "cpu_count", lambda: 2)
    monkeypatch.delenv("RIGIDGRAINS_AHEAD", raising=False)
    for cold, ahead, expected in ((True, None, 1), (False, None, 0), (True, "1", 0)):
        begun.clear()
        if ahead:
            monkeypatch.setenv("RIGIDGRAINS_AHEAD", ahead)
        monkeypatch.setattr(compiled, "_cold", cold)
        compiled.compile_ahead()
        compiled.compile_ahead()
        assert begun == [["-m", "rigidgrains.app.ahead"]] * expected


@pytest.mark.parametrize(("words", "kind"), [({"polygon": 6}, "flat_lever"), ({"solid": "cube"}, "lever")])
def test_ahead_of_grains_with_shapes_their_kind_of_contact_is_compiled(words, kind, monkeypatch):
    asked = []
    monkeypatch.setattr(simulation, "compile_ahead", lambda *kinds: asked.append(kinds))
    for shape in ({}, {"shape": "own"}):
        scene = Scene(dimension=2 if kind == "flat_lever" else 3)
        if shape:
            scene.add_shape("own", **words)
        scene.add_grains(positions=[[0] * scene.dimension], radius=0.5, **shape)
        Simulation(scene, dt=0.01)
    assert asked == [(), (kind,)]


def test_a_process_that_cannot_begin_does_no_harm(monkeypatch):
    def refuse(*_, **__):
        raise PermissionError("no processes here")

    monkeypatch.setattr(compiled.subprocess, "Popen", refuse)
    monkeypatch.setattr(compiled.os, "cpu_count", lambda: 2)
    monkeypatch.delenv("RIGIDGRAINS_AHEAD", raising=False)
    monkeypatch.setattr(compiled, "_cold", True)
    compiled.compile_ahead()


@pytest.mark.parametrize("kind", ["friction", "flat_lever"])
def test_what_is_compiled_ahead_is_what_steps_call(kind):
    """The same signatures: steps after it compile nothing but what weakens forces of steps that end early."""
    code = """
import gc
import sys
from numba.core.registry import CPUDispatcher
from rigidgrains import Scene, Simulation
from rigidgrains.app import ahead

def compiled():
    kernels = [item for item in gc.get_objects() if isinstance(item, CPUDispatcher) and item.signatures]
    names = [(kernel.py_func.__module__, kernel.py_func.__qualname__, str(kernel.signatures)) for kernel in kernels]
    return {name for name in names if name[0].startswith("rigidgrains.solve.")}

kind = sys.argv[1]
ahead.main(kind)
before = compiled()
scene = Scene(dimension=2, gravity=(0, -10), friction=0.5)
if kind == "friction":
    scene.add_grains(positions=[[0, 0.5], [0, 1.5], [1, 0.5]], radius=0.5)
else:
    scene.add_shape("square", box=(1, 1))
    scene.add_grains(positions=[[0, 0.5], [0, 1.5], [1.2, 0.5]], shape="square", size="as drawn", angles=0)
scene.add_plane("floor", point=(0, 0), normal=(0, 1))
simulation = Simulation(scene, dt=0.01)
simulation.run(steps=3)
assert simulation.last_solve.converged and simulation.last_solve.sweeps > 0
late = {module for module, *_ in compiled() - before}  # another kernel, or another signature
assert late <= {"rigidgrains.solve.passivity"}, compiled() - before
"""
    done = subprocess.run([sys.executable, "-c", code, kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
