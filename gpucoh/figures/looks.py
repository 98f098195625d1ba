"""Colours, hatches and names in figures: one look per protocol, message class and part of the energy, in every figure.

A protocol's look follows from its slot: six slots a family, of one hue, in three shades.
Protocols are dark with white hatches, classes and parts light with black ones, so that no look has two meanings.
Colours of protocols have a contrast of at least 3:1 to white; looks that share a hatch differ in lightness or along
the axis from blue to yellow, so that readers without red or green receptors and prints without colour tell them apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpucoh.device.choices import split_options
from gpucoh.device.gpu import protocols, resolve

Look = dict[str, object]

# family -> three shades, of which its slots 0 to 2 and 3 to 5 have one each
_SHADES = (
    ("#111111", "#8a8a8a", "#525252"),
    ("#0b3c7d", "#3f8fd9", "#1763b5"),
    ("#7a3b00", "#d55e00", "#a84b00"),
    ("#1b5e20", "#4c9a2a", "#2f7d32"),
    ("#4a148c", "#a678d8", "#7b3fb5"),
    ("#7f0f2b", "#d6527a", "#b02050"),
)
_SLOT_HATCHES = (
    ("", "...", "xxx", "|||", "ooo", "---"),
    ("///", "---", "+++", "\\\\\\", "", "|||"),
    ("\\\\\\", "ooo", "+++", "///", "", "|||"),
    ("...", "xxx", "---", "xxx", "...", "///"),
    ("ooo", "xxx", "...", "xxx", "ooo", "\\\\\\"),
    ("+++", "|||", "\\\\\\", "ooo", "", ""),
)
_HATCHES = ("", "///", "\\\\\\", "...", "xxx", "---", "ooo", "+++", "|||")
SLOTS = 6 * len(_SHADES)
# Protocols of this table are told apart in every figure; others take slots that it leaves free. The first slots of the
# families: 0 baselines, 6 invalidation, 12 timestamps, 18 DeNovo, 24 scoped synchronisation, 30 others.
_PROTOCOL_SLOTS = {
    "no-l1": 0, "no-coh": 1, "ideal": 2, "sc-ideal": 3, "ideal-dies": 4,
    "mesi": 6, "gpu-vi": 7, "gpu-vini": 8, "mesi-wt": 10,
    "tc-strong": 12, "tc-weak": 13, "rcc-wo": 15, "rcc-sc": 17,
    "denovo-drf": 18, "denovo-ro": 19, "denovo-hrf": 20,
    "gpu-drf": 24, "gpu-hrf": 29,
    "src": 14, "stc-nv": 31, "stc-es": 33, "stc-ab": 22, "stc-mb": 35,
    "rfo": 9, "wt": 26, "qr": 27, "mcm": 30, "flush": 32, "cpelide": 28, "sw-hier": 34, "nhcc": 11, "hmg": 16,
    "lrm": 21,
}  # fmt: skip

CLASS_NAMES = {
    "REQ": "requests",
    "LD": "load data",
    "ST": "stores",
    "ATO": "atomics",
    "INV": "invalidations",
    "RCL": "recalls",
    "REG": "registrations",
    "WB": "write-backs",
    "EPOCH": "epoch changes",
}
PART_NAMES = {
    "noc_dynamic": "network, dynamic",
    "noc_static": "network, static",
    "l1": "L1",
    "l2": "L2",
    "arrays": "directories, buffers, L3",
    "on_chip": "network and caches",
    "dram": "DRAM",
    "core": "cores, scratchpads",
}
# message class or part of the energy -> fill and hatch
_KINDS = {
    "REQ": ("#d0d0d0", ""),
    "LD": ("#f7fbff", ""),
    "ST": ("#9ecae1", "///"),
    "ATO": ("#fee391", "..."),
    "INV": ("#fdae6b", "\\\\\\"),
    "RCL": ("#dadaeb", "xxx"),
    "REG": ("#a1d99b", "+++"),
    "WB": ("#fcbba1", "ooo"),
    "EPOCH": ("#e5f5e0", "|||"),
    "noc_dynamic": ("#7fb0d8", ""),
    "noc_static": ("#ecf2f8", "///"),
    "l1": ("#fed9a6", "\\\\\\"),
    "l2": ("#ffffcc", "..."),
    "arrays": ("#ccebc5", "+++"),
    "on_chip": ("#a6bddb", "xxx"),
    "dram": ("#e5d8bd", "///"),
    "core": ("#e6e6e6", ""),
}
# Cause of a stall, or its sum -> fill and hatch. Any two fills differ for every reader; those of one hatch differ in
# lightness, so that prints without colour tell them apart.
_STALLS = {
    "issue": ("#dadada", ""),
    "scoreboard": ("#65b4fb", "///"),
    "poll": ("#f2d276", "..."),
    "lock": ("#f4a582", "\\\\\\"),
    "memory_order": ("#cbbcf0", "xxx"),
    "fence": ("#8fcead", "+++"),
    "time": ("#ffebd4", "\\\\\\"),
    "load_store_queue": ("#c3aa59", "---"),
    "barrier": ("#cee7ff", "ooo"),
    "sleep": ("#859ed3", ""),
    "unit": ("#e8f7a0", "///"),
    "drain": ("#c99cc1", "..."),
    "launch": ("#7aac9c", "ooo"),
    "others": ("#ffffff", "xxx"),
}
STALL_NAMES = tuple(_STALLS)


def slot_look(slot: int, variant: int = 0) -> Look:
    """Colour and hatch of a slot; a further ``variant`` of the protocol has the colour and another hatch."""
    family, place = divmod(slot % SLOTS, 6)
    hatch = _SLOT_HATCHES[family][place]
    if variant:
        hatch = _HATCHES[(_HATCHES.index(hatch) + variant) % len(_HATCHES)]
    return {
        "facecolor": _SHADES[family][place % 3],
        "hatch": hatch,
        "edgecolor": "white",
        "linewidth": 0.4,
    }


def protocol_slot(name: str) -> int:
    """The slot of a protocol's id.

    Examples
    --------
    >>> protocol_slot("mesi"), protocol_slot("tc-weak")
    (6, 13)
    """
    if name in _PROTOCOL_SLOTS:
        return _PROTOCOL_SLOTS[name]
    free = [slot for slot in range(SLOTS - 1, -1, -1) if slot not in _PROTOCOL_SLOTS.values()]
    others = [other for other in protocols() if other not in _PROTOCOL_SLOTS]
    return free[others.index(name) % len(free)]


def protocol_looks(names: Sequence[str]) -> dict[str, Look]:
    """The looks of protocols; those that differ in options alone share the colour, and the first has the hatch."""
    out: dict[str, Look] = {}
    seen: dict[int, int] = {}
    for text in sorted(names, key=lambda text: "[" in text):
        slot = protocol_slot(resolve(text).protocol.id)
        out[text] = slot_look(slot, seen.setdefault(slot, 0))
        seen[slot] += 1
    return out


def looks_of(values: Sequence[str], protocols: bool) -> dict[str, Look]:
    """The looks of protocols, or those of other values: in order, one of each family first."""
    if protocols:
        return protocol_looks(values)
    order = [6 * family + place for place in range(6) for family in range(len(_SHADES))]
    return {value: slot_look(order[number % SLOTS]) for number, value in enumerate(values)}


def stall_looks(causes: Sequence[str]) -> dict[str, Look]:
    """Fills and hatches of causes of stalls, the same in every figure.

    A part of a cause, such as ``fence_store``, has its colour, and a hatch that no other of its parts has here.
    """
    out: dict[str, Look] = {}
    parts: dict[str, int] = {}
    for cause in causes:
        whole = next((name for name in _STALLS if cause.startswith(f"{name}_")), "others")
        colour, hatch = _STALLS.get(cause, _STALLS[whole])
        if cause not in _STALLS:
            parts[whole] = parts.get(whole, -1) + 1
            hatch = _HATCHES[(_HATCHES.index(hatch) + parts[whole]) % len(_HATCHES)]
        out[cause] = _part_look(colour, hatch)
    return out


def kind_look(kind: str) -> Look:
    """Fill and hatch of a message class or a part of the energy."""
    return _part_look(*_KINDS[kind])


def _part_look(colour: str, hatch: str) -> Look:
    return {"facecolor": colour, "hatch": hatch, "edgecolor": "black", "linewidth": 0.4}


def proper_name(text: str, labels: Mapping[str, str] | None = None) -> str:
    """A protocol's name in figures, with its options; ``labels`` has precedence.

    Examples
    --------
    >>> proper_name("gpu-vi"), proper_name("tc-weak[lifetime=800]")
    ('GPU-VI', 'TC-Weak lifetime=800')
    """
    if labels and text in labels:
        return labels[text]
    options = split_options(text)[1]
    name = resolve(text).protocol.name
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])
