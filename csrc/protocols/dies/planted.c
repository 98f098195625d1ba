/* planted.c: bugs planted in MCM: lines of other dies that survive an acquire or a store, answers that come early,
 * channels out of order. */
#include "tests/mutants.h"

GPC_ACTION(act_answer_only, "send DROPPED, and drop nothing")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "DROPPED")));
}

GPC_ACTION(act_acknowledge_and_pass, "send ACK for a store, before the home does; pass the request on")
{
    bool store = mutant_cause_is(x, "GETX");
    GPC_TRY(store ? gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "ACK"))) : GPC_OK);
    return mutant_base_act(x, "pass");
}

static int
acquire_at_once(gpc_controller_t *l1, uint16_t warp, uint8_t scope)
{
    (void) warp, (void) scope;
    return gpc_controller_walk_transactions(l1, GPC_MSG_ACQUIRE);
}

PLANTED(dies) = {
    BUG("mcm!acquire-keeps-copies", "an acquire drops nothing, in the L1 and in the near L2", NULL,
        WITH(order.acquire, NULL)),
    BUG("mcm!near-keeps-lines", "an L2 answers DROP and keeps the other dies' lines", NULL,
        REPLACE("L2.acquires", "ON", "DROP", "drop_near", act_answer_only)),
    BUG("mcm!dies-not-asked", "an acquire sends no DROP, and keeps the copies that the L1 has", NULL,
        WITH(order.acquire, acquire_at_once)),
    BUG("mcm!acquire-does-not-wait", "loads behind an acquire do not wait for DROPPED", NULL, WITH(order.before, NULL)),
    BUG("mcm!barrier-does-not-wait", "a barrier does not wait for the acquires of its core", NULL,
        WITH(order.barrier, NULL), WITH(order.barrier_releases, false)),
    BUG("mcm!dropped-early", "the last DROPPED is not awaited", NULL,
        COPY("L1.acquires", "ON", "DROPPED", "ON", "LAST_DROPPED")),
    BUG("mcm!l1-keeps-copies", "an acquire drops near lines, and keeps the L1's copies", NULL,
        STAY("L1", "V", "ACQUIRE")),
    BUG("mcm!late-line-kept", "a near line is kept that was on its way when an acquire came", NULL,
        DROP("L2", "NP", "DROP", "release_way"), STAY("L2", "NP", "DROP")),
    BUG("mcm!late-line-merges", "a load merges with a near line on its way that will not be kept", NULL,
        REPLACE("L2", "NX", "NEAR_LOAD", "pass", act_merge)),
    BUG("mcm!near-line-survives-store", "a near line stays when a store passes", NULL, STAY("L2", "N", "NEAR_OTHER")),
    BUG("mcm!near-acknowledges", "the near L2 acknowledges a store, which the home has yet to get and answers again",
        NULL, REPLACE("L2", "I N NX", "NEAR_OTHER", "pass", act_acknowledge_and_pass)),
    BUG("mcm!between-unordered", "what a near L2 passes on is declared unordered", NULL, UNORDERED("between")),
    {0}};
