/* planted.c: bugs planted in the protocols of dies: lines of other dies that survive an acquire, a store or a kernel,
 * words that are not written back, dies that get no INV, answers that come early, channels out of order, merged atomics
 * that are combined or answered wrongly. */
#include <string.h>

#include "controller/nodes.h"
#include "protocols/dies/merge.h"
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

/* ---- flush ------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_lose_words, "forget the dirty words")
{
    gpc_part_t *part = &x->unit->parts[0];
    gpc_part_give(part, gpc_part_find(part, x->line));
    gpc_writer_line(x)->dirty = 0;
    return GPC_OK;
}

GPC_ACTION(act_call_words_clean, "take the dirty words for clean ones")
{
    *(gpc_mask_t *) mutant_field(x, x->unit->type->arrays[0].line, gpc_line_fields(x), "words") = GPC_NO_WORDS;
    return GPC_OK;
}

GPC_ACTION(act_answer_flush, "send FLUSHED, and write back what is dirty later")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "FLUSHED")));
}

GPC_ACTION(act_join_flush, "join the flush in progress")
{
    uint32_t *served = mutant_field(x, x->unit->type->unit, x->unit->unit_fields, "served"), before = *served;
    GPC_TRY(mutant_base_act(x, "flush"));
    *served += before != 0 && *served == before;
    return GPC_OK;
}

GPC_ACTION(act_drop_all_but_one, "drop every line of another die, but on die 1")
{
    return gpc_die_of(x->unit->nodes, x->unit->node) == 1 ? GPC_OK : mutant_base_act(x, "drop_all");
}

static gpc_event_id_t
take_every_store(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    bool store = mutant_event_is(x, event, "NEAR_OTHER") && mutant_cause_is(x, "GETX");
    return store ? mutant_event(x, "NEAR_STORE") : event;
}

/* ---- nhcc, hmg --------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_answer_release, "send RELEASED, whatever INVs are on their way")
{
    return gpc_send(x, gpc_new_answer(x, x->message, mutant_type(x, "RELEASED")));
}

GPC_ACTION(act_join_release, "join the round in progress")
{
    uint32_t *served = mutant_field(x, x->unit->type->unit, x->unit->unit_fields, "served"), before = *served;
    GPC_TRY(mutant_base_act(x, "release"));
    *served += before != 0 && *served == before;
    return GPC_OK;
}

GPC_ACTION(act_drop_first_line, "drop the first line of the region alone")
{
    gpc_index_t way;
    return gpc_state_at(x->unit, x->line, 0, &way) == x->table->initial
               ? GPC_OK
               : gpc_controller_line(x->unit, 0, GPC_MSG_ACQUIRE, x->line, gpc_all_words(x->unit), GPC_NONE);
}

GPC_ACTION(act_ask_gpu, "send REL to every bank of the GPU")
{
    x->scope = GPC_SCOPE_GPU;
    return mutant_base_act(x, "ask_release");
}

GPC_ACTION(act_invalidate_for_writes, "at the GPU home, invalidate for stores and atomics alone")
{
    bool load = mutant_cause_is(x, "GETS_HOME") || mutant_cause_is(x, "PASSED_GETS");
    return load ? GPC_OK : mutant_base_act(x, "invalidate_gpu");
}

/* ---- sw-hier ----------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_acquire_of_gpu, "send DROP as for scope gpu")
{
    x->scope = GPC_SCOPE_GPU;
    return mutant_base_act(x, "ask");
}

/* ---- lrm --------------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_own_only, "the die becomes the owner, and drops nothing")
{
    GPC_TRY(mutant_base_act(x, "take"));
    *(uint8_t *) mutant_field(x, x->unit->type->unit, x->unit->unit_fields, "drops") = 0;
    return GPC_OK;
}

/* ---- the merge unit ---------------------------------------------------------------------------------------------- */

/* The atomic behind `before`, or the first one, of those that an answer is for; NULL: there is none. */
static gpc_msg_t *
joined(const gpc_step_t *x, const gpc_msg_t *before)
{
    gpc_index_t i = before ? before->next : merge_message(x->msg)->joined.head;
    return i == GPC_NONE ? NULL : gpc_msg_at(x->unit->messages, i);
}

GPC_ACTION(act_answer_first_value, "send all cores the old value of the first lane")
{
    uint32_t old = gpc_lane_list_at(x->unit->lane_lists, joined(x, NULL)->lanes)->old[0];
    for (const gpc_msg_t *atomic = joined(x, NULL); atomic; atomic = joined(x, atomic)) {
        gpc_lane_list_t *lanes = gpc_lane_list_at(x->unit->lane_lists, atomic->lanes);
        for (uint16_t i = 0; i < lanes->count; i++) {
            lanes->old[i] = old;
        }
    }
    return mutant_base_act(x, "answer_each");
}

