"""The figure of timing: the barrier's curves of protocols against GPUs'."""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, NullLocator

from gpucoh.base.canvas import Canvas, points, style
from gpucoh.device.gpu import resolve
from gpucoh.hardware.judgement import CUT_OFF
from gpucoh.hardware.published import Gpu
from gpucoh.hardware.timing import BLOCKS, Judged

_COLOURS = ("#1f78b4", "#e31a1c", "#33a02c", "#ff7f00", "#6a3d9a", "#b15928", "#a6761d", "#666666")


def draw_curves(judged: Sequence[Judged], gpus: Sequence[Gpu]) -> Figure:
    """Draw a panel for each GPU: cycles a pass by threads a block, a colour for each family of protocols."""
    families = {item.protocol: resolve(item.protocol).protocol.family for item in judged}
    names = list(dict.fromkeys(families.values()))
    colours = {name: _COLOURS[i % len(_COLOURS)] for i, name in enumerate(names)}
    with mpl.rc_context(style()):
        columns = min(3, len(gpus))
        rows = -(-len(gpus) // columns)
        figure = Canvas(figsize=(2.4 * columns + 0.2, points(1.9) * rows + 0.6), layout="constrained")  # fmt: skip
        panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
        for ax in panels[len(gpus) :]:
            ax.set_axis_off()
        for ax, gpu in zip(panels, gpus, strict=False):
            for item in judged:
                if item.gpu == gpu.id:
                    cycles = [math.nan if math.isinf(one) else one for one in item.barrier]
                    ax.plot(BLOCKS, cycles, color=colours[families[item.protocol]], lw=0.7)
            if gpu.barrier is not None:
                known = gpu.barrier.cycles
                ax.plot(BLOCKS, known, "ko-", ms=2.5, lw=1.4)
                ax.set_ylim(min(known) / 2, CUT_OFF * max(known))
            ax.set(xscale="log", yscale="log", title=gpu.name)
            ax.xaxis.set_major_locator(FixedLocator(BLOCKS))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.set_xticks(BLOCKS, [str(block) for block in BLOCKS])
        figure.supxlabel("threads a block")
        figure.supylabel("core cycles a pass")
        lines = [Line2D([], [], color="k", marker="o", ms=2.5, label="GPU")]
        lines += [Line2D([], [], color=colours[name], label=name) for name in names]
        figure.legend(handles=lines, loc="outside upper center", ncols=3, frameon=False)
    return figure
