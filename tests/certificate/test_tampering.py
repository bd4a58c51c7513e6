"""Whatever is changed in a frame is caught, and the culprit named."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.builders import floor, grains, settle
from support.worlds import broken, keep, pressed

from rigidgrains import Frame
from rigidgrains.certificate import check


def tamper_force(frame):
    """All of one contact force."""
    c = int(np.argmax(frame.contacts.normal_force))
    frame.contacts.force[c] *= 1.0 + 1e-6
    return f"{c}"


def tamper_component(frame):
    """One component by little."""
    frame.contacts.force[2, 0] += 1e-6
    return ""


def tamper_velocity(frame):
    frame.velocity[4, 1] += 1e-7
    return "grain 4"


def tamper_spin(frame):
    frame.spin[4, 2] += 1e-7
    return "grain 4"


def tamper_position(frame):
    frame.position[4, 0] += 1e-7
    return "grain 4"


def tamper_friction(frame):
    frame.friction[:] = 0.01
    return "mu = 0.01"


def remove_contact(frame):
    contacts = frame.contacts
    kept = np.arange(len(contacts)) != int(np.argmax(contacts.normal_force))
    keep(frame, kept)
    return ""


def pull(frame):
    c = int(np.argmax(frame.contacts.normal_force))
    frame.contacts.force[c] *= -1.0
    return f"contact {c} of"


def swap_pair(frame):
    frame.contacts.pair[0] = frame.contacts.pair[0, ::-1].copy()
    return "contact 0 of"


def double_contact(frame):
    frame.contacts.pair[1] = frame.contacts.pair[0]
    return "listed twice"


def tamper_status(frame):
    c = int(np.flatnonzero(frame.contacts.status == 1)[0])
    frame.contacts.status[c] = 2
    return f"contact {c} of"


def tamper_gap(frame):
    frame.contacts.gap[3] += 1e-6
    return "contact 3 of"


def tamper_normal(frame):
    frame.contacts.normal[3] = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) @ frame.contacts.normal[3]
    return "contact 3 of"


def tamper_load(frame):
    frame.load[5] *= 1.001
    return "load of grain 5"


def tamper_energy(frame):
    frame.figures["kinetic_energy"] += 1.0
    return "kinetic_energy"


def tamper_mass(frame):
    frame.mass[4] *= 1.001
    return "grain 4"


def lose_a_number(frame):
    frame.velocity[4, 1] = math.nan
    return "velocity of row 4"


def move_piston(frame):
    frame.wall_velocity[3, 1] += 1e-6
    return "wall 'piston'"


def drive_floor(frame):
    frame.wall_velocity[0, 1] += 1e-6
    return "wall 'floor'"


TAMPERING = {
    tamper_force: "momentum",
    tamper_component: "momentum",
    tamper_velocity: "momentum",
    tamper_spin: "angular momentum",
    tamper_position: "geometry",
    tamper_friction: "coulomb cone",
    remove_contact: "momentum",
    pull: "normal force",
    swap_pair: "geometry",
    double_contact: "contact list",
    tamper_status: "status",
    tamper_gap: "geometry",
    tamper_normal: "geometry",
    tamper_load: "figures",
    tamper_energy: "figures",
    tamper_mass: "momentum",
    lose_a_number: "state",
    move_piston: "pistons",
    drive_floor: "walls",
}


@pytest.mark.parametrize("tamper", TAMPERING, ids=lambda tamper: tamper.__name__)
def test_tampering_is_caught_and_named(tamper):
    """Whatever is changed in a frame breaks a law, and the law says where."""
    frame = pressed()
    assert check(frame).passed
    frame = pressed()
    place = tamper(frame)
    certificate = check(frame)
    assert not certificate.passed
    assert certificate.verdict.startswith("violated")
    assert TAMPERING[tamper] in {check.name for check in certificate.failed}
    assert place in certificate[TAMPERING[tamper]].worst


def test_a_pair_that_was_overlooked():
    """Two grains that run into each other without being a contact are named, though no force is wrong."""
    bodies = grains([[0, 0, 0], [5, 0, 0]], velocity=[[1, 0, 0], [0, 0, 0]])
    frame = Frame.of(settle(bodies))
    assert len(frame.contacts) == 0
    frame.position[0, 0] = 3.2
    certificate = check(frame)
    assert {check.name for check in certificate.failed} == {"overlap", "missing contacts"}
    assert "grain 0 and grain 1 overlap by 0.2 m" in certificate["missing contacts"].worst


@pytest.mark.parametrize(("overlap", "seen"), [(1e-7, False), (1e-5, True), (1e-4, True)])
def test_how_small_an_overlap_needs_a_contact(overlap, seen):
    """One of a millionth of the smallest radius, 1 m here; for pairs of grains and for walls alike."""
    frame = Frame.of(settle(grains([[0, 0, 0], [5, 0, 0]], velocity=[[1, 0, 0], [0, 0, 0]])))
    frame.position[0, 0] = 3.0 + overlap
    assert ("missing contacts" in broken(frame)) == seen
    frame = Frame.of(settle(grains([[0, 5, 0]], walls=[floor()])))
    frame.position[0, 1] = 1.0 - overlap
    assert ("missing contacts" in broken(frame)) == seen


@pytest.mark.parametrize(("more", "wrong"), [(0.0, False), (1e-8, True), (5e-4, True)])
def test_the_cone_is_as_wide_as_mu_says(more, wrong):
    """A sliding grain has |R_t| = mu R_n: any more of it is outside the cone, however little."""
    bodies = grains([[0, 1, 0]], gravity=[0, -10, 0], friction=0.3, velocity=[[1, 0, 0]], walls=[floor()])
    frame = Frame.of(settle(bodies))
    assert abs(frame.contacts.force[0, 0]) == pytest.approx(0.3 * 10.0, rel=1e-12)
    frame.contacts.force[0, 0] *= 1.0 + more
    assert ("coulomb cone" in broken(frame)) == wrong


def test_a_grain_behind_a_wall():
    """Every grain is held against every wall, not only those on the list."""
    frame = Frame.of(settle(grains([[0, 5, 0]], walls=[floor()])))
    frame.position[0, 1] = 0.9
    assert "grain 0 and wall 'floor' overlap by 0.1 m" in check(frame)["missing contacts"].worst


@pytest.mark.parametrize(("overlap", "seen"), [(0.7e-6, False), (1.5e-6, True)])
def test_the_least_overlap_that_needs_a_contact(overlap, seen):
    """A millionth of the smallest radius, between grains and at a wall: rounding stays below it."""
    bodies = grains([[0, 6, 0], [5, 6, 0], [0, 20, 0]], walls=[floor()], velocity=[[1, 0, 0], [0, 0, 0], [0, 0, 0]])
    frame = Frame.of(settle(bodies))
    frame.position[0, 0] = 3.0 + overlap
    assert check(frame)["missing contacts"].passed is not seen
    frame.position[0, 0], frame.position[2, 1] = 1.0, 1.0 - overlap
    assert check(frame)["missing contacts"].passed is not seen


def test_energy_cannot_come_from_friction():
    """A tangential force along the slip is inside the cone but gives energy."""
    bodies = grains([[0, 1, 0]], gravity=[0, -10, 0], friction=0.3, velocity=[[1, 0, 0]], walls=[floor()])
    frame = Frame.of(settle(bodies))
    frame.contacts.force[0, 0] *= -1.0
    assert {"friction", "dissipation"} <= broken(frame)


def test_overlaps_that_are_taken_back_give_energy():
    """Policy g pushes overlapping grains apart: said in a note, not held against the contact."""
    bodies = grains([[0, 0, 0], [1.9, 0, 0]])
    certificate = check(Frame.of(settle(bodies, gap="g")))
    assert certificate["dissipation"].passed
    assert "taken back" in certificate.notes[0]
    assert certificate.energy["change of kinetic energy"] > 0.0
