"""Formulas as SVG, by Matplotlib: they need no network, and follow the colour of the text."""

from __future__ import annotations

import io
import re
from functools import cache
from typing import Any

from docutils import nodes
from matplotlib import rc_context
from matplotlib.mathtext import math_to_image

POINTS, EM = 12.0, 10.4  # size of the font in a picture, and what counts as one em: STIX is a small font


@cache
def svg(formula: str) -> str:
    """A formula in line; its depth below the base line goes into the style."""
    text = re.sub(r"\\(d?)frac(\d)(\w)", r"\\\1frac{\2}{\3}", " ".join(formula.split()))
    text = re.sub(r"\\text\{([^}]*)\}", lambda match: r"\mathrm{" + match[1].replace(" ", r"\ ") + "}", text)
    text = re.sub(r"\\(le|ge)(?![a-z])", r"\\\1q", text)
    picture = io.BytesIO()
    with rc_context(
        {"svg.fonttype": "path", "svg.hashsalt": "rigidgrains", "mathtext.fontset": "stix", "font.size": POINTS}
    ):
        depth = math_to_image(f"${text}$", picture, dpi=72, format="svg")
    found = re.search(r"<svg.*</svg>", picture.getvalue().decode(), re.S)
    assert found is not None
    drawn = re.sub(r"<metadata>.*?</metadata>|<rect[^>]*/>|<!--.*?-->", "", found[0], flags=re.S)
    drawn = re.sub(r'<path d="[^"]*"\s*style="fill: #ffffff[^"]*"\s*/>', "", drawn)

    def length(match: re.Match[str]) -> str:
        return f'{match[1]}="{float(match[2]) / EM:.3f}em"'

    head, rest = drawn.split(">", 1)
    head = re.sub(r'(width|height)="([\d.]+)pt"', length, head)
    style = f"vertical-align: {-depth / EM:.3f}em; fill: currentColor"
    return f'{head} class="formula" style="{style}" role="img">{rest}'


def inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(svg(node.astext()))
    raise nodes.SkipNode


def block(translator: Any, node: nodes.math_block) -> None:
    large = re.sub(r"\\frac(?![a-z])", r"\\dfrac", node.astext())
    translator.body.append(f'<p class="formula">{svg(large)}</p>')
    raise nodes.SkipNode


def register(app: Any) -> None:
    app.add_html_math_renderer("mathtext", inline_renderers=(inline, None), block_renderers=(block, None))
