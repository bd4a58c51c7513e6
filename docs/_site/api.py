"""The Python interface: every public name with its signature and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from rigidgrains.scene import Scene
from rigidgrains.scene.section import Section

from .scene_words import _escaped as escaped
from .scene_words import _reference as reference

GROUPS = {
    "Scenes": "Scene load_scene SceneError StageError",
    "Simulations": """Simulation Report AutoStep Bodies Cell CellError kinetic_energy loads overlaps wall_forces
        rigidity Rigidity set_threads get_threads DivergenceError""",
    "Solvers": """AcceleratedSweeps Sweeps SecondOrder Ordered RandomBlocks SolveReport Verdict SweepCriterion
        StateCriterion MomentumCriterion ResidualCriterion FlowCriterion OverlapCriterion LocalCriterion GlobalCriterion
        FixedSweeps RigidSweeps""",
    "Forces and contact laws": "force Law Rows StaticFriction SpeedFriction Restitution Cohesion Rolling",
    "Observers": """Observer StopRun History Measure Progress StopWhenStatic Checkpoints TrajectoryWriter LiveView
        LivePlot WriteError""",
    "Trajectories": "Trajectory Frame resume TrajectoryError OutputError",
    "Packings": "Packing PackingError",
    "Pictures": "draw_packing draw_history draw_plots write_page write_video",
    "Studies": "Study StudyError",
    "Contact problems": "read_problem save_problem solve_problem",
    "Soft grains": "SoftDEM",
}
MODULES = {
    "measure": "Measurements: functions of a frame or a simulation.",
    "certificate": "Certificates: a frame held against the laws, from the stored numbers alone.",
    "study": "Studies: many runs of a scene.",
}
ITEM = re.compile(r"([A-Za-z_][\w., *]*?) +: (.+)")
NEXT = re.compile(r"; (?=[a-z_]\w* : )")  # a second name in a line
HEAD = """# Python

`import rigidgrains as rg`. Made from the docstrings. What a version promises about these names:
[CONTRIBUTING](/_generated/project/contributing.md#what-a-version-promises).

"""


def pages() -> dict[str, str]:
    package = import_module("rigidgrains")
    found = {}
    for title, names in groups(package.__all__).items():
        found[f"api/{_file(title)}.md"] = _page(title, "rg", ((name, getattr(package, name)) for name in names))
    for name, told in MODULES.items():
        module = import_module(f"rigidgrains.{name}")
        public = [one for one in module.__all__ if not inspect.ismodule(getattr(module, one))]
        entries = [(one, getattr(module, one)) for one in public if one not in package.__all__]
        if entries:  # else all of it is in `rigidgrains` as well
            found[f"api/{name}.md"] = _page(f"rigidgrains.{name}", name, entries, told)
    listed = "\n".join(name.removeprefix("api/").removesuffix(".md") for name in found)
    found["api/index.md"] = f"{HEAD}```{{toctree}}\n:maxdepth: 2\n\n{listed}\n```\n"
    return found


def groups(public: list[str]) -> dict[str, list[str]]:
    """Public names in their groups; what is in none comes last."""
    listed = {title: [name for name in names.split() if name in public] for title, names in GROUPS.items()}
    others = sorted(set(public) - {name for names in listed.values() for name in names})
    return listed | ({"Others": others} if others else {})


def _file(title: str) -> str:
    return title.lower().replace(" ", "-")


def _page(title: str, prefix: str, entries: Any, told: str = "") -> str:
    parts = [f"# {title}\n", told + "\n"]
    for name, value in entries:
        parts.append(f"## {name}\n")
        parts += _entry(f"{prefix}.{name}", value)
        if inspect.isclass(value) and not issubclass(value, BaseException):
            for method, function in _methods(value):
                parts.append(f"### {name}.{method}\n")
                parts += _entry(f"{name}.{method}" if isinstance(function, property) else f".{method}", function)
                parts += _words(method) if name == "Scene" else []
    return "\n".join(parts)


def _words(method: str) -> list[str]:
    """Keywords of `add_grains`: the keys of [[grains]], where their types, units and ranges are listed."""
    key = method.removeprefix("add_").removeprefix("set_")
    schema = Scene.model_json_schema()
    if key == method or key not in schema["properties"]:
        return []
    table, many = reference(schema["properties"][key])
    assert table is not None
    keys = ", ".join(f"`{word}`" for word in schema["$defs"][table]["properties"])
    title = f"[[{key}]]" if many else f"[{key}]"
    return [f"Keywords, as in [`{title}`](#words-{key}): {keys}.\n"]


def _entry(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, property):
        yield described(inspect.getdoc(value) or "")
        return
    yield f"```python\n{name}{_signature(value)}\n```\n"
    yield described(inspect.getdoc(value) or "")


def _signature(value: Any) -> str:
    """Parameters by name and default; types are in the code."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    kept = [_plain(one) for one in signature.parameters.values() if one.name != "self"]
    text = str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))
    if len(text) > 100:
        text = "(\n    " + ",\n    ".join(str(one) for one in kept) + ",\n)"
    return text


def _plain(one: inspect.Parameter) -> inspect.Parameter:
    """Without its type, and with a default that can be written."""
    one = one.replace(annotation=inspect.Parameter.empty)
    return one.replace(default=None) if "<" in repr(one.default) and one.default is not one.empty else one


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """What a class of ours, or its ancestors of ours, offers in public and explains."""
    seen = set()
    for ancestor in kind.__mro__:
        if (
            not ancestor.__module__.startswith("rigidgrains") or ancestor is Section
        ):  # that is for tables within a scene
            continue
        for name, value in vars(ancestor).items():
            if name.startswith(("_", "model_")) or name in seen:
                continue
            seen.add(name)
            value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if (inspect.isfunction(value) or isinstance(value, property)) and inspect.getdoc(value):
                yield name, value


def described(text: str) -> str:
    """A docstring as Markdown: paragraphs, and lists of what is called how."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text):
        lines = NEXT.sub("\n", paragraph).split("\n")
        if re.match(r"\d+\. ", lines[0]):
            parts.append("\n".join(escaped(line) for line in lines))
            continue
        if not any(ITEM.match(line) for line in lines):
            parts.append(escaped(" ".join(line.strip() for line in lines)))
            continue
        rows: list[list[str]] = []
        before: list[str] = []
        for line in lines:
            if match := ITEM.match(line):
                rows.append([match[1], match[2]])
            elif rows and line.startswith(" "):
                rows[-1][1] += " " + line.strip()
            elif rows:
                rows.append(["", line.strip()])
            else:
                before.append(line.strip())
        parts += [escaped(" ".join(before))] if before else []
        parts.append(
            "\n".join(
                f"- **{escaped(name)}**: {escaped(told)}" if name else f"- {escaped(told)}" for name, told in rows
            )
        )
    return "\n\n".join(parts) + "\n"
