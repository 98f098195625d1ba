"""Discrete ordinates: the problem that ``snapc`` solves, and its solution in NumPy."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOMENTS = 4
OCTANTS = tuple(itertools.product((-1, 1), repeat=3))  # steps in i, j, k
FIXUPS = (0, 1, 2, 3)
RATE = 2.0  # two over the length of the time step

Values = NDArray[np.float32]


def planes(side: int) -> Iterator[NDArray[np.int32]]:
    """The cells (i, j, k) of each diagonal plane, i fastest."""
    k, j, i = (axis.ravel() for axis in np.indices((side,) * 3, np.int32))
    for plane in range(3 * side - 2):
        chosen = i + j + k == plane
        yield np.stack([i[chosen], j[chosen], k[chosen]], axis=1)


@dataclass(frozen=True)
class Problem:
    """What a sweep reads. Arrays are by cell (k, j, i), group, moment and angle, the last fastest."""

    side: int
    cosines: Values  # (3, angles)
    coefficients: Values  # (octants, MOMENTS, angles)
    weights: Values  # (angles,)
    cross_sections: Values  # (groups,)
    velocities: Values  # (groups,)
    scattering: Values  # (2, from, to), of the scalar flux and of the moments
    fixed: Values  # (side, side, side, groups)

    @classmethod
    def random(cls, rng: np.random.Generator, side: int, angles: int, groups: int) -> Problem:
        """Cells absorb half of what they scatter, so that iterations converge."""
        coefficients = rng.uniform(-1, 1, (len(OCTANTS), MOMENTS, angles))
        scattering = rng.uniform(0, 1, (2, groups, groups)) / groups
        arrays = (
            rng.uniform(0.1, 1, (3, angles)),
            coefficients,
            np.full(angles, 1 / (len(OCTANTS) * angles)),
            rng.uniform(2, 3, groups),
            rng.uniform(1, 2, groups),
            scattering * np.array([1, 0.1])[:, None, None],
            rng.uniform(0.5, 1, (side, side, side, groups)),
        )
        return cls(side, *(array.astype(np.float32) for array in arrays))

    @property
    def angles(self) -> int:
        """Angles of an octant."""
        return self.weights.size

    @property
    def groups(self) -> int:
        """Groups of energy."""
        return self.cross_sections.size

    @property
    def faces(self) -> Values:
        """Terms of the faces, (3, angles)."""
        size = np.float32(1 / self.side)
        return np.float32(2) / size * self.cosines


@dataclass(frozen=True)
class Reference:
    """The iterations in NumPy, a plane at a time."""

    problem: Problem
    outers: int
    inners: int

    def solve(self) -> tuple[Values, Values]:
        """Scalar flux and its moments."""
        it = self.problem
        scalar = np.zeros_like(it.fixed)
        moments = np.zeros((*it.fixed.shape, MOMENTS - 1), np.float32)
        others = it.scattering * (1 - np.eye(it.groups, dtype=np.float32))
        own = np.diagonal(it.scattering, axis1=1, axis2=2)
        weighted = it.weights * it.coefficients[:, 1:]
        outer_moments = np.zeros_like(moments)
        for _ in range(self.outers):
            outer = it.fixed + scalar @ others[0]
            outer_moments += np.einsum("kjigm,gh->kjihm", moments, others[1])
            for _ in range(self.inners):
                source = outer + own[0] * scalar
                source_moments = outer_moments + own[1][:, None] * moments
                fluxes = [
                    self.sweep(octant, source, source_moments) for octant in range(len(OCTANTS))
                ]
                both = list(zip(fluxes, weighted, strict=True))
                scalar = np.sum([0.5 * flux @ it.weights for flux in fluxes], axis=0)
                moments = np.sum([0.5 * flux @ part.T for flux, part in both], axis=0)
        return scalar, moments

    def sweep(self, octant: int, source: Values, moments: Values) -> Values:
        """The angular flux (k, j, i, group, angle) of an octant, from one of 0 before the step."""
        it, side = self.problem, self.problem.side
        face_i, face_j, face_k = it.faces
        times = (np.float32(RATE) / it.velocities)[:, None]
        sections = it.cross_sections[:, None]
        result = np.zeros((side, side, side, it.groups, it.angles), np.float32)
        edges = np.zeros((3, side, side, it.groups, it.angles), np.float32)
        given_all = source[..., None] + moments @ it.coefficients[octant, 1:]
        for plane in planes(side):
            i, j, k = (
                places if step > 0 else side - 1 - places
                for places, step in zip(plane.T, OCTANTS[octant], strict=True)
            )
            given = given_all[k, j, i]
            places = (0, k, j), (1, k, i), (2, j, i)
            inward = [edges[at] for at in places]
            terms = face_i, face_j, face_k
            psi = given + sum(flux * term for flux, term in zip(inward, terms, strict=True))
            psi = psi / (sections + face_i + face_j + face_k + times)
            before = np.zeros_like(psi)
            outward = [2 * psi - flux for flux in (*inward, before)]
            right = np.full(psi.shape, 4.0)
            for _ in FIXUPS:
                keep = [np.where(flux < 0, 0, 1).astype(np.float32) for flux in outward]
                now = np.sum(keep, axis=0)
                again = right != now
                right = now
                upper = sum(
                    flux * term * (1 + one)
                    for flux, term, one in zip(inward, terms, keep, strict=False)
                )
                lower = sections + times * keep[3]
                lower = lower + sum(term * one for term, one in zip(terms, keep, strict=False))
                psi = (0.5 * upper + given) / lower
                outward = [
                    np.where(again, 2 * psi - inner, flux)
                    for inner, flux in zip((*inward, before), outward, strict=True)
                ]
            for at, flux, one in zip(places, outward, keep, strict=False):
                edges[at] = flux * one
            result[k, j, i] = outward[3] * keep[3]
        return result
