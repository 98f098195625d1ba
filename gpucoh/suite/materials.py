"""Kernels of ``lulesh`` on the elements of one region: viscosity, equation of state, limits of the time step.

A region's elements are listed from ``first``; vectors with its name are by place in the region, others by element.
"""

from __future__ import annotations

from gpucoh import lang
from gpucoh.suite.buffers import ReadOnlyF32, ReadOnlyI32, get, put
from gpucoh.suite.lagrange import Faces, Fixed

BLOCK = 256
TINY = 1.0e-36
FLAT = 1.0e-20  # added to a gradient that divides; below it f32 would overflow
LINEAR, QUADRATIC = 0.5, 2.0 / 3.0  # factors of the viscosity
LIMITER, STEEPEST = 2.0, 1.0
SMALLEST_PRESSURE, SMALLEST_ENERGY, SMALLEST_VISCOSITY = 1.0e-7, 1.0e-7, 1.0e-7
LOWEST_ENERGY, LOWEST_PRESSURE = -1.0e15, 0.0
LEAST_VOLUME, MOST_VOLUME = 1.0e-9, 1.0e9
GAS = 2.0 / 3.0
LONGEST = 1.0e20
COURANT = 64.0 * 2.0 * 2.0
MOST_CHANGE = 0.1
# Bits of an element at an end of the mesh: symmetric at the lower ends, free at the upper ones.
X_LOW, X_HIGH, Y_LOW, Y_HIGH, Z_LOW, Z_HIGH = 1, 2, 4, 8, 16, 32


@lang.record
class Gas:
    """What the speed of sound follows from, beside the energy."""

    slope: ReadOnlyF32
    bounded: ReadOnlyF32
    stiffness: ReadOnlyF32
    pressure: ReadOnlyF32


@lang.record
class Old:
    """A region's state at the begin of the step, and its viscosity's terms."""

    linear: ReadOnlyF32
    quadratic: ReadOnlyF32
    pressure: ReadOnlyF32
    viscosity: ReadOnlyF32


@lang.device
def limited(
    slope: ReadOnlyF32,
    below: ReadOnlyI32,
    above: ReadOnlyI32,
    ends: lang.i32,
    low: lang.i32,
    high: lang.i32,
    element: lang.i32,
) -> lang.f32:
    """The limited ratio of gradients along one axis."""
    own = get(slope, element)
    norm = 1.0 / (own + FLAT)
    before = own
    if ends & low == 0:
        before = get(slope, below[element])
    after = lang.f32(0.0)
    if ends & high == 0:
        after = get(slope, above[element])
    before = before * norm
    after = after * norm
    ratio = 0.5 * (before + after)
    ratio = lang.min(ratio, lang.min(LIMITER * before, LIMITER * after))
    return lang.min(lang.max(ratio, 0.0), STEEPEST)


