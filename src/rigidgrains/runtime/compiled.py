"""How kernels are compiled: by Numba, cached on disk, without fastmath so that every backend gives the same bits."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from types import FunctionType
from typing import Any

_HERE = Path(__file__).parents[1]  # the package
_STEP = {"runtime", "shapes", "model", "detect", "laws", "contacts", "solve", "events", "simulation"}  # rooms of a step
_AHEAD = "RIGIDGRAINS_AHEAD"  # set for the process that compiles ahead


def _user_cache() -> Path | None:
    """Where Numba keeps kernels of packages that it cannot write beside; None when there is no such place."""
    try:
        if sys.platform == "win32":
            return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "numba" / "Cache"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "numba"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "numba"
    except RuntimeError:  # no home
        return None


def _writable(folder: Path) -> bool:
    """True when a file can really be made there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _ensure_cache_folder() -> None:
    """Give Numba a private cache folder when it can write neither beside the package nor below the home folder."""
    user_cache = _user_cache()
    if "NUMBA_CACHE_DIR" in os.environ or _writable(_HERE) or (user_cache is not None and _writable(user_cache)):
        return
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"rigidgrains-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        owned = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        owned = False
    os.environ["NUMBA_CACHE_DIR"] = str(folder) if owned else tempfile.mkdtemp(prefix="rigidgrains-")


def forget_stale_kernels() -> bool:
    """Drop compiled kernels older than any source of kernels: Numba does not see that a kernel calls a changed law.

    Returns whether there are others where Numba will look.
    """
    newest, some, chosen = 0.0, False, os.environ.get("NUMBA_CACHE_DIR")
    indices: list[Path] = []
    rooms: set[str] = set()
    for folder, _, names in os.walk(_HERE):
        rooms.add(os.path.basename(folder))
        for name in names:
            if name.endswith(".py"):
                path = os.path.join(folder, name)
                changed = os.stat(path).st_mtime
                if changed > newest and _feeds_kernels(path):
                    newest = changed
            elif name.endswith(".nbi"):
                indices.append(Path(folder, name))
    for cache in (chosen, _user_cache()):
        if cache is not None:  # there Numba names a folder after the source's folder and a hash of its path
            indices += [index for room in rooms for index in Path(cache).glob(f"{room}_*/*.nbi")]
    for index in indices:
        try:
            if index.stat().st_mtime < newest:
                index.unlink(missing_ok=True)
            else:
                some |= chosen is None or Path(chosen) in index.parents
        except OSError:  # another process was faster, or the folder is read-only
            continue
    return some


def cached_kernels() -> tuple[int, Path]:
    """How many compiled kernels are kept, and where: beside the sources, or where Numba puts them otherwise."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    rooms = {path.name for path in _HERE.rglob("*/") if path.is_dir()}
    others = [Path(folder) for folder in (chosen or _user_cache(),) if folder is not None]
    places = {folder: sum(len(list(folder.glob(f"{room}_*/*.nbi"))) for room in rooms) for folder in others}
    if not chosen:
        places[_HERE] = len(list(_HERE.rglob("*.nbi")))
    most = max(places, key=lambda place: places[place])
    return places[most], most


def _feeds_kernels(path: str) -> bool:
    """True when kernels may be made of a source file: all of the rooms of the step, elsewhere those that compile."""
    if Path(path).relative_to(_HERE).parts[0] in _STEP:
        return True
    with open(path, encoding="utf-8") as source:
        return "compiled" in source.read()


def compile_ahead(*kind: str) -> None:
    """On the first run ever let another process compile what finds the forces, while this one compiles the rest.

    kind : of contact, if it is another than plain friction, see app/ahead.py
    Each takes from the cache what the other has put there. Where that cannot be, nothing is lost but time.
    """
    global _cold
    if _cold and sys.executable and (os.cpu_count() or 1) > 1 and _AHEAD not in os.environ:
        quiet = subprocess.DEVNULL
        with suppress(OSError):
            process = subprocess.Popen(
                [sys.executable, "-m", "rigidgrains.app.ahead", *kind],
                env={**os.environ, _AHEAD: "1"},
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
            )
            threading.Thread(target=process.wait, daemon=True).start()
    _cold = False


def compile_seconds() -> float:
    """s, that this process has spent on compiling so far; what comes from the cache is not compiled."""
    return float(_compiling.duration) if _compiling.done else 0.0


_ensure_cache_folder()
_cold = not forget_stale_kernels()

from numba import njit  # noqa: E402  (the cache folder must be set before Numba is imported)
from numba.core import event  # noqa: E402

from .shortcuts import take_shortcuts  # noqa: E402

take_shortcuts()


class _NoGarbage(event.Listener):
    """No search for garbage while a kernel is compiled: compilers make many objects; searches take a tenth."""

    depth, searches = 0, True

    def on_start(self, event: Any) -> None:
        if self.depth == 0:
            self.searches = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, event: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.searches:
            gc.enable()


_compiling = event.TimingListener()  # a kernel that is compiled for another one counts once; loading does not count
event.register("numba:compile", _compiling)
event.register("numba:compile", _NoGarbage())

_general: Any = {"error_model": "numpy", "no_cfunc_wrapper": True}  # nobody calls kernels from C
# Arrays belong to who calls. Numba counts who holds an array, at each place where it gets another name, for those that
# a kernel may make: where none is made nothing is counted, and less is to be compiled.
_common: Any = {**_general, "_nrt": False}
_counted: Any = {**_general, "_nrt": True}
kernel = njit(cache=True, nogil=True, **_common)  # several may run side by side, see threads.py
allocating = njit(cache=True, nogil=True, **_counted)  # the same, if it makes arrays, returns them or assigns rows
_not_python: Any = {"no_cpython_wrapper": True}
part = njit(cache=True, nogil=True, **_not_python, **_common)  # the same, called by other kernels alone
law = njit(**_common)  # for plain functions that kernels call: they are cached with their callers
inside = njit(**_not_python, **_common)  # the same, which Python never calls, and sooner compiled
inlined = njit(inline="always", **_common)  # where a call would double the cost of a loop
# Laws that are given many arrays, for kernels only: a call would cost more than what it does, and compile for Python
folded = njit(forceinline=True, **_not_python, **_common)


def specialise(text: Any, name: str, given: dict[str, Any], compile_it: Any = kernel) -> Any:
    """A loop compiled with functions of its own in place of some that its text calls by their global names.

    name  : of what it is made for; compiled loops are cached under it
    given : functions by the names that the text has for them
    """
    own = FunctionType(text.__code__, {**text.__globals__, **given}, text.__name__, text.__defaults__)
    own.__qualname__, own.__module__, own.__doc__ = f"{name}.{text.__qualname__}", text.__module__, text.__doc__
    return compile_it(own)
