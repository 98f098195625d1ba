"""Kernels of ``lulesh`` on the whole mesh: forces, motion, and what the elements' shapes say.

An element is taken for the box of its mean edges: exact for boxes, which the mesh is made of at first. Loads and
stores are those of the original, which computes with the hexahedron.
"""

from __future__ import annotations

from gpucoh import lang
from gpucoh.suite.buffers import Numbers, ReadOnlyF32, ReadOnlyI32, get, put

CORNERS = (0, 1, 2, 3, 4, 5, 6, 7)
# Of each corner, whether it is at the lower or the upper end of x, y and z.
SIGNS = (
    (-1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0),
    (-1.0, -1.0, 1.0, 1.0, -1.0, -1.0, 1.0, 1.0),
    (-1.0, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0),
)
ACROSS, ALONG, UP = SIGNS
MODES = (0, 1, 2, 3)
# The hourglass modes, by mode and corner.
GAMMA = (
    (1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0, 1.0),
    (1.0, -1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0),
    (1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0),
    (-1.0, 1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0),
)
HOURGLASS = 3.0 * 0.01
SMALLEST_SPEED = 1.0e-7
SMALLEST_CHANGE = 1.0e-10
SMALLEST = 1.0e-36


@lang.record
class Vector:
    """A vector in space for each node, element or corner of an element."""

    x: lang.Buffer[lang.f32]
    y: lang.Buffer[lang.f32]
    z: lang.Buffer[lang.f32]


@lang.record
class Fixed:
    """A :class:`Vector` that the launch only reads."""

    x: ReadOnlyF32
    y: ReadOnlyF32
    z: ReadOnlyF32


@lang.record
class Faces:
    """Numbers of nodes or elements for each axis."""

    x: ReadOnlyI32
    y: ReadOnlyI32
    z: ReadOnlyI32


@lang.kernel
def clear_forces(forces: Vector, nodes: lang.i32) -> None:
    """Of all nodes."""
    i = lang.global_id()
    if i < nodes:
        put(forces.x, i, 0.0)
        put(forces.y, i, 0.0)
        put(forces.z, i, 0.0)


@lang.kernel
def find_stress(
    pressure: ReadOnlyF32, viscosity: ReadOnlyF32, stress: Vector, elements: lang.i32
) -> None:
    """Of an element."""
    e = lang.global_id()
    if e < elements:
        value = -get(pressure, e) - get(viscosity, e)
        put(stress.x, e, value)
        put(stress.y, e, value)
        put(stress.z, e, value)


@lang.device
def mean_edge(
    nodes: ReadOnlyI32,
    x: ReadOnlyF32,
    signs: Numbers,
    element: lang.i32,
    elements: lang.i32,
) -> lang.f32:
    """Difference of a word of the nodes between an element's two ends."""
    sum = lang.f32(0.0)
    for n in CORNERS:
        sum = sum + signs[n] * get(x, nodes[n * elements + element])
    return 0.25 * sum


@lang.device
def put_corners(
    forces: lang.Buffer[lang.f32],
    signs: Numbers,
    force: lang.f32,
    element: lang.i32,
    elements: lang.i32,
) -> None:
    """One component of the forces on an element's corners."""
    for n in CORNERS:
        put(forces, n * elements + element, signs[n] * force)


@lang.kernel
def integrate_stress(
    nodes: ReadOnlyI32,
    at: Fixed,
    stress: Fixed,
    corners: Vector,
    volume: lang.Buffer[lang.f32],
    elements: lang.i32,
) -> None:
    """Stress times a quarter of the face, on each corner."""
    e = lang.global_id()
    if e < elements:
        dx = mean_edge(nodes, at.x, ACROSS, e, elements)
        dy = mean_edge(nodes, at.y, ALONG, e, elements)
        dz = mean_edge(nodes, at.z, UP, e, elements)
        put(volume, e, dx * dy * dz)
        put_corners(corners.x, ACROSS, -0.25 * get(stress.x, e) * dy * dz, e, elements)
        put_corners(corners.y, ALONG, -0.25 * get(stress.y, e) * dx * dz, e, elements)
        put_corners(corners.z, UP, -0.25 * get(stress.z, e) * dx * dy, e, elements)


@lang.kernel
def gather_forces(
    counts: ReadOnlyI32,
    corners: ReadOnlyI32,
    of_corners: Fixed,
    forces: Vector,
    nodes: lang.i32,
    add: lang.i32,
) -> None:
    """The forces on a node, from the corners of its elements; in place of what was there, or added to it."""
    i = lang.global_id()
    if i < nodes:
        sum_x = lang.f32(0.0)
        sum_y = lang.f32(0.0)
        sum_z = lang.f32(0.0)
        for j in range(counts[i]):
            corner = corners[j * nodes + i]
            sum_x = sum_x + get(of_corners.x, corner)
            sum_y = sum_y + get(of_corners.y, corner)
            sum_z = sum_z + get(of_corners.z, corner)
        if add != 0:
            sum_x = get(forces.x, i) + sum_x
            sum_y = get(forces.y, i) + sum_y
            sum_z = get(forces.z, i) + sum_z
        put(forces.x, i, sum_x)
        put(forces.y, i, sum_y)
        put(forces.z, i, sum_z)


