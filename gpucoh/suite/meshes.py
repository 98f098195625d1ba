"""The mesh of ``lulesh``, its regions, and the step of the hydrodynamics in NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpucoh.suite import lagrange, materials

LENGTH = 1.125  # of the cube
BLAST = 3.948746e7  # energy in the corner of a cube of 45 elements a side
CORNER_PLACES = np.array(
    [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
)
LONGEST_RUN = 15  # neighbouring elements that are put into one region at once

State = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Mesh:
    """A cube of side x side x side elements, x fastest, as an unstructured mesh."""

    side: int
    regions: tuple[NDArray[np.int32], ...]  # the elements of each

    @classmethod
    def random(cls, side: int, regions: int, empty: int, rng: np.random.Generator) -> Mesh:
        """Runs of neighbours in random regions: the later one is, the more it has; the first are empty."""
        count = side**3
        filled = np.arange(empty, regions)
        longest = max(1, min(LONGEST_RUN, count // (2 * filled.size)))
        ends = np.cumsum(rng.integers(1, longest + 1, count))
        runs = np.searchsorted(ends, np.arange(count), side="right")
        weights = np.where(np.arange(regions) < empty, 0, np.arange(1, regions + 1))
        chosen = rng.choice(regions, count, p=weights / weights.sum())
        chosen[: filled.size] = filled[:count]
        return cls(
            side,
            tuple(
                np.flatnonzero(chosen[runs] == region).astype(np.int32) for region in range(regions)
            ),
        )

    @property
    def elements(self) -> int:
        """Number of elements."""
        return self.side**3

    def places(self, side: int) -> NDArray[np.int64]:
        """Coordinates (x, y, z) of a cube of points or elements, (3, side ** 3)."""
        z, y, x = np.indices((side,) * 3)
        return np.stack([x.ravel(), y.ravel(), z.ravel()])

    def nodes(self) -> NDArray[np.int32]:
        """The nodes of each element, by corner and element."""
        wide = self.side + 1
        x, y, z = self.places(self.side)[:, None] + CORNER_PLACES.T[:, :, None]
        nodes: NDArray[np.int32] = ((z * wide + y) * wide + x).astype(np.int32)
        return nodes

    def corners(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Of each node, the number of its corners of elements, and these, by place and node."""
        flat = self.nodes().ravel()
        nodes = (self.side + 1) ** 3
        order = np.argsort(flat, kind="stable")
        counts = np.bincount(flat, minlength=nodes)
        rank = np.arange(flat.size) - np.repeat(np.cumsum(counts) - counts, counts)
        table = np.zeros((8, nodes), np.int32)
        table[rank, flat[order]] = order
        return counts.astype(np.int32), table

    def faces(self) -> NDArray[np.int32]:
        """The nodes with x, y and z of 0."""
        return np.stack([np.flatnonzero(axis == 0) for axis in self.places(self.side + 1)]).astype(
            np.int32
        )

    def ends(self) -> NDArray[np.int32]:
        """Bits of the elements at the ends of the mesh."""
        bits = np.zeros(self.elements, np.int32)
        for axis, place in enumerate(self.places(self.side)):
            bits |= np.where(place == 0, 1 << (2 * axis), 0).astype(np.int32)
            bits |= np.where(place == self.side - 1, 2 << (2 * axis), 0).astype(np.int32)
        return bits

    def neighbours(self) -> NDArray[np.int32]:
        """The elements below and above on each axis, (6, elements); at an end the element itself."""
        found = []
        for axis, place in enumerate(self.places(self.side)):
            step = self.side**axis
            own = np.arange(self.elements)
            found.append(np.where(place > 0, own - step, own))
            found.append(np.where(place < self.side - 1, own + step, own))
        return np.stack(found).astype(np.int32)

    def repetitions(self, region: int) -> int:
        """How often the equation of state of a region is evaluated: the last ones cost more."""
        count = len(self.regions)
        if region < count // 2:
            return 1
        return 2 if region < count - (count + 15) // 20 else 20

    def blast(self) -> State:
        """Gas at rest with energy in the first element."""
        zeros = np.zeros((self.side + 1) ** 3, np.float32)
        empty = np.zeros(self.elements, np.float32)
        step = np.float32(LENGTH / self.side)
        state = {name: empty.copy() for name in ("p", "q", "ss", "qq", "ql")}
        state |= {name: zeros.copy() for name in ("xd", "yd", "zd")}
        for name, axis in zip("xyz", self.places(self.side + 1), strict=True):
            state[name] = axis.astype(np.float32) * step
        state["v"] = np.ones_like(empty)
        state["e"] = empty.copy()
        state["e"][0] = BLAST * (self.side / 45) ** 3
        state["volo"] = np.prod([self.edge(state[name], i) for i, name in enumerate("xyz")], axis=0)
        state["elemMass"] = state["volo"].copy()
        shares = np.tile(state["volo"], 8) / np.float32(8)
        state["nodalMass"] = self.gathered(shares)
        return state

    def edge(self, x: NDArray[np.float32], axis: int) -> NDArray[np.float32]:
        """Mean difference of a word of the nodes between the ends of each element."""
        total = np.zeros(self.elements, np.float32)
        for sign, nodes in zip(lagrange.SIGNS[axis], self.nodes(), strict=True):
            total += np.float32(sign) * x[nodes]
        mean: NDArray[np.float32] = np.float32(0.25) * total
        return mean

    def gathered(self, corners: NDArray[np.float32]) -> NDArray[np.float32]:
        """Sums over the corners at each node."""
        nodes = (self.side + 1) ** 3
        return np.bincount(self.nodes().ravel(), corners, nodes).astype(np.float32)


