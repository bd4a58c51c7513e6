"""Words of the tables of a page as entries of the index, by section: search puts such entries first."""

from __future__ import annotations

import re

HEADING = re.compile(r"^## .*$", re.M)
NAME = re.compile(r"`([A-Za-z_]\w+)`|(?<!\*)\*([^*]+)\*(?!\*)")  # a name in a program, a word that is emphasised
NO_WORD = {
    "a",
    "an",
    "the",
    "in",
    "none",
    "no",
    "needs",
    "by",
    "what",
    "m",
    "each",
    "given",
    "scripts",
    "rarely",
    "here",
    "word",
}


def indexed(text: str) -> str:
    """The page with a list of its words behind each heading."""
    places = [match.end() for match in HEADING.finditer(text)]
    for start, end in reversed(list(zip(places, [*places[1:], len(text)], strict=True))):
        if found := words(text[start:end]):
            entries = ", ".join(f"! {word}" for word in found)
            text = f"{text[:start]}\n\n```{{index}} {entries}\n```\n{text[start:]}"
    return text


def words(section: str) -> list[str]:
    """What cells of tables name: how they begin, names in programs, and what is emphasised."""
    found: dict[str, None] = {}
    for line in section.splitlines():
        row = line.startswith("| ") and not line.startswith(("| here |", "| word |"))
        for cell in re.split(r"(?<!\\)\|", line)[1:-1] if row else []:
            begins = re.split(r"[,;:(=>]", cell.replace("*", "").replace("`", ""))[0].split()
            names = [name or word for name, word in NAME.findall(cell)]
            for word in (" ".join(begins), *names):
                if len(word) > 2 and len(word.split()) <= 4 and word.split()[0] not in NO_WORD and word.isprintable():
                    found.setdefault(word)
    return list(found)
