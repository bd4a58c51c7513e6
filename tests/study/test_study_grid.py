"""Runs are known by what they are: a study that grows keeps its runs, their seeds and their folders."""

from __future__ import annotations

import numpy as np
from support.studies import BALL, falling

import rigidgrains as rg
from rigidgrains.study.folder import jobs_of
from rigidgrains.study.grid import replica_seed, run_words


def labels(study: rg.Study, folder) -> set[str]:
    return {job.label for _, job in jobs_of(study, folder)}


def test_seeds_differ_between_replicas_and_points_and_are_made_by_seed_sequence():
    seeds = [run.seed for run in falling(replicas=50).runs]
    assert len(set(seeds)) == 100
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert [run.seed for run in falling(replicas=50).runs] == seeds
    assert not set(seeds) & {run.seed for run in falling(replicas=50, seed=1).runs}
    shared = np.random.SeedSequence([7, 3]).generate_state(1, np.uint64)[0] >> np.uint64(1)
    assert replica_seed(7, 3, None) == int(shared)


def test_shared_seeds_are_the_same_at_all_points():
    runs = falling(replicas=3, seeds="shared").runs
    assert [run.seed for run in runs[:3]] == [run.seed for run in runs[3:]]
    assert len({run.seed for run in runs}) == 3


def test_a_study_that_grows_keeps_its_runs(tmp_path):
    few = falling(vary={"friction": [0.1, 0.3]}, replicas=2)
    more = falling(vary={"friction": [0.1, 0.2, 0.3]}, replicas=3)
    assert labels(few, tmp_path) < labels(more, tmp_path)
    assert len(labels(more, tmp_path)) == 9


def test_one_and_one_point_zero_are_the_same_run(tmp_path):
    one, other = falling(vary={"friction": [1]}), falling(vary={"friction": [1.0]})
    assert labels(one, tmp_path) == labels(other, tmp_path)


def test_another_scene_is_another_run_and_another_title_is_not(tmp_path):
    study = falling()
    assert not labels(study, tmp_path) & labels(falling(set={"grains.ball.density": 99.0}), tmp_path)
    assert not labels(study, tmp_path) & labels(falling(end={"steps": 21}), tmp_path)
    assert labels(study, tmp_path) == labels(falling(scene={**BALL, "title": "mine"}), tmp_path)


def test_the_words_of_a_run():
    study = falling(set={"solver.method": "sweeps"}, end={"until": 0.01})
    words = run_words(study, study.runs[1])
    assert words["gravity"] == [0, -20.0]
    assert words["solver"] == {"method": "sweeps"}
    assert words["run"] == {"dt": 1e-3, "until": 0.01, "seed": study.runs[1].seed}
    assert words["output"] == {"frame_every": 1000, "picture": False, "plot": False}
    assert study.scene_words["gravity"] == [0, -10]


def test_given_seeds_are_left_alone():
    study = falling(vary={"run.seed": [3, 4]})
    assert [run_words(study, run)["run"]["seed"] for run in study.runs] == [3, 4]


def test_files_of_grains_are_known_by_their_contents(tmp_path):
    """The same grains elsewhere are the same run; other grains under the same name are another."""
    found = []
    for folder, x in (("a", 0.5), ("b", 0.5), ("c", 0.6)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "grains.csv").write_text(f"x,y,z,radius\n{x},0,0,0.1\n")
        scene = {**BALL, "grains": [{"file": str(tmp_path / folder / "grains.csv")}]}
        found.append(labels(rg.Study(scene=scene), tmp_path))
    assert found[0] == found[1]
    assert found[0] != found[2]
