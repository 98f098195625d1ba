"""Do the figures of tables draw what the tables hold, with the legend, title and text that the user chooses?"""

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.figure import Figure

import gpucoh
from gpucoh import plot
from products import rows


@pytest.fixture(scope="module")
def matrix():
    return gpucoh.compare(["vec-cpy", "fg-share"], ["no-l1", "rcc-sc"], scale="tiny", jobs=2)


@pytest.fixture
def table():
    rows = [(4.0, "mesi", 10), (4.0, "mesi", 20), (4.0, "tc-weak", 30), (8.5, "mesi", 5)]
    return pd.DataFrame(rows, columns=["set_l1_kib", "protocol", "cycles"])


def legend_of(figure):
    found = [figure.legends[0]] if figure.legends else [figure.axes[0].get_legend()]
    return [text.get_text() for one in found if one for text in one.get_texts()]


def heights(axes):
    return [bar.get_height() for bar in axes.patches]


def test_bars_are_means_of_the_rows_with_whiskers(table):
    figure = plot.bars(table, "set_l1_kib", "cycles", "protocol")
    (axes,) = figure.axes
    assert heights(axes) == [15, 30, 5]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "8.5"]
    assert legend_of(figure) == ["MESI", "TC-Weak", "smallest to largest"]
    assert tuple(next(line for line in axes.lines).get_ydata()) == (10, 20)
    assert figure.get_suptitle() == "cycles by set_l1_kib and protocol"


def test_bars_need_no_second_column_and_any_table_will_do(table):
    figure = plot.bars(
        table.rename(columns={"protocol": "p"}), "p", "cycles", labels={"cycles": "time"}
    )
    assert heights(figure.axes[0]) == [pytest.approx(35 / 3), 30]
    assert figure.axes[0].get_ylabel() == "time"


def test_a_run_with_a_wrong_result_is_crossed_out(table):
    wrong = table.assign(correct=[True, True, False, True])
    figure = plot.bars(wrong, "set_l1_kib", "cycles", "protocol")
    assert "wrong result" in legend_of(figure)


@pytest.fixture
def scaled():
    rows = [
        (16, "mesi", 40),
        (4, "mesi", 10),
        (4, "mesi", 20),
        (64, "mesi", 90),
        (8.0, "no-l1", 30),
    ]
    return pd.DataFrame(rows, columns=["set_cores", "protocol", "cycles"])


def drawn(axes):
    """The lines that join points."""
    return [line for line in axes.lines if line.get_linestyle() == "-" and len(line.get_xdata())]


