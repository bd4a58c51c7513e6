"""How kernels are compiled: by Numba, cached on disk, without fastmath so that every backend gives the same bits."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_HERE = Path(__file__).parent


def _ensure_cache_folder() -> None:
    """Give Numba a private cache folder when neither the package nor the home folder can be written."""
    if "NUMBA_CACHE_DIR" in os.environ or os.access(_HERE, os.W_OK):
        return
    home = Path.home()
    if os.access(home / ".cache" if (home / ".cache").exists() else home, os.W_OK):
        return
    user = os.getuid() if hasattr(os, "getuid") else "user"
    folder = Path(tempfile.gettempdir()) / f"rigidgrains-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        owned = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        owned = False
    os.environ["NUMBA_CACHE_DIR"] = str(folder) if owned else tempfile.mkdtemp(prefix="rigidgrains-")


def _forget_stale_kernels() -> None:
    """Drop compiled kernels older than any source file: Numba does not see that a kernel calls a changed law."""
    newest = max(source.stat().st_mtime for source in _HERE.rglob("*.py"))
    for index in _HERE.rglob("*.nbi"):
        try:
            if index.stat().st_mtime < newest:
                index.unlink(missing_ok=True)
        except OSError:  # another process was faster, or the folder is read-only
            continue


_ensure_cache_folder()
_forget_stale_kernels()

from numba import njit  # noqa: E402  (the cache folder must be set before Numba is imported)

kernel = njit(cache=True, error_model="numpy")
law = njit(error_model="numpy")  # for plain functions that kernels call: they are cached with their callers
