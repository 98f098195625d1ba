"""Does ``make test`` run a share of every product, and ``make products`` the rest?"""

import itertools

import pytest

import products
from products import rows, share

LETTERS = "abcdefgh"


def parted(chosen):
    """The values that ``make test`` runs, and the others."""
    parts = [], []
    for one in chosen:
        parts[any(mark.name == "product" for mark in one.marks)].append(one.values)
    return parts


@pytest.fixture
def all_asked(monkeypatch):
    monkeypatch.setattr(products, "ASKED", "all")


def test_a_share_and_its_rest_are_all_combinations_once(all_asked):
    always, rest = parted(share(LETTERS, range(3), one_in=4))
    assert len(always) == 6
    assert sorted(always + rest) == list(itertools.product(LETTERS, range(3)))


def test_every_value_of_one_list_meets_some_of_another(all_asked):
    always, _ = parted(share(LETTERS, range(8), one_in=4))
    assert all(len({b for a, b in always if a == letter}) == 2 for letter in LETTERS)


def test_the_next_share_of_a_file_runs_with_other_values(all_asked):
    shares = [parted(share(LETTERS, one_in=4))[0] for _ in range(4)]
    assert sorted(itertools.chain(*shares)) == [(letter,) for letter in LETTERS]


def test_a_share_is_never_empty(all_asked):
    assert [len(parted(rows(["ab", "cd"], one_in=9))[0]) for _ in range(9)] == [1] * 9


def test_what_is_marked_long_stays_for_make_proof(all_asked):
    table = [pytest.param(letter, marks=pytest.mark.long, id=letter) for letter in LETTERS]
    assert parted(rows(table, one_in=4)) == ([(letter,) for letter in LETTERS], [])


def test_the_rest_is_left_out_unless_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(products, "ASKED", "")
    assert [len(part) for part in parted(share(LETTERS, one_in=4))] == [2, 0]


def test_another_text_draws_another_part_of_the_rest(monkeypatch):
    drawn = set()
    for text in range(200):
        monkeypatch.setattr(products, "ASKED", f"10:{text}")
        drawn.update(parted(rows(["ab", "cd", "ef"], one_in=4))[1])
    assert drawn == {tuple("ab"), tuple("cd"), tuple("ef")}


@pytest.mark.parametrize("asked", ["", "all", "4:a"])
def test_of_tests_that_take_long_one_in_some_runs_and_the_rest_is_drawn(monkeypatch, asked):
    monkeypatch.setattr(products, "ASKED", asked)
    marks = [products.drawn(one_in=4) for _ in range(80)]
    rest = [mark.kwargs["left_out"] for mark in marks if isinstance(mark, pytest.MarkDecorator)]
    assert len(rest) == 60
    assert {"": sum(rest) == 60, "all": not any(rest), "4:a": 30 < sum(rest) < 60}[asked]
