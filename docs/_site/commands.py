"""Every command with its options, as the command line itself tells them."""

from __future__ import annotations

import re

HEAD = """# Command line

Made from the commands themselves; `rigidgrains COMMAND --help` says the same. `rigidgrains --install-completion` lets
bash, zsh, fish or PowerShell complete commands and options.

Exit codes: 0 done, 1 violated or not converged, 2 bad input, 3 the run failed, 130 interrupted.
"""


def pages() -> dict[str, str]:
    from rigidgrains.cli import app

    text = app.generate_docs(output_format="markdown", include_hidden=False)
    first = re.search(r"^## `?rigidgrains", text, re.M) or re.search(r"^## (?!Table)", text, re.M)
    assert first is not None
    text = re.sub(r"\]\(#[^)]*\)", "]", text[first.start() :])  # its links have other anchors than ours
    text = re.sub(r"\[(`[^`]+`)\](?!\()", r"\1", text)
    text = re.sub(r"^(rigidgrains.*?) -m \w+", r"\1", text, flags=re.M)  # how this process was called
    return {"commands.md": f"{HEAD}\n{text}"}