@lang.device
def copy_corners(
    nodes: ReadOnlyI32,
    x: ReadOnlyF32,
    copies: lang.Buffer[lang.f32],
    signs: Numbers,
    element: lang.i32,
    elements: lang.i32,
) -> lang.f32:
    """Copy a coordinate of an element's nodes; its mean edge."""
    sum = lang.f32(0.0)
    for n in CORNERS:
        value = get(x, nodes[n * elements + element])
        put(copies, n * elements + element, value)
        sum = sum + signs[n] * value
    return 0.25 * sum


@lang.kernel
def control_hourglass(
    nodes: ReadOnlyI32,
    at: Fixed,
    first_volume: ReadOnlyF32,
    relative: ReadOnlyF32,
    volume: lang.Buffer[lang.f32],
    slopes: Vector,
    copies: Vector,
    elements: lang.i32,
) -> None:
    """Coordinates of an element's corners, and how its volume changes with them."""
    e = lang.global_id()
    if e < elements:
        dx = copy_corners(nodes, at.x, copies.x, ACROSS, e, elements)
        dy = copy_corners(nodes, at.y, copies.y, ALONG, e, elements)
        dz = copy_corners(nodes, at.z, copies.z, UP, e, elements)
        put_corners(slopes.x, ACROSS, 0.25 * dy * dz, e, elements)
        put_corners(slopes.y, ALONG, 0.25 * dx * dz, e, elements)
        put_corners(slopes.z, UP, 0.25 * dx * dy, e, elements)
        put(volume, e, get(first_volume, e) * get(relative, e))


@lang.device
def resist(
    nodes: ReadOnlyI32,
    speed: ReadOnlyF32,
    shape: lang.Buffer[lang.f32],
    forces: lang.Buffer[lang.f32],
    factor: lang.f32,
    element: lang.i32,
    elements: lang.i32,
) -> None:
    """One component of the forces against the modes, whose ``shape`` has mode and corner."""
    h = lang.local(lang.f32, 4)
    for n in CORNERS:
        value = get(speed, nodes[n * elements + element])
        for m in MODES:
            h[m] = h[m] + shape[8 * m + n] * value
    for n2 in CORNERS:
        force = lang.f32(0.0)
        for m2 in MODES:
            force = force + shape[8 * m2 + n2] * h[m2]
        put(forces, n2 * elements + element, force * factor)


@lang.kernel
def resist_hourglass(
    nodes: ReadOnlyI32,
    volume: ReadOnlyF32,
    copies: Fixed,
    slopes: Fixed,
    sound: ReadOnlyF32,
    mass: ReadOnlyF32,
    speed: Fixed,
    corners: Vector,
    elements: lang.i32,
) -> None:
    """Forces on an element's corners against hourglass modes."""
    e = lang.global_id()
    if e < elements:
        shape = lang.local(lang.f32, 32)
        modes = lang.local(lang.f32, 12)
        for n in CORNERS:
            x = get(copies.x, n * elements + e)
            y = get(copies.y, n * elements + e)
            z = get(copies.z, n * elements + e)
            for m in MODES:
                modes[m] = modes[m] + GAMMA[m][n] * x
                modes[4 + m] = modes[4 + m] + GAMMA[m][n] * y
                modes[8 + m] = modes[8 + m] + GAMMA[m][n] * z
        inverse = 1.0 / get(volume, e)
        for n2 in CORNERS:
            x = get(slopes.x, n2 * elements + e)
            y = get(slopes.y, n2 * elements + e)
            z = get(slopes.z, n2 * elements + e)
            for m2 in MODES:
                part = x * modes[m2] + y * modes[4 + m2] + z * modes[8 + m2]
                shape[8 * m2 + n2] = GAMMA[m2][n2] - inverse * part
        factor = -HOURGLASS * get(sound, e) * get(mass, e)
        factor = factor / lang.exp(lang.log(get(volume, e)) * (1.0 / 3.0))
        resist(nodes, speed.x, shape, corners.x, factor, e, elements)
        resist(nodes, speed.y, shape, corners.y, factor, e, elements)
        resist(nodes, speed.z, shape, corners.z, factor, e, elements)


@lang.kernel
def accelerate(forces: Fixed, mass: ReadOnlyF32, acceleration: Vector, nodes: lang.i32) -> None:
    """Force over mass of a node."""
    i = lang.global_id()
    if i < nodes:
        put(acceleration.x, i, get(forces.x, i) / get(mass, i))
        put(acceleration.y, i, get(forces.y, i) / get(mass, i))
        put(acceleration.z, i, get(forces.z, i) / get(mass, i))


@lang.kernel
def hold_faces(faces: Faces, acceleration: Vector, count: lang.i32) -> None:
    """Nodes of the three faces of symmetry do not leave them."""
    i = lang.global_id()
    if i < count:
        put(acceleration.x, faces.x[i], 0.0)
        put(acceleration.y, faces.y[i], 0.0)
        put(acceleration.z, faces.z[i], 0.0)