@dataclass
class Step:
    """A step of the hydrodynamics in NumPy on ``state``."""

    mesh: Mesh
    state: State
    time: np.float32

    def run(self) -> tuple[float, float]:
        """Change the state; the limits of the next step by sound and by volume."""
        s = self.state
        self.move_nodes()
        boxes = [self.mesh.edge(s[name], i) for i, name in enumerate("xyz")]
        speeds = [self.mesh.edge(s[f"{name}d"], i) for i, name in enumerate("xyz")]
        following = np.prod(boxes, axis=0) / s["volo"]
        change = following - s["v"]
        areas = [boxes[1] * boxes[2], boxes[0] * boxes[2], boxes[0] * boxes[1]]
        length = np.prod(boxes, axis=0) / np.max(areas, axis=0)
        half = np.float32(0.5) * self.time
        dilation = np.sum(
            [speed / (box - half * speed) for speed, box in zip(speeds, boxes, strict=True)], axis=0
        )
        volume = s["volo"] * following
        lengths = [volume / area for area in areas]
        slopes = [speed * area / volume for speed, area in zip(speeds, areas, strict=True)]
        self.find_viscosity(lengths, slopes, dilation, following)
        self.evaluate(following, change)
        still = np.abs(following - 1) < lagrange.SMALLEST_CHANGE
        s["v"] = np.where(still, np.float32(1), following)
        return self.limits(dilation, length)

    def move_nodes(self) -> None:
        """Forces, velocities and positions."""
        s, mesh = self.state, self.mesh
        boxes = [mesh.edge(s[name], i) for i, name in enumerate("xyz")]
        areas = [boxes[1] * boxes[2], boxes[0] * boxes[2], boxes[0] * boxes[1]]
        nodes = mesh.nodes()
        stress = -s["p"] - s["q"]
        volume = s["volo"] * s["v"]
        signs = np.array(lagrange.SIGNS, np.float32)
        gamma = np.array(lagrange.GAMMA, np.float32)
        slopes = [0.25 * sign[:, None] * area for sign, area in zip(signs, areas, strict=True)]
        part = sum(
            (gamma @ s[name][nodes])[:, None] * slope
            for name, slope in zip("xyz", slopes, strict=True)
        )
        shape = gamma[:, :, None] - part / volume
        factor = -lagrange.HOURGLASS * s["ss"] * s["elemMass"] / np.cbrt(volume)
        faces = mesh.faces()
        for i, name in enumerate("xyz"):
            speed = s[f"{name}d"]
            h = np.einsum("mne,ne->me", shape, speed[nodes])
            corners = -stress * slopes[i] + factor * np.einsum("mne,me->ne", shape, h)
            change = mesh.gathered(corners.ravel()) / s["nodalMass"]
            change[faces[i]] = 0
            speed = (speed + change * self.time).astype(np.float32)
            s[f"{name}d"] = np.where(np.abs(speed) < lagrange.SMALLEST_SPEED, np.float32(0), speed)
            s[name] = (s[name] + s[f"{name}d"] * self.time).astype(np.float32)

    def find_viscosity(
        self, lengths: list[Any], slopes: list[Any], dilation: Any, following: Any
    ) -> None:
        """The terms of the artificial viscosity."""
        s, mesh = self.state, self.mesh
        ends, near = mesh.ends(), mesh.neighbours()
        moves, ratios = [], []
        for axis, slope in enumerate(slopes):
            norm = 1 / (slope + np.float32(materials.FLAT))
            before = slope[near[2 * axis]] * norm
            after = np.where(ends & (2 << (2 * axis)), 0, slope[near[2 * axis + 1]]) * norm
            ratio = np.minimum(0.5 * (before + after), 2 * np.minimum(before, after))
            ratios.append(np.clip(ratio, 0, materials.STEEPEST))
            moves.append(np.minimum(slope * lengths[axis], 0))
        density = s["elemMass"] / (s["volo"] * following)
        linear = sum(move * (1 - phi) for move, phi in zip(moves, ratios, strict=True))
        square = sum(move**2 * (1 - phi**2) for move, phi in zip(moves, ratios, strict=True))
        shrinks = dilation <= 0
        s["ql"] = np.where(shrinks, -materials.LINEAR * density * linear, 0).astype(np.float32)
        s["qq"] = np.where(shrinks, materials.QUADRATIC * density * square, 0).astype(np.float32)

    def evaluate(self, following: Any, change: Any) -> None:
        """The equation of state, whose repetitions all give the same."""
        s = self.state
        p, q, e = s["p"], s["q"], s["e"]
        volume = np.clip(following, materials.LEAST_VOLUME, materials.MOST_VOLUME)
        shrinks = change <= 0

        def pressure(energy: Any, density: Any) -> Any:
            value = materials.GAS * density * energy
            return np.maximum(np.where(np.abs(value) < materials.SMALLEST_PRESSURE, 0, value), 0)

        def viscosity(energy: Any, density: Any, at: Any, by: Any) -> Any:
            square = materials.GAS * energy + by**2 * materials.GAS * density * at
            speed = np.where(square > 0, np.sqrt(np.maximum(square, 0)), 0.333333e-36)
            return np.where(shrinks, speed * s["ql"] + s["qq"], 0)

        def settled(energy: Any) -> Any:
            return np.where(np.abs(energy) < materials.SMALLEST_ENERGY, 0, energy)

        middle = volume - 0.5 * change
        energy = e - 0.5 * change * (p + q)
        half = pressure(energy, 1 / middle)
        now = viscosity(energy, 1 / middle, half, middle)
        energy = settled(energy + 0.5 * change * (3 * (p + q) - 4 * (half + now)))
        end = pressure(energy, 1 / volume)
        last = viscosity(energy, 1 / volume, end, volume)
        energy -= (7 * (p + q) - 8 * (half + now) + end + last) * change / 6
        energy = settled(energy)
        end = pressure(energy, 1 / volume)
        last = viscosity(energy, 1 / volume, end, volume)
        last = np.where(np.abs(last) < materials.SMALLEST_VISCOSITY, 0, last)
        sound = materials.GAS * energy + volume**2 * materials.GAS / volume * end
        s["p"], s["e"] = end.astype(np.float32), energy.astype(np.float32)
        s["q"] = np.where(shrinks, last, now).astype(np.float32)
        s["ss"] = np.sqrt(np.maximum(sound, materials.TINY)).astype(np.float32)

    def limits(self, dilation: Any, length: Any) -> tuple[float, float]:
        """Of the next step."""
        moves = dilation != 0
        if not moves.any():
            return materials.LONGEST, materials.LONGEST
        rate, size = dilation[moves], length[moves]
        square = self.state["ss"][moves] ** 2
        square += np.where(rate < 0, materials.COURANT * size**2 * rate**2, 0)
        return float((size / np.sqrt(square)).min()), float(
            (materials.MOST_CHANGE / np.abs(rate)).min()
        )


def next_time(time: float, by_sound: float, by_volume: float) -> float:
    """The length of the next step."""
    found = materials.LONGEST
    if by_sound < found:
        found = by_sound / 2
    if by_volume < found:
        found = by_volume * 2 / 3
    if found < time:
        return found
    return time if found < 1.1 * time else min(found, 1.2 * time)
