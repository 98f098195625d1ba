"""What several threads may do at the same moment."""

import subprocess
import sys

PROGRAM = """
import sys
from concurrent.futures import ThreadPoolExecutor
from gpucoh.suite import inputs
assert "matplotlib.cbook" not in sys.modules
sys.setswitchinterval(1e-6)
with ThreadPoolExecutor(8) as pool:
    shapes = {image.shape for image in pool.map(inputs.read_image, [None] * 8)}
print(shapes)
"""


def test_eight_threads_may_want_the_first_image_at_once():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