GPC_ACTION(act_answer_swapped, "answer every compare-and-swap as one that has swapped")
{
    for (const gpc_msg_t *atomic = joined(x, NULL); atomic; atomic = joined(x, atomic)) {
        gpc_lane_list_t *lanes = gpc_lane_list_at(x->unit->lane_lists, atomic->lanes);
        if (lanes->operation == GPC_ATOMIC_CAS) {
            memcpy(lanes->old, lanes->operand, sizeof lanes->old);
        }
    }
    return mutant_base_act(x, "answer_each");
}

GPC_ACTION(act_answer_crossed, "send each of the first two atomics the other one's old values")
{
    gpc_msg_t *first = joined(x, NULL), *second = joined(x, first);
    if (second) {
        gpc_index_t lanes = first->lanes;
        first->lanes = second->lanes;
        second->lanes = lanes;
    }
    return mutant_base_act(x, "answer_each");
}

GPC_ACTION(act_answer_without_drops, "do not tell the cores that near lines must be dropped")
{
    for (gpc_msg_t *atomic = joined(x, NULL); atomic; atomic = joined(x, atomic)) {
        merge_message(atomic)->drops = 0;
    }
    return mutant_base_act(x, "answer_each");
}

static gpc_event_id_t
join_whatever(const gpc_step_t *x)
{
    gpc_event_id_t event = mutant_base_event(x);
    return mutant_event_is(x, event, "OTHER") ? mutant_event(x, "JOIN") : event;
}

/* ---- ideal-dies -------------------------------------------------------------------------------------------------- */

GPC_ACTION(act_take_as_sent, "take the words that the home has sent")
{
    gpc_merge_words(gpc_line_words(x), x->msg->data, gpc_all_words(x->unit));
    return GPC_OK;
}

