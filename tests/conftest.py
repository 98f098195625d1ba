"""What all tests share.

Helpers of tests are imported by their path below ``tests/`` (pytest's ``pythonpath``), as in
``from core_api.programs import Assembler``. Random tests are seeded in CI: the same commit gives
the same verdict.
"""

import os

import matplotlib
from hypothesis import settings

matplotlib.use("Agg")

settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")
