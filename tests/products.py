"""Which rows of a long table, and which combinations of several lists, ``make test`` runs.

A share is every ``one_in``-th combination along the diagonals, so that every value of one list meets several of
another. Shares begin at different places: of two tests beside each other over the same list of protocols, each runs
with other protocols, so that a test meets some protocols and a protocol meets tests of all parts. The rest is marked
``product`` and is collected only if the variable ``PRODUCTS`` asks for it: ``all`` (``make products``), or ``N:TEXT``
for one in N of it, drawn by the text (``make proof``).
"""

import collections
import itertools
import os
import random
import sys
import zlib
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

ASKED = os.environ.get("PRODUCTS", "")
_NUMBERS = collections.Counter()


def share(*axes, one_in):
    """Return the combinations of the lists that run, for ``pytest.mark.parametrize``.

    A share of one list is of its values.
    """
    places = itertools.product(*(range(len(axis)) for axis in axes))
    values = itertools.product(*axes)
    combinations = [
        (sum(place), value[0] if isinstance(value[0], ParameterSet) else pytest.param(*value))
        for place, value in zip(places, values, strict=True)
    ]
    return _chosen(combinations, one_in, _caller())


def rows(table, *, one_in):
    """Return the rows that run of a table with several columns."""
    given = [row if isinstance(row, ParameterSet) else pytest.param(*row) for row in table]
    return _chosen(list(enumerate(given)), one_in, _caller())


def drawn(*, one_in):
    """Decorate a test that takes long, as one of whole programs: ``make test`` runs one in ``one_in`` of them."""
    file, number = _caller()
    stays = (zlib.crc32(file.encode()) + number) % one_in == 0
    asked, _, text = ASKED.partition(":")
    if ASKED and ASKED != "all":
        left_out = random.Random(f"{text} {file} {number}").randrange(int(asked)) > 0
    else:
        left_out = not ASKED
    return (lambda test: test) if stays else pytest.mark.product(left_out=left_out)


def _caller():
    """The file that calls, and the number of its call, which stays the same if lines are added."""
    file = "/".join(Path(sys._getframe(2).f_code.co_filename).parts[-2:])
    _NUMBERS[file] += 1
    return file, _NUMBERS[file]


def _chosen(combinations, one_in, caller):
    """Choose from pairs of a place and a combination. Those that are marked, as ``long``, always stay."""
    file, number = caller
    places = max((place for place, _ in combinations), default=0) + 1
    begin = (zlib.crc32(file.encode()) + number) % min(one_in, places)
    always, rest = [], []
    for place, one in combinations:
        stays = one.marks or place % one_in == begin
        (always if stays else rest).append(one)
    if ASKED != "all":
        asked, _, text = ASKED.partition(":")
        draw = random.Random(f"{text} {file} {number}")
        rest = draw.sample(rest, _part(len(rest), int(asked), draw) if ASKED else 0)
    return always + [
        pytest.param(*one.values, id=one.id, marks=pytest.mark.product) for one in rest
    ]


def _part(number, one_in, draw):
    """A number's part, one in ``one_in``, rounded up or down at random, so that short lists are drawn as often."""
    return (number + draw.randrange(one_in)) // one_in
