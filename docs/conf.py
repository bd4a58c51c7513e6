"""The site: `make docs` builds it from these pages, from the code, and from scenes that are run."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

from _site.runs import asked  # noqa: E402

from rigidgrains.runtime.version import __version__  # noqa: E402

project = "rigidgrains"
author = "the rigidgrains developers"
project_copyright = author
version = release = __version__
html_title = f"rigidgrains {__version__}"
# html_baseurl: the address of the site, filled in by a maintainer (MAINTAINING.md)

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton", "_site"]
exclude_patterns = ["_build", "_site", "gallery.md", "notebooks/README.md"]
root_doc = "index"
nitpicky = False
highlight_language = "text"
smartquotes_action = "qe"  # two hyphens begin an option

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
# Notebooks are run at build, once for each change; with SITE_SCENES those outputs are shown with which they are kept.
nb_execution_mode = "cache" if asked() is None or "notebooks" in (asked() or []) else "off"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True
nb_output_stderr = "remove"

html_math_renderer = "mathtext"  # of _site: no network is needed

html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "rigidgrains"},
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
}
html_sidebars = {"index": [], "start": [], "_generated/gallery/index": []}
copybutton_prompt_text = "$ "
