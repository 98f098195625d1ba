"""Can a paper print the figures: fonts, sizes, names, colours that every reader tells apart, marked means?"""

import itertools
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import gpucoh
from gpucoh.figures.chart import WIDTHS, Bar, Chart, Options
from gpucoh.figures.charts import draw
from gpucoh.figures.looks import (
    CLASS_NAMES,
    PART_NAMES,
    SLOTS,
    STALL_NAMES,
    kind_look,
    protocol_looks,
    slot_look,
    stall_looks,
)
from gpucoh.figures.plots import ON_CHIP, WHOLE, energy_bars, save
from gpucoh.papers.catalogue import FIGURES as OF_PAPERS
from gpucoh.results.profile import CAUSES
from gpucoh.results.stats import Stalls
from gpucoh.runs.comparison import DEFAULT_PROTOCOLS, DEFAULT_WORKLOADS
from products import share
from registered import ALL

FIGURES = ("speedup", "traffic", "energy")


@pytest.fixture(scope="module")
def matrix():
    return gpucoh.compare(
        ["vec-cpy", "fg-share", "bfs"], ["no-l1", "no-coh", "gpu-vi"], scale="tiny"
    )


@pytest.fixture(scope="module")
def seeded():
    return gpucoh.compare(["bfs", "vec-cpy"], ["no-l1", "ideal"], scale="tiny", seeds=[0, 3])


def plot(comparison, name, **options):
    return getattr(comparison, f"plot_{name}")(**options)


def marks(axes, label):
    return [line for line in axes.lines if line.get_label() == label]


def words(figure):
    legend = figure.legends[0].get_texts() if figure.legends else []
    return {text.get_text() for axes in figure.axes for text in axes.texts} | {
        text.get_text() for text in legend
    }


# ---- files


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_a_pdf_has_truetype_fonts_alone(matrix, name, tmp_path):
    figure = plot(matrix, name)
    save(figure, tmp_path, name)
    figure.savefig(tmp_path / "by_the_user.pdf")
    for file in (f"{name}.pdf", "by_the_user.pdf"):
        data = (tmp_path / file).read_bytes()
        assert b"/FontFile2" in data
        assert b"/Type3" not in data


def test_drawing_leaves_the_users_settings_alone(matrix, tmp_path):
    before = dict(mpl.rcParams)
    matrix.plot_speedup().savefig(tmp_path / "x.pdf")
    assert dict(mpl.rcParams) == before


# ---- what the user chooses


@pytest.mark.parametrize(("width", "inches"), [("column", 3.3), ("page", 7.0), (5, 5.0)])
def test_a_figure_has_the_width_of_a_column_or_a_page(matrix, width, inches):
    assert matrix.plot_traffic(width=width).get_size_inches()[0] == inches


def test_a_narrow_figure_has_more_rows_on_one_scale(matrix):
    wide, narrow = (matrix.plot_speedup(width=width) for width in ("page", 1.6))
    assert len(wide.axes) == 1
    assert len(narrow.axes) > 1
    assert len({axes.get_ylim() for axes in narrow.axes}) == 1
    count = [sum(len(axes.patches) for axes in figure.axes) for figure in (wide, narrow)]
    assert count[0] == count[1]


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_a_title_is_chosen_or_left_out(matrix, name):
    assert "scale tiny, seed 0" in plot(matrix, name).get_suptitle()
    assert plot(matrix, name, title="Mine").get_suptitle() == "Mine"
    assert plot(matrix, name, title=None).get_suptitle() == ""


