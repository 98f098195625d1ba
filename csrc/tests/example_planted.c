/* example_planted.c: bugs planted in self-inval, the example of docs/how-to/add-a-protocol.md. */
#include "tests/mutants.h"

/* The L2 treats a lease as expired in its last cycle, in which an L1 may still read. */
static gpc_event_id_t
over_in_the_last_cycle(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool last = mutant_event_is(x, event, "WRITE_LEASED") && mutant_line_field(x, "lease") == gpc_now(x);
    return last ? mutant_event(x, "WRITE") : event;
}

/* The L2 renews the lease of every copy: it does not compare versions. */
static gpc_event_id_t
any_version_is_renewed(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool renewed =
        mutant_state_is(x, "V") && mutant_event_is(x, event, "GETS") && mutant_message_field(x, x->msg, "version") != 0;
    return renewed ? mutant_event(x, "RENEW") : event;
}

PLANTED(example) = {
    BUG("self-inval!lease-off-by-one", "the L2 takes a lease for over in its last cycle", NULL,
        CLASSIFY("L2", over_in_the_last_cycle)),
    BUG("self-inval!version-not-compared", "a copy is renewed although the line has been written", NULL,
        CLASSIFY("L2", any_version_is_renewed)),
    BUG("self-inval!evicted-lease-forgotten", "the L2 forgets the lease of a line that it evicts", NULL,
        DROP("L2", "V", "EVICT_CLEAN EVICT_DIRTY", "remember_lease")),
    {0},
};