def test_lines_join_the_means_of_the_rows_in_order_of_the_numbers(scaled):
    figure = plot.lines(
        scaled, "set_cores", "cycles", "protocol", labels={"set_cores": "cores", "mesi": "M"}
    )
    (axes,) = figure.axes
    assert list(drawn(axes)[0].get_xdata()) == [4, 16, 64]
    assert list(drawn(axes)[0].get_ydata()) == [15, 40, 90]
    assert legend_of(figure) == ["M", "NO-L1", "smallest to largest"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("cores", "cycles")
    assert axes.get_ylim()[0] == 0
    assert figure.get_size_inches()[0] == 3.3


def test_numbers_of_lines_have_a_tick_each_on_a_logarithmic_axis(scaled):
    (axes,) = plot.lines(scaled, "set_cores", "cycles").axes
    axes.figure.draw_without_rendering()
    assert axes.get_xscale() == "log"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["4", "8", "16", "64"]
    (near,) = plot.lines(scaled[scaled["set_cores"] < 20], "set_cores", "cycles").axes
    assert near.get_xscale() == "linear"


def test_lines_cross_out_wrong_results_and_leave_out_rows_without_a_number(scaled):
    table = scaled.assign(correct=[True, True, True, False, True])
    table.loc[4, "cycles"] = None
    figure = plot.lines(table, "set_cores", "cycles", "protocol")
    (cross,) = [
        line for line in figure.axes[0].lines if line.get_marker() == "x" and len(line.get_xdata())
    ]
    assert list(cross.get_xdata()) == [64]
    assert legend_of(figure) == ["MESI", "wrong result", "smallest to largest"]


def test_lines_follow_an_explanation():
    runs = [
        gpucoh.run("vec-cpy", "mesi", scale="tiny", set={"cores": n}, profile=True) for n in (2, 4)
    ]
    table = gpucoh.explain(*runs).table.query("measure == 'bank_cycles'")
    figure = plot.lines(table, "cores", "per_core", "array")
    assert legend_of(figure) == list(dict.fromkeys(table["array"]))
    assert list(drawn(figure.axes[0])[0].get_xdata()) == [2, 4]


@pytest.mark.parametrize(
    ("legend", "figures", "own"),
    [
        ("auto", 1, True),
        ("outside", 1, True),
        ("inside", 0, True),
        ("none", 0, False),
        (None, 0, False),
    ],
)
def test_the_legend_is_where_it_is_wanted(table, matrix, legend, figures, own):
    figure = plot.bars(table, "set_l1_kib", "cycles", "protocol", legend=legend)
    assert len(figure.legends) == figures
    assert (figure.axes[0].get_legend() is not None) == (legend == "inside")
    named_below = any(text.get_text() == "MESI" for text in figure.axes[0].texts)
    assert named_below == (legend in (None, "none"))
    traffic = matrix.plot_traffic(legend=legend)
    assert (len(traffic.legends), traffic.axes[0].get_legend() is not None) == (
        figures,
        legend == "inside",
    )
    axes = Figure().add_subplot()
    plot.bars(table, "set_l1_kib", "cycles", "protocol", legend=legend, ax=axes)
    assert (axes.get_legend() is not None) == own


def test_no_title_is_written(table, matrix):
    for figure in (
        plot.bars(table, "set_l1_kib", "cycles", title=None),
        plot.stalls(matrix, title=None),
        plot.latency(matrix, title=None),
    ):
        assert figure.get_suptitle() == ""
    axes = Figure().add_subplot()
    plot.latency(matrix, title=None, ax=axes)
    assert axes.get_title() == ""


def test_text_has_the_font_and_size_of_the_users_settings(matrix):
    """It was DejaVu Sans of 7 points whatever rcParams said."""

    def texts(figure):
        (axes, *_) = figure.axes
        return [*axes.texts, *axes.get_xticklabels(), axes.yaxis.label, figure._suptitle]

    usual = [text.get_fontsize() for text in texts(matrix.plot_speedup())]
    assert max(usual) == 8
    with mpl.rc_context({"font.size": 14, "font.family": "serif"}):
        for figure in (matrix.plot_speedup(), plot.bars(matrix, "workload", "cycles", "protocol")):
            assert {tuple(text.get_fontfamily()) for text in texts(figure)} == {("serif",)}
        large = [text.get_fontsize() for text in texts(matrix.plot_speedup())]
    assert large == [2 * size for size in usual]


def test_stalls_stack_to_the_cycles_of_the_cores(matrix):
    """A part of a cause (memory_order_load) is in its cause, not beside it."""
    for run in matrix.runs:
        drawn = heights(plot.stalls(run).axes[0])
        assert sum(drawn) == pytest.approx(run.cycles * run.configuration["cores"], rel=0.01)
    figure = plot.stalls(matrix)
    assert {"issue", "scoreboard"} <= set(legend_of(figure))
    assert "memory order load" not in legend_of(figure)
    assert figure.axes[0].get_ylabel().replace("\n", " ") == "core cycles relative to NO-L1"
    assert legend_of(figure)[:2] == ["NO-L1 (RC-MCA)", "RCC-SC (SC)"]


def test_latencies_are_cumulative_shares(matrix):
    figure = plot.latency(matrix, "load", "workload")
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["vec-cpy", "fg-share"]
    counts = [
        sum(x)
        for x in zip(
            *[[*run.histograms.core.load_latency, *[0] * 40][:40] for run in matrix.runs[:2]],
            strict=True,
        )
    ]
    for x, y in zip(lines[0].get_xdata(), lines[0].get_ydata(), strict=True):
        assert y == pytest.approx(sum(counts[: int(x).bit_length()]) / sum(counts))


@pytest.mark.parametrize(
    ("draw", "message"),
    rows(
        [
            (
                lambda t: plot.bars(t, "set_l1", "cycles"),
                "no column 'set_l1'; did you mean 'set_l1_kib'",
            ),
            (
                lambda t: plot.bars(t, "cycles", "protocol"),
                "column 'protocol' does not hold numbers",
            ),
            (lambda t: plot.bars(t[:0], "set_l1_kib", "cycles"), "no rows"),
            (lambda t: plot.bars(t, "set_l1_kib", "cycles", legend="below"), "legend = 'below'"),
            (
                lambda t: plot.bars(t, "set_l1_kib", "cycles", "protocol", order=["mosi"]),
                "order: 'mosi'",
            ),
            (lambda t: plot.bars(t, "set_l1_kib", "cycles", width=0), "width = 0"),
            (lambda t: plot.bars(3, "x", "y"), "3 is not a table"),
            (
                lambda t: plot.lines(t, "protocol", "cycles"),
                "column 'protocol' does not hold numbers",
            ),
            (
                lambda t: plot.lines(t.assign(cycles=float("nan")), "set_l1_kib", "cycles"),
                "no row has a number of both set_l1_kib and cycles",
            ),
            (lambda t: plot.stalls(t), "no column 'workload'"),
            (lambda t: plot.latency(t), "counters='all'"),
            (lambda t: plot.latency(t, "lode"), "did you mean 'load'"),
        ],
        one_in=4,
    ),
)
def test_what_cannot_be_drawn_is_refused(table, draw, message):
    with pytest.raises(gpucoh.ConfigError, match=message):
        draw(table)
