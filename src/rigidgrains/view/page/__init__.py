"""A trajectory as one HTML file that needs no server and no network.

`write_page` is the door. `scales.py` says how finely numbers are kept, `codec.py` turns whole numbers into few bytes,
`frames.py` packs one frame after another, `summary.py` gathers what holds for all of them, `html.py` writes the file.
`template.html` is the page, `page.js` its script, built from `web/`.
"""

from .html import PageError, write_page

__all__ = ["PageError", "write_page"]