@lang.device
def add_speed(
    speed: lang.Buffer[lang.f32], change: ReadOnlyF32, time: lang.f32, node: lang.i32
) -> None:
    """A component of a node's velocity, 0 if it is very small."""
    value = get(speed, node) + get(change, node) * time
    if lang.abs(value) < SMALLEST_SPEED:
        value = lang.f32(0.0)
    put(speed, node, value)


@lang.kernel
def move_faster(acceleration: Fixed, speed: Vector, time: lang.f32, nodes: lang.i32) -> None:
    """The velocity of a node."""
    i = lang.global_id()
    if i < nodes:
        add_speed(speed.x, acceleration.x, time, i)
        add_speed(speed.y, acceleration.y, time, i)
        add_speed(speed.z, acceleration.z, time, i)


@lang.kernel
def move(speed: Fixed, at: Vector, time: lang.f32, nodes: lang.i32) -> None:
    """The position of a node."""
    i = lang.global_id()
    if i < nodes:
        put(at.x, i, get(at.x, i) + get(speed.x, i) * time)
        put(at.y, i, get(at.y, i) + get(speed.y, i) * time)
        put(at.z, i, get(at.z, i) + get(speed.z, i) * time)


@lang.kernel
def find_kinematics(
    nodes: ReadOnlyI32,
    first_volume: ReadOnlyF32,
    relative: ReadOnlyF32,
    at: Fixed,
    speed: Fixed,
    following: lang.Buffer[lang.f32],
    change: lang.Buffer[lang.f32],
    length: lang.Buffer[lang.f32],
    strain: Vector,
    time: lang.f32,
    elements: lang.i32,
) -> None:
    """Volume, length and rates of strain of an element."""
    e = lang.global_id()
    if e < elements:
        dx = mean_edge(nodes, at.x, ACROSS, e, elements)
        dy = mean_edge(nodes, at.y, ALONG, e, elements)
        dz = mean_edge(nodes, at.z, UP, e, elements)
        volume = dx * dy * dz
        now = volume / get(first_volume, e)
        put(following, e, now)
        put(change, e, now - get(relative, e))
        put(length, e, volume / lang.max(dx * dy, lang.max(dy * dz, dx * dz)))
        dvx = mean_edge(nodes, speed.x, ACROSS, e, elements)
        dvy = mean_edge(nodes, speed.y, ALONG, e, elements)
        dvz = mean_edge(nodes, speed.z, UP, e, elements)
        put(strain.x, e, dvx / (dx - 0.5 * time * dvx))
        put(strain.y, e, dvy / (dy - 0.5 * time * dvy))
        put(strain.z, e, dvz / (dz - 0.5 * time * dvz))


@lang.kernel
def find_dilation(strain: Vector, dilation: lang.Buffer[lang.f32], elements: lang.i32) -> None:
    """The rate of change of an element's volume, and the strain without it."""
    e = lang.global_id()
    if e < elements:
        total = get(strain.x, e) + get(strain.y, e) + get(strain.z, e)
        put(dilation, e, total)
        put(strain.x, e, get(strain.x, e) - total / 3.0)
        put(strain.y, e, get(strain.y, e) - total / 3.0)
        put(strain.z, e, get(strain.z, e) - total / 3.0)


@lang.kernel
def find_gradients(
    nodes: ReadOnlyI32,
    at: Fixed,
    speed: Fixed,
    first_volume: ReadOnlyF32,
    relative: ReadOnlyF32,
    lengths: Vector,
    slopes: Vector,
    elements: lang.i32,
) -> None:
    """Lengths of an element and gradients of velocity along its axes."""
    e = lang.global_id()
    if e < elements:
        dx = mean_edge(nodes, at.x, ACROSS, e, elements)
        dy = mean_edge(nodes, at.y, ALONG, e, elements)
        dz = mean_edge(nodes, at.z, UP, e, elements)
        dvx = mean_edge(nodes, speed.x, ACROSS, e, elements)
        dvy = mean_edge(nodes, speed.y, ALONG, e, elements)
        dvz = mean_edge(nodes, speed.z, UP, e, elements)
        volume = get(first_volume, e) * get(relative, e)
        norm = 1.0 / (volume + SMALLEST)
        put(lengths.z, e, volume / (dx * dy + SMALLEST))
        put(slopes.z, e, dvz * (dx * dy) * norm)
        put(lengths.x, e, volume / (dy * dz + SMALLEST))
        put(slopes.x, e, dvx * (dy * dz) * norm)
        put(lengths.y, e, volume / (dx * dz + SMALLEST))
        put(slopes.y, e, dvy * (dx * dz) * norm)


@lang.kernel
def keep_volumes(
    following: ReadOnlyF32, relative: lang.Buffer[lang.f32], elements: lang.i32
) -> None:
    """The volume of an element at the end of the step, 1 if it has hardly changed."""
    e = lang.global_id()
    if e < elements:
        value = get(following, e)
        if lang.abs(value - 1.0) < SMALLEST_CHANGE:
            value = lang.f32(1.0)
        put(relative, e, value)
