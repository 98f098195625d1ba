"""A trace in Perfetto's format: protocol buffers by its published schema, ``perfetto/trace/trace.proto``.

A core cycle is one nanosecond of Perfetto's time. Each warp has a track with its accesses, and below them the stages of
their requests; each controller has one with its steps. On several dies each die has a track, with those of its cores
and controllers below it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpucoh.results.dies import group_of
from gpucoh.results.trace.timeline import Timeline

# Numbers of fields: Trace.packet; TracePacket; TrackEvent; TrackDescriptor.
_PACKET = 1
_TIMESTAMP, _SEQUENCE, _EVENT, _FLAGS, _DESCRIPTOR = 8, 10, 11, 13, 60
_TYPE, _TRACK, _CATEGORIES, _NAME, _FLOWS, _ANNOTATION = 9, 11, 22, 23, 47, 4
_UUID, _TRACK_NAME, _PARENT = 1, 2, 5
_ANNOTATION_NAME, _ANNOTATION_TEXT = 10, 6
_BEGIN, _END, _INSTANT = 1, 2, 3
_ROOT = 1


def encode(timeline: Timeline) -> bytes:
    """The bytes of a trace file."""
    return b"".join(_bytes(_PACKET, packet) for packet in _packets(timeline))


def _packets(timeline: Timeline) -> Iterator[bytes]:
    yield _track(_ROOT, timeline.title, None) + _number(_FLAGS, 1)
    numbers = {name: _ROOT + 1 + i for i, name in enumerate(timeline.lanes)}
    dies = dict.fromkeys(die for name in timeline.lanes if (die := group_of(name)[0]))
    parents = {"": _ROOT} | {die: _ROOT + 1 + len(numbers) + i for i, die in enumerate(dies)}
    for die in dies:
        yield _track(parents[die], die, _ROOT)
    for name, number in numbers.items():
        die, within = group_of(name)
        yield _track(number, within, parents[die])
    for item in timeline.items:
        track = numbers[item.lane]
        kind = _BEGIN if item.end > item.begin else _INSTANT
        yield _event(
            item.begin,
            _number(_TYPE, kind)
            + _number(_TRACK, track)
            + _text(_NAME, item.name)
            + _text(_CATEGORIES, item.kind)
            + b"".join(
                _bytes(_ANNOTATION, _text(_ANNOTATION_NAME, name) + _text(_ANNOTATION_TEXT, value))
                for name, value in item.details.items()
            )
            + (_fixed64(_FLOWS, item.flow) if item.flow else b""),
        )
        if kind == _BEGIN:
            yield _event(item.end, _number(_TYPE, _END) + _number(_TRACK, track))


def _track(number: int, name: str, parent: int | None) -> bytes:
    inside = _number(_UUID, number) + _text(_TRACK_NAME, name)
    if parent is not None:
        inside += _number(_PARENT, parent)
    return _number(_SEQUENCE, 1) + _bytes(_DESCRIPTOR, inside)


def _event(cycle: int, inside: bytes) -> bytes:
    return _number(_TIMESTAMP, cycle) + _number(_SEQUENCE, 1) + _bytes(_EVENT, inside)


# ---- protocol buffers: https://protobuf.dev/programming-guides/encoding


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode())


def _fixed64(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + value.to_bytes(8, "little")
