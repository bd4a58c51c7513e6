"""Can the tests fail? Change one operator, constant, sign, comparison, index or bound at random, and see who notices.

    python tests/mutation/run.py --count 100 --seed 1     draw lines of the files that decide results, one mutant each
    python tests/mutation/run.py --again                  try the survivors in results.json once more
    python tests/mutation/run.py --again NAME ...         try these, by the names that stand in results.md
    python tests/mutation/run.py --planted                replay the seven faults that an audit planted by hand
    python tests/mutation/run.py --table                  write results.md anew from results.json

All happens in a copy of the checkout (--folder, by default in the temporary folder), so that nothing is harmed when
it is killed; it goes on where it was. First every test file runs once without a fault, and it is noted which test
runs which function; then a mutant meets the tests that run its function, quick and specific ones first, up to --limit
seconds of them. A mutant is caught when a test fails, when nothing can be imported any more, or when tests take a
minute more than five times as long as they should, since a run that hangs is noticed as well. Results are kept in
results.json, with a reason, written by hand, for each survivor that is harmless; results.md is made from it. pytest
collects none of these files.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

from mutants import Mutant, draw, find
from planted import FAULTS
from rooms import Notes, files_that_decide, kernels_of, read_notes, test_files, tests_of
from tree import Outcome, Tree, commit

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
FEW = 40  # tests that a mutant meets first


def main() -> int:
    asked = _arguments()
    if asked.table:
        write_table(read_results())
        return 0
    os.nice(max(0, asked.nice - os.nice(0)))
    tree = Tree(asked.folder)
    tree.copy()
    if asked.planted:
        return replay(tree)
    notes = observe(tree)
    results = read_results()
    if asked.again is None:
        mutants = draw(files_that_decide(tree.source), tree.source, asked.seed)[: asked.count]
        if results.get("seed") != asked.seed:
            results = {"commit": commit(), "seed": asked.seed, "mutants": {}}
        results["count"] = asked.count
        mutants = [mutant for mutant in mutants if mutant.name not in results["mutants"]]
    else:
        survivors = [name for name, found in results["mutants"].items() if found["verdict"] == "survived"]
        mutants = [_named(name, tree.source) for name in asked.again or survivors]
    for at, mutant in enumerate(mutants, 1):
        outcome = challenge(tree, mutant, notes, asked.limit)
        found = results["mutants"].setdefault(mutant.name, {"text": mutant.text, "reason": ""})
        found |= {"verdict": "survived" if outcome.passed else "caught", "by": outcome.by}
        RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
        print(f"{at}/{len(mutants)} {found['verdict']} in {outcome.seconds:.0f} s by {outcome.by}: {mutant.name}"
              f"\n      {mutant.text}", flush=True)  # fmt: skip
    write_table(results)
    return 0


def observe(tree: Tree) -> Notes:
    """Run every test file once without a fault, and note which test runs which function."""
    notes: Notes = {}
    for name in test_files(tree.folder / "tests"):
        room = name.removeprefix("tests/").removesuffix(".py").replace("/", ".")
        part = tree.kept / f"{room}.{zlib.crc32((tree.folder / name).read_bytes()):08x}.json"
        if not part.is_file():
            outcome = tree.test([name], 3600.0, MUTATION_NOTES=str(tree.folder / "notes.json"))
            print(f"{name}: {outcome.seconds:.0f} s {outcome.by}", flush=True)
            if not outcome.passed:
                sys.exit(f"{name} fails without any fault: {outcome.by}; mend that first")
            tree.keep_kernels()
            shutil.copyfile(tree.folder / "notes.json", part)
        notes |= read_notes(part)
    return notes


def challenge(tree: Tree, mutant: Mutant, notes: Notes, limit: float) -> Outcome:
    """Does any test notice? First a few are asked, then all."""
    tests, kernels = tests_of(mutant, tree.source, notes, limit), kernels_of(mutant, tree.source)
    outcome = Outcome(True, "" if tests else "no test runs it", 0.0)
    try:
        tree.mutate(mutant.file, mutant.apply((tree.source / mutant.file).read_text()), kernels)
        for some in filter(None, (tests[:FEW], tests[FEW:])):
            (tree.folder / "chosen.json").write_text(json.dumps(some))
            longest = 60.0 + 5.0 * sum(notes[name][0] for name in some) + 300.0 * bool(kernels)  # kernels are compiled
            files, chosen = sorted({name.split("::")[0] for name in some}), str(tree.folder / "chosen.json")
            last = tree.test(files, longest, MUTATION_CHOSEN=chosen)
            outcome = Outcome(last.passed, last.by, outcome.seconds + last.seconds)
            if not outcome.passed:
                break
        return outcome
    finally:
        tree.restore(mutant.file)


def replay(tree: Tree) -> int:
    """Plant each fault of the audit; 1 if any survives."""
    survived = 0
    for fault in FAULTS:
        text = fault.apply((tree.source / fault.file).read_text())
        places = [sorted((tree.folder / "tests").glob(pattern)) for pattern in fault.tests]
        found = [file.relative_to(tree.folder).as_posix() for files in places for file in files]
        try:
            tree.mutate(fault.file, text, set())
            outcome = tree.test(found, 3600.0)
        finally:
            tree.restore(fault.file)
        survived += outcome.passed
        print(f"{fault.name}: {'SURVIVED' if outcome.passed else f'caught by {outcome.by}'}", flush=True)
    return int(survived > 0)


def read_results() -> dict[str, Any]:
    return dict(json.loads(RESULTS.read_text())) if RESULTS.is_file() else {"mutants": {}}


def write_table(results: dict[str, Any]) -> None:
    """results.md: survivors first."""
    mutants = results["mutants"]
    lived = {name: found for name, found in mutants.items() if found["verdict"] == "survived"}
    unexplained = sum(not found["reason"] for found in lived.values())
    lines = [
        "# Mutants", "",
        f"`python tests/mutation/run.py --count {results['count']} --seed {results['seed']}` on the sources of commit "
        f"{results['commit']}: {len(mutants)} mutants, {len(mutants) - len(lived)} caught, {len(lived)} survived, "
        f"{unexplained} of them without a reason. Made from results.json by `--table`.", "",
        "| survivor | line | why it is harmless |", "|---|---|---|",
        *(f"| {_cell(name)} | {_cell(it['text'])} | {it['reason'] or '**open**'} |" for name, it in lived.items()),
        "", "| caught | by |", "|---|---|",
        *(f"| {_cell(name)} | {_cell(found['by'])} |" for name, found in mutants.items() if name not in lived),
    ]  # fmt: skip
    (HERE / "results.md").write_text("\n".join(lines) + "\n")


def _cell(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _named(name: str, package: Path) -> Mutant:
    """The mutant of a name in the sources as they are now."""
    file = package / name.split(":")[0]
    for mutant in find(file, package) if file.is_file() else []:
        if mutant.name == name:
            return mutant
    sys.exit(f"no mutant is called {name!r} in the present sources; names stand in results.md")


def _arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--count", type=int, default=100, help="mutants (100)")
    asked.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    asked.add_argument("--limit", type=float, default=30.0, help="CPU time of tests that a mutant meets, s (30)")
    asked.add_argument("--again", nargs="*", metavar="NAME", help="survivors, or mutants by name")
    asked.add_argument("--planted", action="store_true", help="the seven faults of the audit")
    asked.add_argument("--table", action="store_true", help="write results.md anew")
    asked.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "rigidgrains-mutants")
    asked.add_argument("--nice", type=int, default=10, help="how far to stand back behind other programs (10)")
    return asked.parse_args()


if __name__ == "__main__":
    sys.exit(main())
