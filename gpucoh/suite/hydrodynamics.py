"""``lulesh``: a blast wave on a staggered mesh, in hundreds of short launches a step.

Original: lulesh-amp of AMD's ComputeApps, the LULESH 2 proxy, in the version whose vectors stay on the GPU. As there:
16 launches a step on all nodes or elements; for each region that has elements five more, and eight for each repetition
of its equation of state, which is evaluated once, twice or twenty times from the same vectors; blocks of 256 threads,
of 64 in the hourglass resistance and the gather after it. Forces are stored by element and corner and then gathered by
node, without atomics; the limits of the time step are block minima, of which the host takes the least. Elements of
vectors have 8 bytes.

Paper scale: 11 regions, of which one is empty, have 338 launches a step, and ten steps the 3,380 that STC states; a
mesh of 12 x 12 x 12 elements is inferred, small enough that a region may be empty. An element is taken for the box of
its mean edges, which saves arithmetic and no access.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from gpucoh import lang
from gpucoh.suite import lagrange, materials
from gpucoh.suite.base import GpuLike, Outcome, Refused, blocks_for, combine, compare, whole
from gpucoh.suite.buffers import PLACEMENT_SEED, doubles, place, values_of
from gpucoh.suite.declaration import workload
from gpucoh.suite.meshes import BLAST, LENGTH, Mesh, Step, next_time

BLOCK = materials.BLOCK
SMALL_BLOCK = 64
# Names of vectors of doubles: those that the state of the mesh gives, and the others, by length.
KEPT = "x y z xd yd zd p q v e ss volo elemMass nodalMass"
OF_NODES = "fx fy fz xdd ydd zdd"
OF_CORNERS = "fx_elem fy_elem fz_elem dvdx dvdy dvdz x8n y8n z8n"
OF_ELEMENTS = (
    "sigxx sigyy sigzz determ vnew delv arealg dxx dyy dzz vdov delx_xi delx_eta delx_zeta delv_xi delv_eta delv_zeta "
    "qq ql vnewc courant hydro e_old delvc p_old q_old compression compHalfStep qq_old ql_old work p_new e_new q_new "
    "bvc pbvc pHalfStep"
)
NEIGHBOURS = "lxim lxip letam letap lzetam lzetap"
# Vectors that are one argument of a kernel, a record.
GROUPS = {
    "at": "x y z",
    "speed": "xd yd zd",
    "acceleration": "xdd ydd zdd",
    "forces": "fx fy fz",
    "stress": "sigxx sigyy sigzz",
    "strain": "dxx dyy dzz",
    "corner_forces": "fx_elem fy_elem fz_elem",
    "corner_slopes": "dvdx dvdy dvdz",
    "copies": "x8n y8n z8n",
    "faces": "symmX symmY symmZ",
    "lengths": "delx_xi delx_eta delx_zeta",
    "slopes": "delv_xi delv_eta delv_zeta",
    "below": "lxim letam lzetam",
    "above": "lxip letap lzetap",
    "gas": "pbvc vnewc bvc p_new",
    "old": "ql_old qq_old p_old q_old",
}
COMPARED = "x y z xd yd zd p q v e"


@dataclass
class Machine:
    """The vectors of one run by name, and the launches of a step."""

    gpu: GpuLike
    mesh: Mesh
    arrays: dict[str, Any]
    launches: int = 0

    @classmethod
    def of(cls, gpu: GpuLike, mesh: Mesh, placement_seed: int) -> Machine:
        """Allocate all vectors, and write the mesh and the first state."""
        state = mesh.blast()
        elements, nodes = mesh.elements, (mesh.side + 1) ** 3
        counts, corners = mesh.corners()
        contents: dict[str, Any] = {name: doubles(state[name]) for name in KEPT.split()}
        contents |= dict.fromkeys(OF_NODES.split(), (2 * nodes, np.float32))
        contents |= dict.fromkeys(OF_CORNERS.split(), (16 * elements, np.float32))
        contents |= dict.fromkeys(OF_ELEMENTS.split(), (2 * elements, np.float32))
        contents |= {"nodelist": mesh.nodes().ravel(), "counts": counts, "corners": corners.ravel()}
        contents |= dict(zip(("symmX", "symmY", "symmZ"), mesh.faces(), strict=True))
        contents |= {"members": np.concatenate(mesh.regions), "ends": mesh.ends()}
        contents |= dict(zip(NEIGHBOURS.split(), mesh.neighbours(), strict=True))
        arrays = place(gpu, placement_seed, *contents.values())
        return cls(gpu, mesh, dict(zip(contents, arrays, strict=True)))

    def launch(
        self, kernel: lang.Kernel, threads: int, names: str, *numbers: Any, block: int = BLOCK
    ) -> None:
        """Launch with the named vectors and groups, and then ``numbers``."""
        self.launches += 1
        self.gpu.launch(
            kernel,
            grid=blocks_for(threads, block),
            block=block,
            args=(*self.named(kernel, names), *numbers),
        )

    def named(self, kernel: lang.Kernel, names: str) -> list[Any]:
        """The named vectors, and of the groups the records that the kernel takes."""
        records = {one.argument: one.record for one in kernel.signature}
        return [
            record(*(self.arrays[part] for part in GROUPS[name].split()))
            if record
            else self.arrays[name]
            for name, record in zip(names.split(), records.values(), strict=False)
        ]

    def values(self, name: str) -> Any:
        """The values of a vector of doubles."""
        return values_of(self.arrays[name].numpy())

    def step(self, time: float) -> tuple[float, float]:
        """A step; the limits of the next one by sound and by volume."""
        self.move_nodes(time)
        elements = self.mesh.elements
        self.launch(
            lagrange.find_kinematics,
            elements,
            "nodelist volo v at speed vnew delv arealg strain",
            time,
            elements,
        )
        self.launch(lagrange.find_dilation, elements, "strain vdov", elements)
        self.launch(
            lagrange.find_gradients,
            elements,
            "nodelist at speed volo vnew lengths slopes",
            elements,
        )
        filled = self.filled_regions()
        for _, first, count in filled:
            self.launch(
                materials.find_viscosity,
                count,
                "members ends below above slopes lengths vdov elemMass volo vnew qq ql",
                first,
                count,
            )
        self.launch(materials.bound_volumes, elements, "vnew vnewc", elements)
        for region, first, count in filled:
            self.evaluate(self.mesh.repetitions(region), first, count)
        self.launch(lagrange.keep_volumes, elements, "vnew v", elements)
        return self.limits(filled)

    def filled_regions(self) -> list[tuple[int, int, int]]:
        """Number, place and size of each region that has elements."""
        found, first = [], 0
        for region, elements in enumerate(self.mesh.regions):
            if elements.size:
                found.append((region, first, elements.size))
            first += elements.size
        return found

    def move_nodes(self, time: float) -> None:
        """Eleven launches: forces, velocities and positions."""
        elements, nodes = self.mesh.elements, (self.mesh.side + 1) ** 3
        faces = (self.mesh.side + 1) ** 2
        self.launch(lagrange.clear_forces, nodes, "forces", nodes)
        self.launch(lagrange.find_stress, elements, "p q stress", elements)
        self.launch(
            lagrange.integrate_stress,
            elements,
            "nodelist at stress corner_forces determ",
            elements,
        )
        gathered = "counts corners corner_forces forces"
        self.launch(lagrange.gather_forces, nodes, gathered, nodes, 0)
        self.launch(
            lagrange.control_hourglass,
            elements,
            "nodelist at volo v determ corner_slopes copies",
            elements,
        )
        self.launch(
            lagrange.resist_hourglass,
            elements,
            "nodelist determ copies corner_slopes ss elemMass speed corner_forces",
            elements,
            block=SMALL_BLOCK,
        )
        self.launch(lagrange.gather_forces, nodes, gathered, nodes, 1, block=SMALL_BLOCK)
        self.launch(lagrange.accelerate, nodes, "forces nodalMass acceleration", nodes)
        self.launch(lagrange.hold_faces, faces, "faces acceleration", faces)
        self.launch(lagrange.move_faster, nodes, "acceleration speed", time, nodes)
        self.launch(lagrange.move, nodes, "speed at", time, nodes)

    def evaluate(self, repetitions: int, first: int, count: int) -> None:
        """The equation of state of one region."""

        def launch(kernel: lang.Kernel, names: str, *numbers: int) -> None:
            self.launch(kernel, count, names, *numbers, count)

        old = "e_old delvc p_old q_old compression compHalfStep qq_old ql_old work"
        for _ in range(repetitions):
            launch(materials.take_state, f"members e delv p q qq ql vnewc {old}", first)
            launch(materials.find_energy, "e_old delvc p_old q_old work e_new")
            names = "members e_new compHalfStep vnewc pHalfStep bvc pbvc"
            launch(materials.find_pressure, names, first)
            launch(
                materials.correct_energy,
                "compHalfStep delvc pbvc bvc pHalfStep old work e_new q_new",
            )
            pressure = "members e_new compression vnewc p_new bvc pbvc"
            launch(materials.find_pressure, pressure, first)
            launch(
                materials.finish_energy,
                "members gas old pHalfStep q_new delvc e_new",
                first,
            )
            launch(materials.find_pressure, pressure, first)
            launch(
                materials.finish_viscosity,
                "members delvc gas e_new ql_old qq_old q_new",
                first,
            )
        launch(materials.keep_state, "members p_new e_new q_new p e q", first)
        launch(materials.find_sound, "members gas e_new ss", first)

    def limits(self, filled: list[tuple[int, int, int]]) -> tuple[float, float]:
        """Two launches for each region; the host takes the least of the blocks."""
        by_sound = by_volume = materials.LONGEST
        for _, first, count in filled:
            blocks = blocks_for(count, BLOCK)
            names = "members ss vdov arealg courant"
            self.launch(materials.limit_by_sound, count, names, first, count)
            by_sound = min(by_sound, float(self.values("courant")[:blocks].min()))
            self.launch(materials.limit_by_volume, count, "members vdov hydro", first, count)
            by_volume = min(by_volume, float(self.values("hydro")[:blocks].min()))
        return by_sound, by_volume


@workload(
    id="lulesh",
    group="KN",
    papers="S",
    check="positions, velocities and state equal NumPy's within 1e-3 of their size",
)
def blast(
    gpu: GpuLike,
    rng: Generator,
    side: int = whole("elements a side", 1, 64, 2, 8, 12),
    steps: int = whole("time steps", 1, 1000, 1, 2, 10),
    regions: int = whole("regions of one material each", 1, 64, 2, 11, 11),
    empty: int = whole("regions without elements", 0, 63, 0, 1, 1),
    placement_seed: int = PLACEMENT_SEED,
) -> Outcome:
    """Lagrangian hydrodynamics of a blast wave: 338 launches a step, corner forces gathered by node

    Random regions. Steps on the GPU and, of the same length, in NumPy.
    """
    if empty >= regions:
        raise Refused(f"parameter empty is {empty}; allowed: less than regions, {regions}")
    mesh = Mesh.random(side, regions, empty, rng)
    machine = Machine.of(gpu, mesh, placement_seed)
    state = mesh.blast()
    energy = BLAST * (mesh.side / 45) ** 3
    time = 0.5 * LENGTH / mesh.side / (2 * energy) ** 0.5
    outcomes = []
    for _ in range(steps):
        found = machine.step(time)
        expected = Step(mesh, state, np.float32(time)).run()
        outcomes.append(compare("limits", found, expected, tolerance=1e-3, floor=0.0))
        time = next_time(time, *expected)
    for name in COMPARED.split():
        want = state[name]
        floor = max(float(np.abs(want).max()) / 100, 1e-6)
        outcomes.append(compare(name, machine.values(name), want, tolerance=1e-3, floor=floor))
    details = {"elements": mesh.elements, "launches": machine.launches}
    return combine(compare("step", steps, steps, details=details), *outcomes)
