"""New points, and points known by their distances to a few."""

from dualfold.maps.landmark import (
    FromLandmarks,
    Triangulation,
    geodesics_to_new,
    placed,
    triangulation,
)

__all__ = ["FromLandmarks", "Triangulation", "geodesics_to_new", "placed", "triangulation"]
