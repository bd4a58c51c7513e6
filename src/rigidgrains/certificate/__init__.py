"""The certificate: a frame held against the laws of the method, from its stored numbers alone.

Nothing here uses the code that made the forces. Laws that any number of sweeps must leave intact are held to rounding,
those that sweeps approach to a tolerance.
"""

from __future__ import annotations

from .check import check, check_file
from .verdict import TOLERANCE, Certificate, Check, summary

__all__ = ["TOLERANCE", "Certificate", "Check", "check", "check_file", "summary"]
