"""A timeline as one HTML page without references to other files."""

from __future__ import annotations

import json
from importlib import resources

from gpucoh.results.trace.timeline import Timeline


def page(timeline: Timeline) -> str:
    """The page."""
    lanes = {name: number for number, name in enumerate(timeline.lanes)}
    data = {
        "title": timeline.title,
        "note": timeline.note,
        "lanes": timeline.lanes,
        "items": [
            [lanes[i.lane], i.name, i.kind, i.begin, i.end, dict(i.details), i.flow]
            for i in timeline.items
        ],
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    template = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return template.replace("@DATA@", text)