GPC_ACTION(act_read_near, "send GETS, which the near L2 answers")
{
    return mutant_base_act(x, "read");
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
    BUG("mcm!merged-one-value", "with merge=on all lanes of a merged atomic get one old value", NULL,
        CHOOSE("merge", "on"), REPLACE("L2.merge", "R", "ANSWER", "answer_each", act_answer_first_value)),
    BUG("mcm!merged-all-swap", "with merge=on every merged compare-and-swap is answered as one that has swapped", NULL,
        CHOOSE("merge", "on"), REPLACE("L2.merge", "R", "ANSWER", "answer_each", act_answer_swapped)),
    BUG("mcm!merged-crossed", "with merge=on a core gets the old values of another one's atomic", NULL,
        CHOOSE("merge", "on"), REPLACE("L2.merge", "R", "ANSWER", "answer_each", act_answer_crossed)),
    BUG("mcm!merged-late", "with merge=on an atomic joins an entry that has been sent", NULL, CHOOSE("merge", "on"),
        COPY("L2.merge", "R", "FIRST", "V", "JOIN")),
    BUG("mcm!merged-other", "with merge=on an atomic joins one of another operation or compared value", NULL,
        CHOOSE("merge", "on"), CLASSIFY("L2.merge", join_whatever)),
    BUG("mcm!merged-keeps-line", "with merge=on a near line stays when a merged atomic is sent", NULL,
        CHOOSE("merge", "on"), DROP("L2.merge", "V", "END LAST OTHER BEHIND", "drop_near")),
    BUG("mcm!merged-overtaken", "with merge=on a store or load passes an atomic of its core that waits", NULL,
        CHOOSE("merge", "on"), COPY("L2.merge", "V", "BEHIND", "V", "ALONE")),

    BUG("flush!victim-loses-words", "a near line is evicted without its dirty words", NULL,
        REPLACE("L2", "M W", "EVICT_DIRTY", "write_words_back", act_lose_words)),
    BUG("flush!acquire-loses-words", "an acquire drops dirty words, too", NULL,
        ADD("L2", "M W", "FORGET", act_call_words_clean)),
    BUG("flush!acquire-keeps-words", "an acquire keeps what is not dirty of a line with dirty words", NULL,
        STAY("L2", "M", "FORGET")),
    BUG("flush!acquire-keeps-lines", "an L2 answers DROP and keeps the other dies' lines", NULL,
        REPLACE("L2.boundaries", "ON", "DROP", "drop_near", act_answer_only)),
    BUG("flush!release-waits-for-nothing", "a release writes nothing back", NULL, WITH(order.release, NULL)),
    BUG("flush!flushed-early", "an L2 answers FLUSH and writes back nothing", NULL,
        REPLACE("L2.boundaries", "ON", "FLUSH", "flush", act_answer_flush)),
    BUG("flush!release-joins", "a release shares the flush in progress, whatever was stored since it began", NULL,
        REPLACE("L2.boundaries", "ON", "FLUSH", "flush", act_join_flush)),
    BUG("flush!last-not-awaited", "the last DROPPED or FLUSHED is not awaited", NULL,
        COPY("L1.boundaries", "ON", "DROPPED", "ON", "LAST_DROPPED")),
    BUG("flush!ordered-store-stays", "stores of order relaxed or stronger stay near, too", NULL,
        CLASSIFY("L2", take_every_store)),
    BUG("flush!atomic-before-words", "an atomic or ordered access passes before the line's dirty words", NULL,
        SWAP("L2", "M W", "NEAR_OTHER", "write_words_back", "pass")),
    BUG("flush!read-before-words", "a line is read before its dirty words are written back", NULL,
        SWAP("L2", "W", "NEAR_LOAD", "write_words_back", "near_get")),
    BUG("flush!words-answer-line", "dirty words answer for the line", NULL,
        COPY("L2", "W", "NEAR_LOAD", "W", "NEAR_COVERED")),
    BUG("flush!between-unordered", "what a near L2 sends the home is declared unordered", NULL, UNORDERED("between")),
    BUG("flush!kernel-does-not-wait", "a kernel ends with words that are dirty or on their way", NULL,
        COPY("L2.boundaries", "ON", "END", "ON", "END_CLEAN")),
    BUG("flush!kernel-keeps-lines", "a kernel's end drops no line of another die", NULL,
        DROP("L2.boundaries", "ON", "END_CLEAN", "drop_all")),
    BUG("flush!stale-die", "the L2s of one die drop nothing at a kernel's end", NULL,
        REPLACE("L2.boundaries", "ON", "END_CLEAN", "drop_all", act_drop_all_but_one)),

    BUG("cpelide!nothing-between-kernels", "nothing is written back or dropped before a launch", NULL,
        WITH(boundary, NULL)),
    BUG("cpelide!artifact-rules", "a die that runs the launch and has dirty words of an array drops nothing of it",
        NULL, CHOOSE("rules", "artifact")),
    BUG("cpelide!drop-keeps-lines", "an L2 answers DROP, an acquire's or a launch's, and keeps the other dies' lines",
        NULL, REPLACE("L2.boundaries", "ON", "DROP", "drop_near", act_answer_only)),
    BUG("cpelide!flushed-early", "an L2 answers FLUSH, a release's or a launch's, and writes back nothing", NULL,
        REPLACE("L2.boundaries", "ON", "FLUSH", "flush", act_answer_flush)),
    BUG("cpelide!end-without-note", "a kernel's end leaves dirty words as if no later launch should see them", NULL,
        DROP("L2.boundaries", "ON", "END", "end_kernel")),
    BUG("cpelide!host-reads-home", "the host reads lines at their homes, whatever words are dirty near", NULL,
        WITH(host_read, gpc_host_read)),
    BUG("cpelide!host-leaves-copies", "what the host writes leaves near lines as they are", NULL,
        WITH(host_write, gpc_host_write)),

    BUG("nhcc!acquire-keeps-copies", "an acquire drops nothing of the L1", NULL, WITH(order.acquire, NULL)),
    BUG("nhcc!release-waits-for-nothing", "a release asks no bank", NULL, WITH(order.release, NULL)),
    BUG("nhcc!home-answers", "a home answers a release before the dies that it has sent INV", NULL,
        REPLACE("L2.releases", "ON", "REL", "release", act_answer_release)),
    BUG("nhcc!release-joins", "a release shares the round in progress, whatever was invalidated since it began", NULL,
        REPLACE("L2.releases", "ON", "REL", "release", act_join_release), SMALL("directory_entries", 2)),
    BUG("nhcc!release-passes-inv", "what follows INV is declared unordered", NULL, UNORDERED("invalidate")),
    BUG("nhcc!doomed-line-joined", "a load joins a near line on its way that an INV has hit, and that is not kept",
        NULL, COPY("L2", "NX", "NEAR_LOAD", "NP", "NEAR_LOAD"), NEXT("L2", "NX", "NEAR_LOAD", "NX")),
    BUG("nhcc!doomed-line-kept", "a near line on its way is kept that an INV has hit", NULL,
        DROP("L2", "NP", "DROP", "release_way"), STAY("L2", "NP", "DROP")),
    BUG("nhcc!near-line-survives-inv", "an INV leaves the near line", NULL, STAY("L2", "N", "DROP")),
    BUG("nhcc!near-line-survives-store", "a near line stays when a store passes", NULL, STAY("L2", "N", "NEAR_OTHER")),
    BUG("nhcc!reader-forgotten", "the home does not list a die that reads a line which it has", NULL,
        DROP("L2", "V", "GETS", "note_reader")),
    BUG("nhcc!replaced-without-inv", "a replaced entry of the directory sends no INV", NULL,
        DROP("L2.directory", "V", "EVICT", "evict")),
    BUG("nhcc!atomic-without-inv", "an atomic invalidates nothing", NULL, DROP("L2", "V", "ATOMIC", "invalidate")),
    BUG("nhcc!writer-forgotten", "a die that writes a line of a region is listed no more for the others", NULL,
        NEXT("L2.directory", "V", "WRITE_LISTED", "I"), SMALL("region_lines", 4)),
    BUG("nhcc!first-line-dropped", "an INV drops the first line of the region alone", NULL,
        REPLACE("L2.releases", "ON", "INV", "drop_region", act_drop_first_line), SMALL("region_lines", 4)),
    BUG("nhcc!host-leaves-copies", "what the host writes leaves near lines", NULL, WITH(host_write, gpc_host_write)),

    BUG("hmg!home-answers", "a home answers a release before the dies and GPUs that it has sent INV", NULL,
        COPY("L2.releases", "ON", "REL_SYS", "ON", "REL"),
        REPLACE("L2.releases", "ON", "REL REL_SYS", "release", act_answer_release)),
    BUG("hmg!release-passes-inv", "what follows INV is declared unordered", NULL, UNORDERED("invalidate")),
    BUG("hmg!doomed-line-joined", "a load joins a near line on its way that an INV has hit, and that is not kept", NULL,
        COPY("L2", "NX", "NEAR_LOAD", "NP", "NEAR_LOAD"), NEXT("L2", "NX", "NEAR_LOAD", "NX")),
    BUG("hmg!reader-forgotten", "the home does not list a die that reads a line which it has", NULL,
        DROP("L2", "V", "GETS", "note_reader")),
    BUG("hmg!replaced-without-inv", "a replaced entry of the directory sends no INV", NULL,
        DROP("L2.directory", "V", "EVICT", "evict")),
    BUG("hmg!gpu-home-answers", "a GPU home answers FOLLOW before its dies", NULL,
        COPY("L2.releases", "ON", "FOLLOW_SYS", "ON", "FOLLOW")),
    BUG("hmg!inv-not-forwarded", "a GPU home does not send INV on", NULL, DROP("L2.directory", "V", "INV", "forward")),
    BUG("hmg!sys-release-asks-gpu", "a release of scope sys asks the banks of its GPU", NULL,
        REPLACE("L1.releases", "ON", "RELEASE", "ask_release", act_ask_gpu)),
    BUG("hmg!sys-release-taken-for-gpu", "a bank takes a release of scope sys for one of scope gpu", NULL,
        COPY("L2.releases", "ON", "REL_SYS", "ON", "REL")),
    BUG("hmg!gpu-copies-survive-store", "a store that passes the GPU home invalidates none of its GPU's copies", NULL,
        DROP("L2", "I N NP NX", "NEAR_OTHER", "invalidate_gpu")),
    BUG("hmg!gpu-copies-survive-load", "a load that passes the GPU home invalidates none of its GPU's copies", NULL,
        REPLACE("L2", "I N NP NX", "NEAR_OTHER", "invalidate_gpu", act_invalidate_for_writes)),
    BUG("hmg!passed-reader-forgotten", "a GPU home does not list a die whose read request it passes on", NULL,
        DROP("L2", "I", "NEAR_FULL", "note_reader")),

    BUG("sw-hier!sys-acquire-keeps-gpu-lines", "an acquire of scope sys keeps the lines of GPU homes", NULL,
        DROP("L2.acquires", "ON", "DROP_BOTH DROP_GPU", "drop_gpu")),
    BUG("sw-hier!sys-acquire-asks-die", "an acquire of scope sys asks the banks of its die alone", NULL,
        REPLACE("L1.acquires", "ON", "ACQUIRE", "ask", act_acquire_of_gpu)),
    BUG("sw-hier!gpu-line-survives-store", "a GPU home keeps a line when a store passes", NULL,
        STAY("L2", "G", "NEAR_OTHER")),
    BUG("sw-hier!late-gpu-line-kept", "a GPU home keeps a line that was on its way when an acquire of scope sys came",
        NULL, DROP("L2", "GP", "DROP_GPU", "release_way"), STAY("L2", "GP", "DROP_GPU")),
    BUG("sw-hier!gpu-acquire-keeps-lines", "an acquire of scope gpu keeps near lines", NULL,
        DROP("L2.acquires", "ON", "DROP", "drop_near")),

    BUG("lrm!acquire-keeps-copies", "an acquire drops nothing of the L1, and a fence sends no DROP", NULL,
        WITH(order.acquire, NULL)),
    BUG("lrm!near-keeps-lines", "an L2 answers DROP and keeps the other dies' lines", NULL,
        REPLACE("L2.acquires", "ON", "DROP", "drop_near", act_answer_only)),
    BUG("lrm!acquire-does-not-wait", "every acquire drops, and loads behind it do not wait for DROPPED", NULL,
        WITH(order.before, NULL)),
    BUG("lrm!barrier-does-not-wait", "a barrier does not wait for the drops of its core", NULL,
        WITH(order.barrier, NULL), WITH(order.barrier_releases, false)),
    BUG("lrm!new-owner-keeps-lines", "an acquire of a die that is not the owner drops nothing", NULL,
        COPY("L2.directory", "T O", "ACQUIRE", "O", "ACQUIRE_OWN")),
    BUG("lrm!first-owner-keeps-lines", "a die whose variable has no owner drops nothing", NULL,
        REPLACE("L2.directory", "I", "ACQUIRE", "take", act_own_only)),
    BUG("lrm!taken-is-owned", "a die is the owner before its drop has ended", NULL,
        COPY("L2.directory", "T", "ACQUIRE_OWN", "O", "ACQUIRE_OWN"), NEXT("L2.directory", "T", "ACQUIRE_OWN", "T")),
    BUG("lrm!others-confirm", "a store or atomic of another warp of the die ends the drop", NULL,
        NEXT("L2.directory", "T", "WRITE_OWN", "O")),
    BUG("lrm!owner-survives-store", "a store or atomic of another die leaves the owner", NULL,
        STAY("L2.directory", "O", "WRITE")),
    BUG("lrm!taker-survives-store", "a store or atomic of another die leaves a variable taken", NULL,
        STAY("L2.directory", "T", "WRITE")),
    BUG("lrm!answer-forgotten", "the L1 takes no notice of whether near lines must be dropped", NULL,
        DROP("L1", "II", "DATA LAST_DATA", "note_drops")),
    BUG("lrm!between-unordered", "what a near L2 passes on is declared unordered", NULL, UNORDERED("between")),
    BUG("lrm!late-line-kept", "a near line is kept that was on its way when its die dropped", NULL,
        DROP("L2", "NP", "DROP", "release_way"), STAY("L2", "NP", "DROP")),
    BUG("lrm!near-line-survives-store", "a near line stays when a store passes", NULL, STAY("L2", "N", "NEAR_OTHER")),
    BUG("lrm!merged-drop-forgotten", "with merge=on cores learn of no drop that their merged atomics need", NULL,
        CHOOSE("merge", "on"), REPLACE("L2.merge", "R", "ANSWER", "answer_each", act_answer_without_drops)),
    BUG("lrm!l1-keeps-copies", "an acquire of the owner keeps the L1's copies", NULL, STAY("L1", "V", "ACQUIRE")),

    BUG("ideal-dies!near-line-stays", "a hit in a near L2 returns the words of the last one that renewed the line",
        NULL, DROP("L2", "N", "NEAR_LOAD", "renew")),
    BUG("ideal-dies!line-as-sent", "a line that comes has the words that the home has sent, and hits do not renew them",
        NULL, REPLACE("L2", "NP", "NEAR_DATA", "renew", act_take_as_sent), DROP("L2", "N", "NEAR_LOAD", "renew")),
    BUG("ideal-dies!line-of-later-words", "a line that a store has passed on its way brings the newest words", NULL,
        NEXT("L2", "NP", "NEAR_OTHER", "NP")),
    BUG("ideal-dies!acquire-keeps-copies", "an acquire drops nothing", NULL, WITH(order.acquire, NULL)),
    BUG("ideal-dies!load-passes-store", "a load behind a store of its core hits the near line", NULL,
        REPLACE("L1", "IH", "LOAD LOAD_PAST", "read_home", act_read_near)),
    BUG("ideal-dies!between-unordered", "what a near L2 passes on is declared unordered", NULL, UNORDERED("between")),
    {0}};
