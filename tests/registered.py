"""Protocols for parametrised tests, by what they declare: one that is added is in these lists by itself."""

import gpucoh

_KNOWN = gpucoh.protocols()

#: Without those of files that tests load later.
ALL = list(_KNOWN)
#: Those that promise a memory model under their default rule, and the others.
COHERENT = [name for name, known in _KNOWN.items() if known.models[known.default_rule] != "none"]
INCOHERENT = [name for name in ALL if name not in COHERENT]
#: Those that keep sequential consistency under the core rule ``sc``.
SEQUENTIAL = [name for name in COHERENT if _KNOWN[name].models.get("sc") == "SC"]
WITH_L1 = [name for name in ALL if _KNOWN[name].has_l1]
#: Those whose store buffer may keep a word until a release.
BUFFERED = [name for name in ALL if "sb_drain" in _KNOWN[name].options]
OF_DIES = [name for name in ALL if _KNOWN[name].family == "coherence of dies"]
#: Those that keep timestamps.
TIMED = [name for name in ALL if _KNOWN[name].keeps_time]
#: ``id[options]`` for each set of options that a coherent protocol declares for tests.
VARIATIONS = [text for name in COHERENT for text in _KNOWN[name].with_variations()[1:]]
