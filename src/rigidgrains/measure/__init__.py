"""Measurements on a running simulation, on a frame of a file, over a trajectory, and as observers.

>>> from rigidgrains import measure
>>> measure.coordination(simulation).z
>>> measure.stress(trajectory[-1]).pressure
>>> simulation.observe(measure.Measure(measure.packing_fraction, measure.stress), every=100)

Every function takes a Simulation or a Frame. To ask several of them about one state, make the frame once by
`measure.of(simulation)`. Units are SI; in 2D per metre of depth, so that a stress is in N/m and a volume in m^2.
"""

from .anisotropy import Anisotropy, anisotropy
from .blocking import Blocking, blocking
from .coordination import ContactKinds, Coordination, contact_kinds, coordination
from .correlation import PairCorrelation, pair_correlation
from .cut import volumes_inside
from .displacement import Displacement, mean_squared_displacement
from .energy import Budget, Energy, energy, energy_budget, total_budget
from .fabric import Histogram, fabric, orientation_histogram
from .flow import inertial_number, mean_flow, shear_rate, temperature
from .impacts import Impacts, impacts
from .kinds import Kinds, each, kinds, select
from .lifetimes import ContactLifetimes, ResidenceTimes, Spells, Tracers, contact_lifetime, residence_time
from .mixing import Lacey, Segregation, Stratification, lacey, segregation, stratification
from .networks import ForceDistribution, Network, Networks, force_distribution, networks, sliding_fraction
from .order import OrientationOrder, orientation_order
from .packing import packing_fraction, packing_profile
from .profile import Profile, profile
from .record import Measure, over
from .region import Box, enclosure, hull_volume
from .state import TooFew, of
from .stress import Stress, boundary_stress, grain_stress, stress
from .surface import Repose, Surface, free_surface, repose
from .voronoi import VoronoiCells, voronoi

__all__ = [
    "Anisotropy",
    "Blocking",
    "Box",
    "Budget",
    "ContactKinds",
    "ContactLifetimes",
    "Coordination",
    "Displacement",
    "Energy",
    "ForceDistribution",
    "Histogram",
    "Impacts",
    "Kinds",
    "Lacey",
    "Measure",
    "Network",
    "Networks",
    "OrientationOrder",
    "PairCorrelation",
    "Profile",
    "Repose",
    "ResidenceTimes",
    "Segregation",
    "Spells",
    "Stratification",
    "Stress",
    "Surface",
    "TooFew",
    "Tracers",
    "VoronoiCells",
    "anisotropy",
    "blocking",
    "boundary_stress",
    "contact_kinds",
    "contact_lifetime",
    "coordination",
    "each",
    "enclosure",
    "energy",
    "energy_budget",
    "fabric",
    "force_distribution",
    "free_surface",
    "grain_stress",
    "hull_volume",
    "impacts",
    "inertial_number",
    "kinds",
    "lacey",
    "mean_flow",
    "mean_squared_displacement",
    "networks",
    "of",
    "orientation_histogram",
    "orientation_order",
    "over",
    "packing_fraction",
    "packing_profile",
    "pair_correlation",
    "profile",
    "repose",
    "residence_time",
    "segregation",
    "select",
    "shear_rate",
    "sliding_fraction",
    "stratification",
    "stress",
    "temperature",
    "total_budget",
    "volumes_inside",
    "voronoi",
]