@lang.kernel
def find_viscosity(
    members: ReadOnlyI32,
    ends: ReadOnlyI32,
    below: Faces,
    above: Faces,
    slopes: Fixed,
    lengths: Fixed,
    dilation: ReadOnlyF32,
    mass: ReadOnlyF32,
    first_volume: ReadOnlyF32,
    following: ReadOnlyF32,
    quadratic: lang.Buffer[lang.f32],
    linear: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """The two terms of the viscosity, from gradients of an element and its neighbours."""
    t = lang.global_id()
    if t < count:
        e = members[first + t]
        end = ends[e]
        phi_x = limited(slopes.x, below.x, above.x, end, X_LOW, X_HIGH, e)
        phi_y = limited(slopes.y, below.y, above.y, end, Y_LOW, Y_HIGH, e)
        phi_z = limited(slopes.z, below.z, above.z, end, Z_LOW, Z_HIGH, e)
        one = lang.f32(0.0)
        two = lang.f32(0.0)
        if get(dilation, e) <= 0.0:
            dx = lang.min(get(slopes.x, e) * get(lengths.x, e), 0.0)
            dy = lang.min(get(slopes.y, e) * get(lengths.y, e), 0.0)
            dz = lang.min(get(slopes.z, e) * get(lengths.z, e), 0.0)
            density = get(mass, e) / (get(first_volume, e) * get(following, e))
            one = dx * (1.0 - phi_x) + dy * (1.0 - phi_y) + dz * (1.0 - phi_z)
            one = -LINEAR * density * one
            two = dx * dx * (1.0 - phi_x * phi_x) + dy * dy * (1.0 - phi_y * phi_y)
            two = QUADRATIC * density * (two + dz * dz * (1.0 - phi_z * phi_z))
        put(quadratic, e, two)
        put(linear, e, one)


@lang.kernel
def bound_volumes(
    following: ReadOnlyF32, bounded: lang.Buffer[lang.f32], elements: lang.i32
) -> None:
    """Volumes that the equation of state takes."""
    e = lang.global_id()
    if e < elements:
        put(bounded, e, lang.min(lang.max(get(following, e), LEAST_VOLUME), MOST_VOLUME))


@lang.kernel
def take_state(
    members: ReadOnlyI32,
    energy: ReadOnlyF32,
    change: ReadOnlyF32,
    pressure: ReadOnlyF32,
    viscosity: ReadOnlyF32,
    quadratic: ReadOnlyF32,
    linear: ReadOnlyF32,
    bounded: ReadOnlyF32,
    old_energy: lang.Buffer[lang.f32],
    region_change: lang.Buffer[lang.f32],
    old_pressure: lang.Buffer[lang.f32],
    old_viscosity: lang.Buffer[lang.f32],
    compression: lang.Buffer[lang.f32],
    half: lang.Buffer[lang.f32],
    region_quadratic: lang.Buffer[lang.f32],
    region_linear: lang.Buffer[lang.f32],
    work: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """Copy a region's state, and its compression at the end and in the middle of the step."""
    t = lang.global_id()
    if t < count:
        e = members[first + t]
        volume = get(bounded, e)
        by = get(change, e)
        put(old_energy, t, get(energy, e))
        put(region_change, t, by)
        put(old_pressure, t, get(pressure, e))
        put(old_viscosity, t, get(viscosity, e))
        put(compression, t, 1.0 / volume - 1.0)
        put(half, t, 1.0 / (volume - 0.5 * by) - 1.0)
        put(region_quadratic, t, get(quadratic, e))
        put(region_linear, t, get(linear, e))
        put(work, t, 0.0)


@lang.kernel
def find_energy(
    old_energy: ReadOnlyF32,
    change: ReadOnlyF32,
    old_pressure: ReadOnlyF32,
    old_viscosity: ReadOnlyF32,
    work: ReadOnlyF32,
    energy: lang.Buffer[lang.f32],
    count: lang.i32,
) -> None:
    """First part of the energy."""
    t = lang.global_id()
    if t < count:
        value = get(old_energy, t)
        value = value - 0.5 * get(change, t) * (get(old_pressure, t) + get(old_viscosity, t))
        put(energy, t, lang.max(value + 0.5 * get(work, t), LOWEST_ENERGY))


@lang.kernel
def find_pressure(
    members: ReadOnlyI32,
    energy: ReadOnlyF32,
    compression: ReadOnlyF32,
    bounded: ReadOnlyF32,
    pressure: lang.Buffer[lang.f32],
    stiffness: lang.Buffer[lang.f32],
    slope: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """Pressure of an ideal gas."""
    t = lang.global_id()
    if t < count:
        factor = GAS * (get(compression, t) + 1.0)
        put(stiffness, t, factor)
        put(slope, t, GAS)
        value = factor * get(energy, t)
        if lang.abs(value) < SMALLEST_PRESSURE or get(bounded, members[first + t]) >= MOST_VOLUME:
            value = lang.f32(0.0)
        put(pressure, t, lang.max(value, LOWEST_PRESSURE))


@lang.device
def speed_of_sound(square: lang.f32) -> lang.f32:
    """Its root, above 0."""
    speed = lang.f32(0.333333e-36)
    if square > 0.0:
        speed = lang.sqrt(square)
    return speed


@lang.device
def settled(energy: lang.f32) -> lang.f32:
    """An energy: 0 if it is very small."""
    if lang.abs(energy) < SMALLEST_ENERGY:
        energy = lang.f32(0.0)
    return lang.max(energy, LOWEST_ENERGY)


@lang.kernel
def correct_energy(
    half: ReadOnlyF32,
    change: ReadOnlyF32,
    slope: ReadOnlyF32,
    stiffness: ReadOnlyF32,
    half_pressure: ReadOnlyF32,
    old: Old,
    work: ReadOnlyF32,
    energy: lang.Buffer[lang.f32],
    viscosity: lang.Buffer[lang.f32],
    count: lang.i32,
) -> None:
    """Second part of the energy, and the viscosity in the middle of the step."""
    t = lang.global_id()
    if t < count:
        by = get(change, t)
        value = lang.f32(0.0)
        if by <= 0.0:
            volume = 1.0 / (1.0 + get(half, t))
            square = get(slope, t) * get(energy, t)
            square = square + volume * volume * get(stiffness, t) * get(half_pressure, t)
            value = speed_of_sound(square) * get(old.linear, t) + get(old.quadratic, t)
        put(viscosity, t, value)
        sum = 3.0 * (get(old.pressure, t) + get(old.viscosity, t))
        sum = sum - 4.0 * (get(half_pressure, t) + value)
        put(energy, t, settled(get(energy, t) + 0.5 * by * sum + 0.5 * get(work, t)))


@lang.device
def sound_in(gas: Gas, energy: ReadOnlyF32, element: lang.i32, place: lang.i32) -> lang.f32:
    """The square of the speed of sound in an element."""
    volume = get(gas.bounded, element)
    square = volume * volume * get(gas.stiffness, place) * get(gas.pressure, place)
    return get(gas.slope, place) * get(energy, place) + square


@lang.kernel
def finish_energy(
    members: ReadOnlyI32,
    gas: Gas,
    old: Old,
    half_pressure: ReadOnlyF32,
    viscosity: ReadOnlyF32,
    change: ReadOnlyF32,
    energy: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """Third part of the energy."""
    t = lang.global_id()
    if t < count:
        by = get(change, t)
        value = lang.f32(0.0)
        if by <= 0.0:
            e = members[first + t]
            square = sound_in(gas, energy, e, t)
            value = speed_of_sound(square) * get(old.linear, t) + get(old.quadratic, t)
        sum = 7.0 * (get(old.pressure, t) + get(old.viscosity, t))
        sum = sum - 8.0 * (get(half_pressure, t) + get(viscosity, t))
        sum = sum + get(gas.pressure, t) + value
        put(energy, t, settled(get(energy, t) - sum * by * (1.0 / 6.0)))


@lang.kernel
def finish_viscosity(
    members: ReadOnlyI32,
    change: ReadOnlyF32,
    gas: Gas,
    energy: ReadOnlyF32,
    linear: ReadOnlyF32,
    quadratic: ReadOnlyF32,
    viscosity: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """The viscosity at the end of the step, of elements that shrink."""
    t = lang.global_id()
    if t < count and get(change, t) <= 0.0:
        e = members[first + t]
        square = sound_in(gas, energy, e, t)
        value = speed_of_sound(square) * get(linear, t) + get(quadratic, t)
        if lang.abs(value) < SMALLEST_VISCOSITY:
            value = lang.f32(0.0)
        put(viscosity, t, value)


@lang.kernel
def keep_state(
    members: ReadOnlyI32,
    region_pressure: ReadOnlyF32,
    region_energy: ReadOnlyF32,
    region_viscosity: ReadOnlyF32,
    pressure: lang.Buffer[lang.f32],
    energy: lang.Buffer[lang.f32],
    viscosity: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """Copy a region's state back."""
    t = lang.global_id()
    if t < count:
        e = members[first + t]
        put(pressure, e, get(region_pressure, t))
        put(energy, e, get(region_energy, t))
        put(viscosity, e, get(region_viscosity, t))


@lang.kernel
def find_sound(
    members: ReadOnlyI32,
    gas: Gas,
    energy: ReadOnlyF32,
    sound: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """The speed of sound in an element."""
    t = lang.global_id()
    if t < count:
        e = members[first + t]
        square = sound_in(gas, energy, e, t)
        put(sound, e, lang.sqrt(lang.max(square, TINY)))


@lang.device
def block_minimum(times: lang.Buffer[lang.f32], result: lang.Buffer[lang.f32]) -> None:
    """The least of a block's words, stored by block."""
    thread = lang.thread_id()
    lang.barrier()
    offset = BLOCK // 2
    while offset > 0:
        if thread < offset:
            times[thread] = lang.min(times[thread], times[thread + offset])
        lang.barrier()
        offset = offset // 2
    if thread == 0:
        put(result, lang.block_id(), times[0])


@lang.kernel
def limit_by_sound(
    members: ReadOnlyI32,
    sound: ReadOnlyF32,
    dilation: ReadOnlyF32,
    length: ReadOnlyF32,
    result: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """The least time in which sound crosses an element that changes, of each block."""
    times = lang.shared(lang.f32, BLOCK)
    t = lang.global_id()
    time = lang.f32(LONGEST)
    if t < count:
        e = members[first + t]
        rate = get(dilation, e)
        size = get(length, e)
        square = get(sound, e) * get(sound, e)
        if rate < 0.0:
            square = square + COURANT * size * size * rate * rate
        if rate != 0.0:
            time = size / lang.sqrt(square)
    times[lang.thread_id()] = time
    block_minimum(times, result)


@lang.kernel
def limit_by_volume(
    members: ReadOnlyI32,
    dilation: ReadOnlyF32,
    result: lang.Buffer[lang.f32],
    first: lang.i32,
    count: lang.i32,
) -> None:
    """The least time in which an element's volume changes much, of each block."""
    times = lang.shared(lang.f32, BLOCK)
    t = lang.global_id()
    time = lang.f32(LONGEST)
    if t < count:
        rate = get(dilation, members[first + t])
        if rate != 0.0:
            time = MOST_CHANGE / (lang.abs(rate) + 1.0e-20)
    times[lang.thread_id()] = time
    block_minimum(times, result)
