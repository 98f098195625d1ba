"""References and checks on examples worked by hand: each must accept the right result and refuse a
wrong one.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
import scipy.sparse

import gpucoh
from gpucoh.base.errors import ConfigError
from gpucoh.suite import inputs, workload
from gpucoh.suite.alignment import reference_alignment
from gpucoh.suite.buffers import doubles, values_of
from gpucoh.suite.centrality import reference_dependencies
from gpucoh.suite.clustering import reference_kmeans
from gpucoh.suite.diffusion import reference_step
from gpucoh.suite.factorisation import reconstruct, update_internal
from gpucoh.suite.graphs import reference_distances
from gpucoh.suite.images import filter_coefficients, reference_filter
from gpucoh.suite.independent_sets import reference_set
from gpucoh.suite.ledger import BLOCK, Ledger
from gpucoh.suite.matrices import reference_product
from gpucoh.suite.meshes import LENGTH, Mesh, Step
from gpucoh.suite.multigrid import Problem, ghosts, padded, smooth_on_host
from gpucoh.suite.stencils import AMBIENT, Chip, reference_hotspot
from gpucoh.suite.volumes import reference_laplace, reference_wave
from products import share
from workloads.small_gpu import small_gpu


def test_distances_on_a_path_with_an_island() -> None:
    path = inputs.graph_from_edges(
        np.array([0, 1, 2]), np.array([1, 2, 3]), 5, directed=False, name="path"
    )
    assert reference_distances(path, 1).tolist() == [1, 0, 1, 2, -1]


def test_distances_follow_directed_edges() -> None:
    path = inputs.graph_from_edges(
        np.array([0, 1]), np.array([1, 2]), 3, directed=True, name="path"
    )
    assert reference_distances(path, 1).tolist() == [-1, 0, 1]


def test_a_wrong_distance_is_named() -> None:
    params = {"generator": "grid", "levels": 4, "source": 0}
    search = workload("bfs").prepare("tiny", 0, params).input  # type: ignore[attr-defined]
    right = np.add.outer(np.arange(4), np.arange(4)).ravel()
    assert search.check(right, 7).correct
    assert search.check(np.where(right == 6, 7, right), 7).where.startswith(
        "distance[15] is 7, expected 6"
    )


def test_uniform_chip_at_ambient_temperature_without_power_stays() -> None:
    chip = Chip.of_grid(8, 8)
    field = np.full((8, 8), AMBIENT, np.float32)
    assert np.array_equal(reference_hotspot(field, np.zeros_like(field), chip, 5), field)


def test_heat_spreads_evenly_from_a_hot_cell() -> None:
    chip = Chip.of_grid(9, 9)
    field = np.full((9, 9), AMBIENT, np.float32)
    field[4, 4] += 1
    after = reference_hotspot(field, np.zeros_like(field), chip, 1)
    ring = [after[3, 4], after[5, 4], after[4, 3], after[4, 5]]
    assert len(set(ring)) == 1
    assert ring[0] > AMBIENT > 0
    assert after[4, 4] < field[4, 4]
    assert after[3, 3] == AMBIENT


class TestLedgerCheck:
    def parts(self) -> tuple[Ledger, dict[str, np.ndarray]]:
        start = np.full((2, BLOCK), 10, np.int32)
        instance = Ledger(start, turns=2)
        # Block 0 has entries 0 and 1, block 1 entries 2 and 3, of amounts 1 to 4.
        sums = np.repeat(np.array([[22], [32], [28], [40]], np.int32), BLOCK, axis=1)
        return instance, {"tickets": np.array([0, 2, 1, 3], np.int32), "sums": sums}

    def test_the_audits_of_the_turns_are_right(self) -> None:
        instance, parts = self.parts()
        assert instance.check_audits(**parts).correct
        assert instance.check_ledger(instance.start + 10, 4).correct

    def test_a_stale_audit_is_named_by_its_turn(self) -> None:
        instance, parts = self.parts()
        parts["sums"][1, 4] -= 1
        outcome = instance.check_audits(**parts)
        assert not outcome.correct
        assert outcome.mismatches == 1
        assert "turn 2 (block 0, its turn 1), thread 4" in outcome.where

    def test_a_lost_update_is_found(self) -> None:
        instance, _ = self.parts()
        ledger = instance.start + 10
        ledger[1, 0] -= 3
        assert instance.check_ledger(ledger, 4).where.startswith("ledger[1, 0]")

    def test_two_turns_at_once_are_found(self) -> None:
        instance, parts = self.parts()
        parts["tickets"][3] = 2
        assert instance.check_audits(**parts).where.startswith("ticket[3]")


@pytest.mark.parametrize(
    "name",
    share(
        ["vec-cpy", "reduction", "uts", "hsp", "bfs", "kmn", "rg", "sgemm", "histogram"], one_in=4
    ),
)
def test_the_same_seed_makes_the_same_input(name: str) -> None:
    class Launched(Exception):
        pass

    class Recording(gpucoh.GPU):
        def array(self, data: Any, *rest: Any, **more: Any) -> Any:
            found.append(np.asarray(data).tobytes())
            return super().array(data, *rest, **more)

        def launch(self, kernel: Any, **how: Any) -> None:
            raise Launched

    found: list[bytes] = []

    def content(seed: int) -> list[bytes]:
        found.clear()
        with pytest.raises(Launched):
            workload(name).prepare("tiny", seed).run(Recording())
        return list(found)

    assert content(1) == content(1)
    assert content(1) != content(2)


def test_kmeans_of_two_pairs_of_points() -> None:
    points = np.array([[0, 0], [0, 2], [10, 0], [10, 2]], np.float32)
    memberships, centroids = reference_kmeans(points, points[[0, 2]], 2)
    assert [membership.tolist() for membership in memberships] == 2 * [[0, 0, 1, 1]]
    assert centroids.tolist() == [[0, 1], [10, 1]]


def test_a_cluster_without_points_keeps_its_centroid() -> None:
    points = np.array([[0.0], [1.0]], np.float32)
    _, centroids = reference_kmeans(points, np.array([[0.0], [90.0]], np.float32), 1)
    assert centroids.tolist() == [[0.5], [90.0]]


@pytest.mark.parametrize("sigma", [1.5, 4, 10])
def test_the_recursive_filter_is_nearly_gaussian(sigma: float) -> None:
    rng = np.random.default_rng(0)
    channels = rng.integers(60, 200, (64, 80, 4)).astype(np.uint32)
    image = channels @ np.array([1, 1 << 8, 1 << 16, 1 << 24], np.uint32)
    filtered = reference_filter(image, filter_coefficients(sigma))
    for c in range(4):
        exact = scipy.ndimage.gaussian_filter(channels[..., c].astype(float), sigma, mode="nearest")
        assert np.abs(((filtered >> (8 * c)) & 255) - exact).max() < 10


def test_product_in_f32_is_close_to_the_product_in_f64() -> None:
    rng = np.random.default_rng(0)
    a, b = (
        rng.uniform(-1, 1, (9, 50)).astype(np.float32),
        rng.uniform(-1, 1, (50, 7)).astype(np.float32),
    )
    assert np.allclose(reference_product(a, b), a.astype(float) @ b.astype(float), atol=1e-5)


def test_factors_are_multiplied_as_lower_and_upper_triangle() -> None:
    assert reconstruct(np.array([[2, 4], [3, 5]], np.float32)).tolist() == [[2, 4], [6, 17]]


def test_a_decomposition_without_its_updates_is_wrong() -> None:
    class Skipping(gpucoh.GPU):
        def launch(self, kernel: Any, **how: Any) -> None:
            if kernel is not update_internal:
                super().launch(kernel, **how)

    instance = workload("lud").prepare("tiny", 0)
    assert instance.run(small_gpu()).correct
    assert not instance.run(Skipping()).correct


@pytest.mark.parametrize("name", ["lud", "lud-qr"])
def test_rows_shorter_than_the_matrix_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="width is 31; allowed: 0, or at least the side, 32"):
        workload(name).prepare("tiny", 0, {"tiles": 2, "width": 31}).run(small_gpu(3))


def test_tiles_of_lud_share_lines_of_64_bytes_only_off_their_base() -> None:
    machine = gpucoh.machine("gcn3").replace(cores=2)

    def moves(base: int) -> int:
        params = {"tiles": 3, "base": base}
        return gpucoh.run("lud-qr", "mesi", machine, scale="tiny", params=params).stats.flits()

    assert moves(8) > 1.1 * moves(0)


def test_alignment_of_a_word_with_itself_is_its_diagonal() -> None:
    side = 5
    similarity = np.where(np.eye(side, dtype=bool), 3, -3).astype(np.int32)
    score = reference_alignment(similarity, 2)
    assert score[-1, -1] == 3 * side
    assert score[0, -1] == -2 * side
    assert score[1].tolist() == [-2, 3, 1, -1, -3, -5]


def test_even_ground_is_not_diffused() -> None:
    image = np.full((6, 6), 2.0, np.float32)
    assert np.array_equal(reference_step(image, np.float32(0.5)), image)


def test_speckle_shrinks() -> None:
    image = np.random.default_rng(0).gamma(20, 1 / 20, (32, 32)).astype(np.float32)
    assert reference_step(image, np.float32(0.5)).var() < 0.9 * image.var()


def test_a_linear_field_solves_the_laplace_equation() -> None:
    field = np.add.outer(np.add.outer(np.arange(6), 2 * np.arange(5)), 4 * np.arange(7))
    field = field.astype(np.float32)
    assert np.allclose(reference_laplace(field, 3), field, rtol=1e-6)


def test_a_wave_at_rest_on_a_point_spreads_evenly_along_the_axes() -> None:
    start = np.zeros((2, 19, 19, 19), np.float32)
    start[:, 9, 9, 9] = 1
    after = reference_wave(start, 1, np.float32(0.1))[1]
    assert after[9, 9, 13] == after[9, 5, 9] == after[13, 9, 9] != 0
    assert after[9, 9, 14] == after[8, 8, 9] == 0


def test_doubles_keep_their_values_in_every_second_word() -> None:
    words = doubles([[1.5, -2.0]])
    assert words.tolist() == [1.5, 0, -2, 0]
    assert values_of(words).tolist() == [1.5, -2]


def test_dependencies_on_two_paths_that_meet() -> None:
    # 0 -> 1 -> 3 -> 4 and 0 -> 2 -> 3; vertex 5 is not reached. An arc back to the source counts nothing.
    ends = ([0, 0, 1, 2, 3, 4, 5], [1, 2, 3, 3, 4, 0, 0])
    matrix = scipy.sparse.csr_matrix((np.ones(7), ends), (6, 6))
    dependencies, paths, levels = reference_dependencies(matrix, 0)
    assert dependencies.tolist() == [0, 1, 1, 1, 0, 0]
    assert (paths, levels) == (2, 4)


def test_a_set_on_a_path_takes_every_local_minimum() -> None:
    path = inputs.graph_from_edges(
        np.array([0, 1, 2, 3]), np.array([1, 2, 3, 4]), 6, directed=False, name="path"
    )
    members, rounds = reference_set(path, np.array([5, 4, 3, 2, 1, 0], np.float32) / 8)
    assert members.tolist() == [True, False, True, False, True, True]
    assert rounds == 3


def test_every_cycle_of_multigrid_reduces_the_residual() -> None:
    norms = []
    for cycles in (1, 2, 3):
        problem = Problem.random(np.random.default_rng(0), 16)
        x = padded(problem.solve(partial(smooth_on_host, steps=6), cycles))
        ghosts(x)
        norms.append(np.abs(problem.levels[0].residual(x, problem.right)).max())
    assert norms[1] < 0.1 * norms[0]
    assert norms[2] < 0.1 * norms[1]


def test_multigrid_refuses_a_side_that_has_no_levels() -> None:
    with pytest.raises(ConfigError, match="side is 20; allowed: a power of two of at least 16"):
        workload("hpgmg").prepare("tiny", 0, {"side": 20}).run(small_gpu())


def test_eleven_regions_of_which_one_is_empty_have_338_launches_a_step() -> None:
    mesh = Mesh.random(12, 11, 1, np.random.default_rng(0))
    filled = [region for region, elements in enumerate(mesh.regions) if elements.size]
    assert len(filled) == 10
    assert sum(elements.size for elements in mesh.regions) == 12**3
    assert 16 + sum(5 + 8 * mesh.repetitions(region) for region in filled) == 338


def test_gas_at_rest_of_even_pressure_moves_only_at_the_free_faces() -> None:
    mesh = Mesh.random(3, 1, 0, np.random.default_rng(0))
    state = mesh.blast()
    assert np.isclose(state["volo"].sum(), LENGTH**3)
    assert np.isclose(state["nodalMass"].sum(), LENGTH**3)
    state["p"][:] = 1
    Step(mesh, state, np.float32(1e-3)).run()
    for axis, name in enumerate("xyz"):
        outside = mesh.places(4)[axis] == 3
        assert (state[f"{name}d"][outside] > 0).all()
        assert not state[f"{name}d"][~outside].any()


def test_a_blast_spreads_alike_on_all_axes() -> None:
    mesh = Mesh.random(4, 1, 0, np.random.default_rng(0))
    state = mesh.blast()
    for _ in range(3):
        Step(mesh, state, np.float32(1e-4)).run()
    energy = state["e"].reshape(4, 4, 4)
    assert energy[0, 0, 1] > 0
    assert np.allclose(energy[0, 0, 1], [energy[0, 1, 0], energy[1, 0, 0]], rtol=1e-3)