def names(figure):
    """The entries of the legend: bars first."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


def below(axes, rotation):
    """The texts below the bars."""
    bars = [text for text in axes.texts if text.get_rotation() == rotation and text.xy[1] == 0]
    return [text.get_text() for text in sorted(bars, key=lambda text: text.xy[0])]


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_bars_carry_proper_names_in_the_order_and_with_the_labels_given(matrix, name):
    said = ["NO-L1 (RC-MCA)", "NO-COH (none)", "GPU-VI (RC-MCA)"]
    assert names(plot(matrix, name))[:3] == said
    figure = plot(
        matrix, name, order=["gpu-vi", "no-l1"], labels={"no-l1": "none", "bfs": "search"}
    )
    assert names(figure)[:2] == ["GPU-VI (RC-MCA)", "none"]
    assert "search" in [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert "relative to none" in figure.axes[0].get_ylabel().replace("over", "relative to")


def test_a_figure_of_one_memory_model_says_it_in_the_title(seeded):
    """mesi under rc stood beside rcc-sc under sc, unmarked; names of bars say models that differ."""
    figure = seeded.plot_speedup()
    assert figure.get_suptitle().endswith("model RC-MCA)")
    assert names(figure)[:2] == ["NO-L1", "IDEAL-COH"]


def test_groups_with_the_same_bars_name_them_once_in_the_legend(matrix):
    """A figure of 7 groups had 42 names, turned by 90 degrees."""
    (axes,) = matrix.plot_speedup().axes
    assert below(axes, 0) == below(axes, 90) == []
    figure = matrix.plot_traffic()
    assert below(figure.axes[0], 0) == ["a", "b", "c"] * 4
    letters = [
        key.get_text() for key in figure.legends[0].findobj(Text) if len(key.get_text()) == 1
    ]
    assert letters == ["a", "b", "c"]


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_a_figure_of_one_group_or_without_a_legend_has_names_below_the_bars(matrix, name):
    said = ["NO-L1 (RC-MCA)", "NO-COH (none)", "GPU-VI (RC-MCA)"]
    assert below(plot(matrix, name, legend=None).axes[0], 90) == said * 4
    runs = tuple(run for run in matrix.runs if run.workload == "bfs")
    assert below(plot(replace(matrix, runs=runs), name).axes[0], 90) == said


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_figures_of_several_machines_have_charts_for_each(name):
    small = gpucoh.machine("fermi").replace(name="small", cores=4)
    runs = gpucoh.compare(
        "vec-cpy", ["no-l1", "ideal"], machines=["fermi", small], scale="tiny", jobs=2
    )
    titles = [axes.get_title(loc="left").split(":")[0] for axes in plot(runs, name).axes]
    assert list(dict.fromkeys(titles)) == ["fermi", "small"]


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_figures_draw_in_the_users_axes(matrix, name):
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert plot(matrix, name, ax=left) is figure
    assert left.patches
    assert not right.patches


def test_a_pair_of_axes_takes_total_and_network(matrix):
    axes = Figure().subplots(1, 2)
    matrix.plot_energy(ax=list(axes))
    assert all(at.patches for at in axes)
    with pytest.raises(gpucoh.ConfigError, match="at most 1"):
        matrix.plot_speedup(ax=list(axes))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": "colum"}, "width = 'colum'"),
        ({"width": 0.2}, "width = 0.2"),
        ({"order": ["gpu-iv"]}, "did you mean 'gpu-vi'"),
        ({"order": []}, "no protocols"),
        ({"labels": {"bsf": "x"}}, "did you mean 'bfs'"),
        ({"ax": 3}, "ax = 3"),
    ],
)
def test_bad_choices_are_refused(matrix, options, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        matrix.plot_speedup(**options)


# ---- means, wrong results, seeds


@pytest.mark.parametrize(
    ("name", "kind"), [("speedup", "harmonic"), ("traffic", "arithmetic"), ("energy", "arithmetic")]
)
def test_every_figure_names_its_mean_and_marks_one_over_fewer_workloads(matrix, name, kind):
    figure = plot(matrix, name)
    for axes in figure.axes:
        assert axes.get_xticklabels()[-1].get_text() == f"{kind}\nmean"
        assert [text.get_text() for text in axes.texts if " of " in text.get_text()] == ["2 of 3"]
    assert "n of 3: workloads in mean" in words(figure)


@pytest.mark.parametrize("name", share(["traffic", "energy"], one_in=4))
def test_a_label_interrupts_the_dashed_line(matrix, name):
    figure = plot(matrix, name, width="page")
    FigureCanvasAgg(figure).draw()
    point = figure.dpi / 72
    labels = [text for axes in figure.axes for text in axes.texts if " of " in text.get_text()]
    assert labels
    for label in labels:
        text = mpl.text.Text.get_window_extent(label)
        box = label.get_bbox_patch().get_window_extent()
        assert text.x0 - box.x0 >= 0.9 * point
        assert box.x1 - text.x1 >= 0.9 * point


def test_the_mean_is_over_the_workloads_without_wrong_results(matrix):
    axes = matrix.plot_speedup().axes[0]
    drawn = [bar.get_height() for bar in axes.patches[-3:]]
    assert drawn == pytest.approx([row["speedup_harmonic"] for row in matrix.mean_rows()])


@pytest.mark.parametrize("name", share(FIGURES, one_in=4))
def test_a_wrong_result_has_one_mark_also_in_the_legend(matrix, name):
    figure = plot(matrix, name)
    for axes in figure.axes:
        (cross,) = marks(axes, "wrong")
        (key,) = [line for line in figure.legends[0].get_lines() if line.get_marker() == "x"]
        assert (cross.get_marker(), cross.get_color()) == (key.get_marker(), key.get_color())


def test_a_wrong_run_far_above_the_others_is_broken_and_keeps_its_shares(matrix):
    wrong = matrix.run("fg-share", "no-coh")
    energy = {name: 50 * joules for name, joules in wrong.stats.energy.items()}
    stats = gpucoh.Stats(dict(wrong.stats) | {"energy": energy})
    runs = [replace(wrong, stats=stats) if run is wrong else run for run in matrix.runs]
    above = replace(matrix, runs=tuple(runs)).plot_energy().axes[0]
    assert len(marks(above, "break")) == 1
    x = marks(above, "break")[0].get_xdata().mean()
    drawn = {
        bar.get_label(): bar.get_height()
        for bar in above.patches
        if abs(bar.get_x() + bar.get_width() / 2 - x) < 0.01
    }
    assert sum(drawn.values()) < above.get_ylim()[1]
    parts = energy_bars(matrix, ["no-coh"], WHOLE)["fg-share"][0].parts
    shares = {part: height / sum(drawn.values()) for part, height in drawn.items()}
    assert shares == pytest.approx({p: v / sum(parts.values()) for p, v in parts.items()})


def test_a_bar_has_whiskers_from_the_smallest_to_the_largest_seed(seeded):
    axes = seeded.plot_speedup().axes[0]
    ratios = sorted(
        row["speedup"]
        for row in seeded.summary
        if (row["workload"], row["protocol"]) == ("bfs", "ideal")
    )
    spans = [tuple(line.get_ydata()) for line in marks(axes, "spread")]
    assert pytest.approx(tuple(ratios)) in spans
    heights = [bar.get_height() for bar in axes.patches]
    assert any(height == pytest.approx(sum(ratios) / 2) for height in heights)
    assert "smallest to largest seed" in words(seeded.plot_speedup())
    assert "mean of 2 seeds" in seeded.plot_speedup().get_suptitle()


def test_one_seed_has_no_whiskers(matrix):
    assert not marks(matrix.plot_speedup().axes[0], "spread")


def assert_no_text_overlaps(figure):
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    items = [*(figure.legends[0].get_texts() if figure.legends else ()), figure._suptitle]
    for axes in figure.axes:
        items += [*axes.texts, axes._left_title, axes.xaxis.label, axes.yaxis.label]
        left, right = axes.get_xlim()
        shown = axes.xaxis.get_tick_params().get("labelbottom", True)
        ticks = axes.get_xticklabels() if shown else ()
        items += [tick for tick in ticks if left <= tick.get_position()[0] <= right]
    items = [item for item in items if item.get_text()]
    assert min(item.get_fontsize() for item in items) >= 6
    boxes = [(item.get_text(), item.get_window_extent(canvas.get_renderer())) for item in items]
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        assert not first.shrunk(0.95, 0.95).overlaps(second), (one, other)
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text


@pytest.mark.parametrize(("name", "width"), share(FIGURES, ["column", "page"], one_in=4))
def test_no_text_overlaps_another(matrix, name, width):
    assert_no_text_overlaps(plot(matrix, name, width=width))


@pytest.mark.parametrize(("number", "width"), share([4, 6, 8], ["column", "page"], one_in=4))
def test_no_text_overlaps_another_in_crowded_figures(number, width):
    protocols = list(ALL)[:number]
    bars = [Bar(protocol=name, parts={"": 1.0}) for name in protocols]
    chart = Chart(
        groups={f"load{place}": bars for place in range(9)},
        looks=protocol_looks(protocols),
        label="speedup",
    )
    assert_no_text_overlaps(draw([chart], Options(width=width), "Title"))


@pytest.mark.parametrize(
    ("parts", "width"), share([{"": 1.0}, {"REQ": 0.5, "LD": 0.4}], ["column", "page"], one_in=4)
)
def test_no_text_overlaps_another_in_the_default_comparison(parts, width):
    """Seven groups of six bars."""
    chart = Chart(
        groups={
            name: [Bar(protocol=protocol, parts=parts) for protocol in DEFAULT_PROTOCOLS]
            for name in (*DEFAULT_WORKLOADS, "arithmetic\nmean")
        },
        looks=protocol_looks(DEFAULT_PROTOCOLS) | {kind: kind_look(kind) for kind in CLASS_NAMES},
        names=CLASS_NAMES,
        label="flits relative to NO-L1",
    )
    figure = draw([chart], Options(width=width), "Title")
    assert_no_text_overlaps(figure)
    assert figure.get_size_inches()[0] == WIDTHS[width]


@pytest.mark.parametrize("width", share(["column", "page"], one_in=4))
def test_no_text_overlaps_another_in_figures_over_time_and_over_numbers(width):
    run = gpucoh.run("bh", "tc-weak", scale="tiny", every=2000)
    assert_no_text_overlaps(gpucoh.plot_intervals(run, width=width))
    rows = [
        (cores, protocol, 1000 * cores + seed)
        for cores in (4, 8, 16, 32, 64, 128, 256)
        for protocol in DEFAULT_PROTOCOLS
        for seed in range(2)
    ]
    table = pd.DataFrame(rows, columns=["set_cores", "protocol", "cycles"])
    assert_no_text_overlaps(
        gpucoh.plot.lines(table, "set_cores", "cycles", "protocol", width=width)
    )


@pytest.mark.parametrize("dpi", share([100, 300], one_in=4))
def test_no_text_overlaps_another_below_the_workloads_of_a_paper(dpi):
    """A row of names, some of which are wider than their bars; ticks whose labels differ in width."""
    paper = "snapc lulesh hpgmg bc cache-reuse fg-share vec-cpy fw mis fft nn dgemm geometric\nmean"
    tall = {"vec-cpy": 1.7, "fw": 2.385}
    groups = {
        name: [
            Bar(protocol="src", parts={"": 1.0}),
            Bar(protocol="stc-mb", parts={"": tall.get(name, 1.1)}),
        ]
        for name in paper.split(" ")
    }
    looks = protocol_looks(["src", "stc-mb"])
    chart = Chart(groups=groups, looks=looks, label="execution time relative to SRC")
    figure = draw([chart], Options(), "Title")
    figure.dpi = dpi
    assert_no_text_overlaps(figure)
    below = [name.get_window_extent() for name in figure.axes[0].get_xticklabels()]
    assert all(left.x1 + 1 < right.x0 for left, right in itertools.pairwise(below))


# ---- colours: contrast as WCAG 2 defines it; dichromacy as Machado, Oliveira and Fernandes (2009) simulate it

VISIONS = {
    "full": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
DISTINCT = 12.0  # CIELAB distance; 2.3 is just noticeable


def linear(colour):
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    xyz = TO_XYZ @ np.clip(rgb, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(one, other):
    """The smallest distance of two colours over the kinds of vision."""
    return min(
        float(np.linalg.norm(lab(m @ linear(one)) - lab(m @ linear(other))))
        for m in map(np.array, VISIONS.values())
    )


def contrast(colour):
    """The contrast of a colour to white."""
    return 1.05 / (float(TO_XYZ[1] @ linear(colour)) + 0.05)


def test_contrast_and_distance_are_those_known():
    assert contrast("black") == pytest.approx(21)
    assert contrast("#767676") == pytest.approx(4.54, abs=0.01)
    assert distance("#ff0000", "#ff0000") == 0
    # red and green of equal lightness: far apart for most readers, near for one without green receptors
    assert (
        distance("#b85c00", "#7a7a00")
        < 12
        < np.linalg.norm(lab(linear("#b85c00")) - lab(linear("#7a7a00")))
    )


def test_every_protocol_colour_is_dark_on_white():
    assert min(contrast(slot_look(slot)["facecolor"]) for slot in range(SLOTS)) >= 3


def differ(first, second):
    """Whether the colours of two looks differ for every reader."""
    return distance(first["facecolor"], second["facecolor"]) >= DISTINCT


def test_the_protocols_looks_differ_for_every_reader():
    looks = protocol_looks(list(ALL))
    for (one, first), (other, second) in itertools.combinations(looks.items(), 2):
        assert differ(first, second) or first["hatch"] != second["hatch"], (one, other)


def test_the_protocols_of_a_papers_figure_differ_in_hatch_and_in_colour_for_every_reader():
    for spec in itertools.chain(*OF_PAPERS.values()):
        names = {name.split("[")[0] for name in getattr(spec, "protocols", ())}
        looks = protocol_looks(sorted(names))
        for (one, first), (other, second) in itertools.combinations(looks.items(), 2):
            assert first["hatch"] != second["hatch"], (spec.id, one, other)
            assert differ(first, second), (spec.id, one, other)


def test_slots_of_one_hatch_differ_in_colour_for_every_reader():
    for one, other in itertools.combinations(range(SLOTS), 2):
        first, second = slot_look(one), slot_look(other)
        if first["hatch"] == second["hatch"]:
            assert distance(first["facecolor"], second["facecolor"]) >= DISTINCT, (one, other)


@pytest.mark.parametrize("kinds", [tuple(CLASS_NAMES), ON_CHIP, WHOLE])
def test_parts_of_a_bar_differ_in_hatch_or_in_colour_for_every_reader(kinds):
    for one, other in itertools.combinations(kinds, 2):
        first, second = kind_look(one), kind_look(other)
        assert (
            first["hatch"] != second["hatch"]
            or distance(first["facecolor"], second["facecolor"]) >= DISTINCT
        ), (one, other)


def lightness(look):
    return float(lab(linear(look["facecolor"]))[0])


def test_causes_of_stalls_differ_in_colour_for_every_reader_and_in_print_without_colour():
    """Figures over time had six shades of one blue, 8 units of lightness apart."""
    looks = stall_looks(STALL_NAMES)
    for (one, first), (other, second) in itertools.combinations(looks.items(), 2):
        assert differ(first, second), (one, other)
        grey = abs(lightness(first) - lightness(second))
        assert grey >= DISTINCT or first["hatch"] != second["hatch"], (one, other)
    assert all(lightness(look) > 60 for look in looks.values())  # hatches are black


def test_every_cause_of_stalls_has_a_look_of_its_own():
    whole = [name for name in Stalls.__annotations__ if name not in CAUSES or "_" not in name]
    assert set(whole) <= set(STALL_NAMES)
    looks = stall_looks(CAUSES)
    assert len({(look["facecolor"], look["hatch"]) for look in looks.values()}) == len(CAUSES)
    assert looks["fence_store"]["facecolor"] == stall_looks(["fence"])["fence"]["facecolor"]


def test_a_cause_of_stalls_looks_the_same_over_time_and_in_bars():
    run = gpucoh.run("bh", "tc-weak", scale="tiny", every=2000)
    over_time, bars = (
        {
            text.get_text(): patch.get_facecolor()
            for patch, text in zip(
                figure.legends[0].get_patches(), figure.legends[0].get_texts(), strict=True
            )
        }
        for figure in (gpucoh.plot_intervals(run), gpucoh.plot.stalls(run))
    )
    assert {"time", "fence", "scoreboard"} <= over_time.keys() & bars.keys()
    assert all(bars[name] == over_time[name] for name in over_time.keys() & bars.keys())


def test_a_colour_has_one_meaning_in_all_figures():
    slots = {slot_look(slot)["facecolor"] for slot in range(SLOTS)}
    kinds = [kind_look(kind)["facecolor"] for kind in (*CLASS_NAMES, *PART_NAMES)]
    kinds += [look["facecolor"] for look in stall_looks(STALL_NAMES).values()]
    assert len(set(kinds)) == len(kinds)
    assert not slots & set(kinds)


def test_a_protocol_looks_the_same_in_every_figure():
    names = list(ALL)
    looks = protocol_looks(names)
    assert all(protocol_looks([name])[name] == looks[name] for name in names)
    assert looks["gpu-vi"]["facecolor"] == "#3f8fd9"


def test_options_change_the_hatch_and_not_the_colour():
    looks = protocol_looks(["tc-weak[lifetime=0]", "tc-weak", "tc-weak[lifetime=800]"])
    assert len({look["facecolor"] for look in looks.values()}) == 1
    assert len({look["hatch"] for look in looks.values()}) == 3
    assert looks["tc-weak"] == protocol_looks(["tc-weak"])["tc-weak"]
