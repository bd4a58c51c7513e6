"""Where things are, and what pages outside of docs/ are called in the site."""

from pathlib import Path

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

PROJECT = {
    "README.md": "readme",
    "ARCHITECTURE.md": "architecture",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "CODE_OF_CONDUCT.md": "conduct",
    "MAINTAINING.md": "maintaining",
}

WIDE = "---\nhtml_theme.sidebar_secondary.remove: true\n---\n"  # head of a page: room for lines of code
