"""Do the programs of ``gpucoh verify --lines 1``, the recipe of the how-to, enter every cell and find what is planted?

The prototype is the protocol that ``gpucoh new-protocol --acquires`` writes, a plain self-invalidation protocol, with
faults that an option chooses. Two of them are in cells that only these programs enter.
"""

import pytest

import gpucoh
from gpucoh.device import outside
from gpucoh.device.coverage import coverage_of
from gpucoh.device.gpu import resolve
from gpucoh.verify.corners import corners
from gpucoh.verify.explorer import verify
from gpucoh.verify.results import Verification

#: Fault -> the table, and what replaces the cell there; or more of the table, and its classifier.
CELLS = {
    "copy-kept": ("L1", "{L1_V, L1_ACQUIRE, GO(L1_V)}"),
    "fill-kept": ("L1", "{L1_FI, L1_ANSWER, GO(L1_V, act_fill, act_complete)}"),
    "acquire-forgotten": ("L1", "{L1_F, L1_ACQUIRE, GO(L1_F)}"),
    "late-load-merged": ("L1", "{L1_FI, L1_LOAD, GO(L1_FI, act_merge_load)}"),
    "never-held": ("L1", "{L1_F, L1_OTHER, GO(L1_B, act_request)}"),
    "eviction-lost": ("L2", "{L2_V, L2_DIRTY, GO(L2_I)}"),
    "read-before-fill": ("L2", "{L2_F, L2_GETS, GO(L2_F, act_send_data)}"),
}
CLASSIFIED = {
    "synchronisation-hits": ("", "hits_always"),
    "launch-keeps-copies": (".causes = {[GPC_MSG_KERNEL_BEGIN] = GPC_NO_CAUSE}", "l1_classify"),
}
FAULTS = [*CELLS, *CLASSIFIED]


def prototype(name):
    """The protocol with an option that chooses a fault."""
    text = outside.skeleton(name, "acquires")
    tables, variants = {"L1": "", "L2": ""}, {"L1": "", "L2": ""}
    for number, fault in enumerate(FAULTS, 1):
        table, patch = CELLS.get(fault, ("L1", "{L1_I, L1_EVICT, GO(L1_I)}"))
        more, classify = CLASSIFIED.get(fault, ("", f"{table.lower()}_classify"))
        tables[table] += (
            f'static const gpc_patch_t patches_{number}[] = {{{patch[:-1]}, .reason = "planted"}}}};\n'
            f'static const gpc_table_t fault_{number} = {{GPC_PATCHED_TABLE("{table}", OVER_LINES, {table}, "{name}", '
            f"{table.lower()}, patches_{number}, {classify}), {more}}};\n"
        )
        variants[table] += (
            f"{{.table = 0, .option = 0, .value = {number}, .by = &fault_{number}}}, "
        )
    hits = (
        "static gpc_event_id_t hits_always(const gpc_step_t *x)\n"
        "{ return x->cause == GPC_MSG_LOAD ? L1_LOAD : GPC_NO_EVENT; }\n"
    )
    for table, added in (("L1", hits + tables["L1"]), ("L2", tables["L2"])):
        begin = f"static const gpc_controller_type_t my_{table.lower()} = {{"
        assert begin in text
        text = text.replace(begin, f"{added}{begin}.variants = {{{variants[table]}}}, ")
    words = " ".join(("none", *FAULTS))
    option = f'.options = {{GPC_CHOICE("fault", 0, {len(FAULTS)}, "{words}", "what is wrong")}},\n    .networks'
    return text.replace(".networks", option)


@pytest.fixture(scope="module")
def acquires(tmp_path_factory):
    """The prototype's id."""
    path = tmp_path_factory.mktemp("recipe") / "recipe.c"
    path.write_text(prototype("recipe"), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", str(path.parent))
        return gpucoh.load_protocol(path)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(acquires, fault):
    found = verify(f"{acquires}[fault={fault}]", lines=1)
    assert found.violations, fault


@pytest.mark.long
def test_the_prototype_is_right(acquires):
    found = verify(acquires, lines=1)
    assert found.complete
    assert not found.never_entered
    assert "DRF-SC: complete: " in repr(found)


def test_the_first_line_says_that_cells_are_never_entered():
    protocol = resolve("no-l1").selected
    tables = coverage_of(protocol, "sc")
    found = Verification(
        protocol="no-l1", consistency="sc", model="SC", programs=1, completed=1, tables=tables
    )
    first, *others = repr(found).splitlines()
    assert first.startswith(
        "no-l1  sc, SC: complete for these programs, 21 of 21 cells never entered: 1 of 1 programs; "
    )
    assert [line.partition(":")[0] for line in others] == [
        "  L1, never entered",
        "  L2, never entered",
    ]
    found.complete = False
    tables["L1"].note([0])
    assert "SC: bounded: 1 of 1 programs (100%), 1 of 21 cells entered; " in repr(found)
    assert found.to_dict()["cells"]["L1"]["entered"] == 1
    assert "I LOAD" not in found.to_dict()["cells"]["L1"]["never_entered"]


def test_programs_without_races_are_for_models_that_need_them():
    texts = {str(program) for program in corners(race_free=False)}
    assert not any("await" in text for text in texts)
    assert texts < {str(program) for program in corners(race_free=True)}
