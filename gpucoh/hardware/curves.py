"""The figure of timing: the barrier's curves of protocols against GPUs'."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, LogLocator, NullLocator, StrMethodFormatter

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.device.gpu import protocols, resolve
from gpucoh.hardware.judgement import CUT_OFF
from gpucoh.hardware.published import Gpu
from gpucoh.hardware.timing import BLOCKS, Judged

# Of families, in the order of the protocols' list: the colours differ for every reader, the strokes in print.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#e69f00", "#56b4e9", "#cc79a7", "#7a5c00", "#7f7f7f")
_STROKES = ("-", "--", "-.", ":")

_GPU: Any = {"color": "k", "marker": "o", "ms": 2.5, "lw": 1.2}
_STOPPED: Any = {"marker": "^", "ms": 3, "lw": 0, "clip_on": False}


def _looks() -> dict[str, dict[str, Any]]:
    """Colour and stroke of each family, whatever protocols are drawn."""
    names = dict.fromkeys(choice.family for choice in protocols().values())
    return {
        name: {"color": _COLOURS[i % len(_COLOURS)], "ls": _STROKES[i % len(_STROKES)], "lw": 0.8}
        for i, name in enumerate(names)
    }


def draw_curves(judged: Sequence[Judged], gpus: Sequence[Gpu]) -> Figure:
    """Draw a panel for each GPU: cycles a pass by threads a block, a look for each family of protocols.

    A triangle is where a run was stopped, at :data:`CUT_OFF` times the GPU's cycles.
    """
    families = {item.protocol: resolve(item.protocol).protocol.family for item in judged}
    looks = {name: look for name, look in _looks().items() if name in families.values()}
    handles = [Line2D([], [], label="GPU", **_GPU)]
    handles += [Line2D([], [], label=name, **look) for name, look in looks.items()]
    if any(map(math.isinf, (one for item in judged for one in item.barrier))):
        handles.append(
            Line2D([], [], color="k", label=f"stopped at {CUT_OFF}x the GPU", **_STOPPED)
        )
    columns = min(3, len(gpus))
    rows, of_legend = -(-len(gpus) // columns), -(-len(handles) // columns)
    with mpl.rc_context(style()):
        size = (2.4 * columns + 0.2, points(1.9) * rows + points(0.17) * of_legend + 0.2)
        figure = Canvas(figsize=size, layout="constrained")
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for ax in panels[len(gpus) :]:
            ax.set_axis_off()
        for ax, gpu in zip(panels, gpus, strict=False):
            for item in judged:
                if item.gpu == gpu.id:
                    _draw(ax, item, gpu, looks[families[item.protocol]])
            if gpu.barrier is not None:
                ax.plot(BLOCKS, gpu.barrier.cycles, zorder=3, **_GPU)
            ax.set(xscale="log", yscale="log", title=gpu.name)
            ax.xaxis.set_major_locator(FixedLocator(BLOCKS))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.set_xticks(BLOCKS, [str(block) for block in BLOCKS])
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
            ax.yaxis.set_minor_locator(NullLocator())
        known = [one for gpu in gpus if gpu.barrier for one in gpu.barrier.cycles]
        if known:
            panels[0].set_ylim(min(known) / 2, CUT_OFF * max(known))
        figure.supxlabel("threads a block")
        figure.supylabel("core cycles a pass")
        figure.legend(handles=handles, loc="outside upper center", ncols=columns, frameon=False)
    return figure


def _draw(ax: Any, item: Judged, gpu: Gpu, look: dict[str, Any]) -> None:
    """Draw a protocol's curve, with a gap and a triangle where a run was stopped."""
    cycles = [math.nan if math.isinf(one) else one for one in item.barrier]
    ax.plot(BLOCKS[: len(cycles)], cycles, **look)
    if gpu.barrier is not None:
        stopped = [
            CUT_OFF * known if math.isinf(one) else math.nan
            for known, one in zip(gpu.barrier.cycles, item.barrier, strict=True)
        ]
        ax.plot(BLOCKS, stopped, color=look["color"], **_STOPPED)
