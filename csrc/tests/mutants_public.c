/* mutants_public.c: faults that public GPU simulators have had, planted in no-l1; docs/real-bugs.md names their threads. */
#include "controller/writer.h"
#include "tests/mutants.h"

GPC_ACTION(act_perform_once_more, "perform the atomic, then again for the answer")
{
    (void) gpc_act(writer_act_perform, x);
    return gpc_act(mutant_base_action(x, "IM", "FILL_ATOMIC", 1), x);
}

GPC_ACTION(act_perform_clean, "perform the atomic, do not mark the line as dirty")
{
    int status = gpc_act(mutant_base_action(x, "IM", "FILL_ATOMIC", 1), x);
    gpc_writer_line(x)->dirty = 0;
    return status;
}

static void
readers_not_woken(mutant_t *m)
{
    mutant_copy(m, "L2", "IM", "GETS", "IS", "GETS");
    mutant_next(m, "L2", "IM", "GETS", "IM");
}

static void
atomic_performed_twice(mutant_t *m)
{
    mutant_replace(m, "L2", "IM", "FILL_ATOMIC", 1, act_perform_once_more);
}

static void
atomic_leaves_line_clean(mutant_t *m)
{
    mutant_replace(m, "L2", "IM", "FILL_ATOMIC", 1, act_perform_clean);
}

static int
pass_by(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, const uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

static void
host_write_passes_by(mutant_t *m)
{
    mutant_protocol(m)->host_write = pass_by;
}

static int
see_memory_alone(const gpc_units_t *units, gpc_address_t line, gpc_mask_t mask, uint32_t *words)
{
    (void) units, (void) line, (void) mask, (void) words;
    return GPC_OK;
}

static void
host_read_passes_by(mutant_t *m)
{
    mutant_protocol(m)->host_read = see_memory_alone;
}

/* clang-format off */
MUTANTS(public) {
    {"no-l1!readers-not-woken", "reads that wait for an atomic's fill are never answered", NULL, readers_not_woken},
    {"no-l1!atomic-performed-twice", "an atomic that missed is performed at the fill and again for its answer", NULL, atomic_performed_twice},
    {"no-l1!atomic-leaves-line-clean", "an atomic that missed does not mark its line as dirty", NULL, atomic_leaves_line_clean},
    {"no-l1!host-write-passes-by", "a write of the host leaves the L2's copy as it is", NULL, host_write_passes_by},
    {"no-l1!host-read-passes-by", "a read of the host sees memory, not the L2's dirty words", NULL, host_read_passes_by},
    {0},
};
/* clang-format on */
