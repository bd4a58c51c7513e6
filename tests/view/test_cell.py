"""Periodic cells in pictures and on the page: grains at home, pale images, forces in halves, dashed faces."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest
from support.browser import open_page, wait_for
from support.builders import exact, grains, plane
from support.pictures import probe, still

from rigidgrains import Frame, Simulation, Trajectory, TrajectoryWriter
from rigidgrains.model.cell import Cell
from rigidgrains.view.extent import box_around
from rigidgrains.view.images import home, outline, shown
from rigidgrains.view.live.packet import live_packet
from rigidgrains.view.network import network
from rigidgrains.view.packing import Look, draw_packing
from rigidgrains.view.page import write_page

LEANING = np.array([[10.0, 0, 0], [3.0, 8.0, 0], [0, 0, 1.0]])


def cell(vectors=LEANING, origin=(1.0, -2.0, 0.0), periodic=(True, True, False), **control):
    return Cell(vectors, np.array(origin), periodic, **control)


def distance_to_cell(point, vectors, origin):
    """From a point to a parallelogram: 0 within, else to the nearest edge."""
    share = np.linalg.solve(vectors[:2, :2].T, point[:2] - origin[:2])
    if ((share >= 0.0) & (share <= 1.0)).all():
        return 0.0
    corners = [origin[:2] + np.array(k) @ vectors[:2, :2] for k in ((0, 0), (1, 0), (1, 1), (0, 1))]
    best = np.inf
    for a, b in zip(corners, corners[1:] + corners[:1]):
        along = np.clip((point[:2] - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
        best = min(best, float(np.linalg.norm(point[:2] - a - along * (b - a))))
    return best


def test_images_are_those_that_reach_into_the_cell():
    """Each once, from wherever a grain is: by trying all images. Those just beside a corner may be shown as well."""
    rng, room = np.random.default_rng(1), cell()
    position = room.origin + rng.uniform(-0.6, 1.6, (30, 3)) * [1, 1, 0] @ LEANING
    frame = still(grains(position, rng.uniform(0.3, 1.2, 30), dimension=2, cell=room))
    seen = shown(frame)
    assert np.array_equal(seen.owner[:30], np.arange(30))
    assert not seen.pale[:30].any()
    assert seen.pale[30:].all()
    share = room.fractions(seen.position[:30])[:, :2]
    assert ((share >= 0.0) & (share <= 1.0)).all()
    found = {(int(i), *np.round(p, 9)) for i, p in zip(seen.owner, seen.position)}
    assert len(found) == len(seen.owner)
    for i, k in product(range(30), product((-1, 0, 1), repeat=2)):
        place = seen.position[i] + np.array([*k, 0]) @ LEANING
        away = distance_to_cell(place, LEANING, room.origin)
        listed = (i, *np.round(place, 9)) in found
        assert listed or away >= frame.radius[i]
        assert not listed or away < 2.0 * frame.radius[i]


def test_a_disk_at_a_face_is_seen_at_both():
    room = cell(np.diag([10.0, 8.0, 1.0]), (0.0, 0.0, 0.0))
    bodies = grains([[9.6, 4.0, 0], [5.0, 4.0, 0]], [1.0, 1.0], dimension=2, cell=room)
    pixel_at = probe(draw_packing(still(bodies), colour="id", forces=False))
    true, image = pixel_at([9.6, 4.0]), pixel_at([-0.4, 4.0])
    assert image == pytest.approx(0.38 * true + 0.62, abs=0.02)
    assert pixel_at([-0.4, 5.3]) == pytest.approx(np.ones(3))
    assert pixel_at([5.0, 0.0])[0] < 0.95 or pixel_at([5.15, 0.0])[0] < 0.95  # a dash of the face


def test_the_outline_ends_at_open_sides_with_the_view():
    frame = still(grains([[2.0, 1, 0]], dimension=2, cell=cell()))
    edges = outline(frame, box_around([frame]))
    assert len(edges) == 4
    corners = {tuple(np.round(end, 9)) for edge in edges for end in edge}
    assert corners == {(1, -2, 0), (11, -2, 0), (4, 6, 0), (14, 6, 0)}
    slot = cell(np.diag([10.0, 8.0, 1.0]), periodic=(True, False, False))
    frame = still(grains([[2.0, 1, 0]], dimension=2, cell=slot, walls=[plane([0, 0, 0], [0, 1, 0])]))
    box = box_around([frame])
    edges = outline(frame, box)
    assert sorted(edges[:, 0, 0]) == [1.0, 11.0]  # no line along x: floor and top are no faces
    assert np.allclose(np.sort(edges[:, :, 1]), [box.low[1], box.high[1]])
    solid = Cell(np.diag([5.0, 6.0, 7.0]))
    assert len(outline(still(grains([[1.0, 1, 1]], cell=solid)), box)) == 12


def test_forces_through_faces_are_two_halves():
    """A ring of touching disks through a face: lines as long as all branches, half of one at each side."""
    room = cell(np.diag([8.0, 8.0, 1.0]), (0.0, 0.0, 0.0))
    bodies = grains([[k * 2.0 + 0.5, 4.0, 0] for k in range(4)], dimension=2, cell=room)
    bodies.velocity[3, 0] = 0.1  # into the first, through the face
    simulation = Simulation(bodies, dt=0.01, solver=exact())
    simulation.step()
    frame = Frame.of(simulation)
    assert int((frame.contacts.normal_force > 0.0).sum()) == 3
    net = network(frame)
    assert len(net.force) == 4
    assert np.linalg.norm(net.end - net.start, axis=1).sum() == pytest.approx(6.0, abs=1e-2)
    halves = np.linalg.norm(net.end - net.start, axis=1) < 1.5
    assert sorted(np.round(net.end[halves, 0], 1)) == [-0.5, 7.5]
    assert box_around([frame]).low[0] < -0.4


def test_the_view_holds_a_cell_that_deforms():
    """One view for a series, with all corners of all frames in it; colours by the speed about the flow."""
    rate = np.array([[0.0, 2.0, 0.0], [0, 0, 0], [0, 0, 0]])
    bodies = grains([[2.0, 1, 0], [6.0, 4, 0]], dimension=2, cell=cell(rate=rate), velocity=[[0.5, 0, 0], [0, 0, 0]])
    simulation, frames = Simulation(bodies, dt=0.01), []
    for _ in range(4):
        simulation.run(steps=30)
        frames.append(Frame.of(simulation))
    look = Look.at(frames, colour="peculiar")
    for frame in frames:
        ends = outline(frame, look.box).reshape(-1, 3)[:, :2]
        assert (ends >= look.layout.low).all()
        assert (ends <= look.layout.high).all()
        assert look.scale.colour.value(frame) == pytest.approx([0.5, 0.0], abs=1e-12)


def test_a_live_view_is_told_the_cell():
    frame = still(grains([[2.0, 1, 0]], dimension=2, cell=cell()))
    packet = live_packet(frame, np.zeros(3))
    head = json.loads(packet[4 : 4 + int.from_bytes(packet[:4], "little")])
    assert head["cell"]["vectors"] == LEANING.tolist()
    assert head["cell"]["periodic"] == [True, True, False]
    assert head["cell"]["flows"] is False
    alone = live_packet(still(grains([[2.0, 1, 0]], dimension=2)), np.zeros(3))
    assert json.loads(alone[4 : 4 + int.from_bytes(alone[:4], "little")])["cell"] is None


@pytest.fixture(scope="module")
def page(tmp_path_factory, browser):
    """A sheared cell of disks in the browser, with its trajectory."""
    path = tmp_path_factory.mktemp("cell") / "shear.vtkhdf"
    rng, rate = np.random.default_rng(3), np.array([[0.0, 1.5, 0.0], [0, 0, 0], [0, 0, 0]])
    room = cell(rate=rate, free=np.diag([False, True, False]), stress=np.diag([0.0, 20.0, 0.0]))
    share = np.array(list(product(range(5), range(4)))) / [5.0, 4.0] + 0.1
    position = room.origin + np.pad(share, ((0, 0), (0, 1))) @ LEANING
    bodies = grains(position, rng.uniform(0.7, 0.9, 20), dimension=2, cell=room, friction=0.3,
                    velocity=rng.normal(size=(20, 3)) * [1, 1, 0])  # fmt: skip
    simulation = Simulation(bodies, dt=0.01)
    simulation.observe(TrajectoryWriter(path), every=20)
    simulation.run(steps=320)
    with Trajectory(path) as trajectory:
        opened = open_page(browser, write_page(trajectory, path.with_suffix(".html")).as_uri())
        yield trajectory, opened
        assert opened.complaints == []
        opened.close()


def test_the_page_brings_grains_into_the_cell(page):
    trajectory, opened = page
    assert np.abs(trajectory[-1].image).max() > 0
    for index in (len(trajectory) - 1, 0, 7):
        opened.evaluate(f"view.go({index})")
        wait_for(opened, f"view.index === {index}")
        frame = trajectory[index]
        told = opened.evaluate("view.frame.cell")
        np.testing.assert_allclose(told["vectors"], frame.cell, rtol=1e-6)
        np.testing.assert_allclose(told["rate"], frame.cell_rate, rtol=1e-6, atol=1e-12)
        got = np.array(opened.evaluate("Array.from(view.frame.position)")).reshape(-1, 3)
        got += np.array(opened.evaluate("view.frame.origin"))
        share = (got - home(frame)) @ np.linalg.inv(frame.cell)
        np.testing.assert_allclose(share, np.rint(share), atol=2e-3)  # a grain on a face may be at the other
        within = (got - frame.cell_origin) @ np.linalg.inv(frame.cell)
        assert (within[:, :2] > -1e-6).all()
        assert (within[:, :2] < 1.0 + 1e-6).all()


def test_the_page_knows_the_speed_about_the_flow(page):
    trajectory, opened = page
    last = len(trajectory) - 1
    opened.evaluate(f"view.go({last})")
    wait_for(opened, f"view.index === {last}")
    frame = trajectory[last]
    velocity = np.array(opened.evaluate("Array.from(view.frame.velocity)")).reshape(-1, 3)
    got = np.array(opened.evaluate("Array.from(view.frame.position)")).reshape(-1, 3)
    got += np.array(opened.evaluate("view.frame.origin"))
    peculiar = velocity - (got - frame.cell_origin) @ frame.cell_rate.T
    np.testing.assert_allclose(peculiar, frame.peculiar_velocity, atol=5e-3 * np.abs(frame.velocity).max())
    names = opened.evaluate("Array.from(document.getElementById('colour').options, (o) => o.value)")
    assert "peculiar" in names
    opened.eval_on_selector("#colour", "(c) => { c.value = 'peculiar'; c.dispatchEvent(new Event('input')); }")
    assert "about the flow" in opened.inner_text("#legend")
