"""Products of protocols with workloads, options or seeds: of each a share in ``make test``, all in ``make products``.

A share is every ``one_in``-th combination along the diagonals, so that every value of one axis meets several of
another. The rest is marked ``product`` and is collected only if the variable ``PRODUCTS`` asks for it: ``all``, or
``N:TEXT`` for one in N of it, drawn by the text.
"""

import itertools
import os
import random

import pytest

ASKED = os.environ.get("PRODUCTS", "")


def share(*axes, one_in):
    """Return the combinations of the axes that run, for ``pytest.mark.parametrize``."""
    always, rest = [], []
    for places in itertools.product(*(range(len(axis)) for axis in axes)):
        values = tuple(axis[place] for axis, place in zip(axes, places, strict=True))
        (rest if sum(places) % one_in else always).append(values)
    if ASKED != "all":
        number, _, text = ASKED.partition(":")
        rest = random.Random(text).sample(rest, len(rest) // int(number) if ASKED else 0)
    marked = [pytest.param(*values, marks=pytest.mark.product) for values in rest]
    return (always if len(axes) > 1 else [value for (value,) in always]) + marked
