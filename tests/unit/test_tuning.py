"""Is a parameter chosen on one half of the workloads alone, and judged on the other?"""

import numpy as np
import pandas as pd
import pytest

from gpucoh.studies.effects import tuned
from gpucoh.studies.matrices import Description, SharingRun
from gpucoh.studies.tuning import Tuning, halves

LEASES = Tuning(what="leases", candidates=("p", "p[lease=1]", "p[lease=2]"))


def rows(cycles):
    """Runs: candidate -> cycles by workload; None is a run that failed."""
    table = pd.DataFrame(
        [
            (name, f"w{number}", value)
            for name, values in cycles.items()
            for number, value in enumerate(values)
        ],
        columns=["protocol", "workload", "cycles"],
    )
    same = {"matrix": "tuning", "machine": "fermi", "cores": 16, "scale": "tiny", "seed": 0}
    same |= {"class": "private", "own_rule": 1}
    return table.assign(good=table["cycles"].notna(), **same)


def test_halves_alternate_in_the_order_of_class_and_name():
    classes = {"d": "private", "a": "private", "c": "migratory", "b": "migratory", "e": "private"}
    assert halves(classes) == (["b", "a", "e"], ["c", "d"])


def test_what_helps_one_half_alone_is_judged_on_the_other():
    # The first candidate helps the even workloads, the second the odd ones, by 4; elsewhere they cost 2.
    (row,) = tuned(
        rows({"p": [8] * 4, "p[lease=1]": [2, 16, 2, 16], "p[lease=2]": [16, 2, 16, 2]}), LEASES
    )
    assert (row["chosen_first"], row["chosen_second"]) == ("p[lease=1]", "p[lease=2]")
    assert row["gain"] == pytest.approx(0.5)
    assert (row["gain_first"], row["gain_second"]) == pytest.approx((0.5, 0.5))
    # On all workloads both seem to gain 2**0.5.
    assert (row["chosen_all"], row["hindsight"]) == ("p[lease=1]", pytest.approx(2**0.5))
    assert (row["workloads"], row["missing"]) == (4, 0)


def test_a_candidate_that_fails_on_a_half_is_not_chosen_there_and_equals_leave_the_papers_value():
    (row,) = tuned(
        rows({"p": [8] * 4, "p[lease=1]": [None, 2, 2, 8], "p[lease=2]": [8] * 4}), LEASES
    )
    assert (row["chosen_first"], row["chosen_second"]) == ("p", "p[lease=1]")
    # The second half's choice fails on w0: judged on w2 alone, and the default on w1 and w3.
    assert row["gain"] == pytest.approx((4 * 1 * 1) ** (1 / 3))
    assert (row["workloads"], row["missing"]) == (3, 1)


def test_a_matrix_that_lacks_candidates_has_no_row():
    found = rows({"p": [8] * 4, "p[lease=1]": [8] * 4})
    assert tuned(found, LEASES) == []
    assert np.isfinite(found["cycles"]).all()


def test_a_matrix_of_tunings_runs_the_baseline_and_each_candidate_and_grows_fields():
    plan = Description(
        {
            "tuning": [{"what": "leases", "candidates": ["rcc-wo", "rcc-wo[predict=off]"]}],
            "matrix": [
                {
                    "name": "tuning",
                    "tuning": True,
                    "workloads": ["vec-cpy"],
                    "cores": [16, 64],
                    "grow": ["partitions"],
                }
            ],
        }
    ).plan()
    runs = [run for run in plan.runs.values() if not isinstance(run, SharingRun)]
    assert {(run.protocol, *sorted(run.set.items())) for run in runs} == {
        (protocol, ("cores", cores), ("partitions", cores // 2))
        for protocol in ("no-l1", "rcc-wo", "rcc-wo[predict=off]")
        for cores in (16, 64)
    }
