"""Print the result of every workload under every protocol, one JSON object per line, without the wall time."""

import json
import sys
from pathlib import Path

import gpucoh


def main() -> int:
    tree = Path(sys.argv[1]).resolve()
    if not Path(gpucoh.__file__).resolve().is_relative_to(tree):
        print(f"gpucoh comes from {gpucoh.__file__}, not from {tree}", file=sys.stderr)
        return 2
    for workload in gpucoh.workloads():
        for protocol in gpucoh.protocols():
            result = gpucoh.run(workload, protocol=protocol, scale="tiny", seed=7).to_dict()
            result.pop("wall_s")
            print(json.dumps(result, sort_keys=True))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
