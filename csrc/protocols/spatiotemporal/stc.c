/* stc.c: STC-NV, STC-ES, STC-AB and STC-MB: turn-based spatiotemporal coherence; stc.h says where its parts are.
 *
 * Paper    Puthoor and Lipasti, TACO 2023, sections 3 to 6: STC-NV takes every epoch in turn (4.2), STC-ES skips epochs
 *          that no store demands (4.3), STC-AB moves the bands when a load and a store of one band conflict (4.4),
 *          STC-MB grants up to four epochs together (4.4, 6). An acquire has nothing to do: a copy that may be read has
 *          the L2's words.
 */
#include "protocols/spatiotemporal/stc_cu.h"

GPC_MESSAGES(STC_MSG, STC_MESSAGES)
GPC_SAME_NUMBER(STC_MSG_CONFLICT, STC_CONFLICT);

int
stc_check(const gpc_machine_t *machine, const int64_t *options, gpc_failure_t *failure)
{
    int64_t epochs = options[STC_OPTION_EPOCHS], seb = options[STC_OPTION_SEB];
    uint64_t sets = machine->l1_bytes / machine->line_bytes / machine->l1_ways;

    if (epochs & (epochs - 1)) {
        return gpc_fail(failure, GPC_ERROR_OPTION, "stc: epochs = %lld: must be a power of two", (long long) epochs);
    }
    if ((epochs << seb) > INT64_C(1) << 32) {
        return gpc_fail(failure, GPC_ERROR_OPTION,
                        "stc: seb = %lld: must be at most %d, so that addresses of 32 bits have %lld bands",
                        (long long) seb, 32 - __builtin_ctzll((unsigned long long) epochs), (long long) epochs);
    }
    if (sets > STC_MOST_SETS) {
        return gpc_fail(failure, GPC_ERROR_OPTION, "stc: an L1 of %llu sets: must have at most %d",
                        (unsigned long long) sets, STC_MOST_SETS);
    }
    return GPC_OK;
}

/* ---- the CU ------------------------------------------------------------------------------------------------------ */

GPC_COUNTS(COUNT, STC_CU_COUNTERS)

static uint8_t
route(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    return msg->type >= STC_PREPARE || msg->type == GPC_MSG_TIMER ? STC_TABLE_EPOCHS : src_route(unit, msg);
}

/* Lines of current bands that are not yet removed go first. */
static uint32_t
written_first(const gpc_controller_t *unit, uint8_t array, gpc_index_t way)
{
    return !stc_is_current(unit, gpc_tags_line(&unit->arrays[array], way));
}

#define STC_L1_TYPE(lines_, buffer_)                                                                                   \
    .name = "L1", .position = GPC_AT_CORE, .tables = {&(lines_), &(buffer_), &stc_turns},                              \
    .variants = {{.table = STC_TABLE_EPOCHS, .option = STC_OPTION_SKEW, .value = STC_SKEW_RESUME, .by = &stc_turns_resuming}}, \
    .arrays = {{.name = "tags", .line = stc_l1_line_described, .has_data = true}},                                     \
    .parts = {{.name = "coalescing buffer", .entry = stc_entry_described, .capacity = stc_buffer_entries, .banks = 16, .steps = 2}}, \
    .mshr = gpc_joined_mshr_described, .unit = stc_cu_unit_described, .counters = COUNT_info, .route = route,        \
    .victim_rank = written_first
static const gpc_controller_type_t stc_nv_l1 = {STC_L1_TYPE(stc_lines, stc_blocking)};
static const gpc_controller_type_t stc_es_l1 = {STC_L1_TYPE(stc_lines, stc_demanding)};
static const gpc_controller_type_t stc_ab_l1 = {STC_L1_TYPE(stc_conflicting, stc_demanding)};

/* ---- the protocols ----------------------------------------------------------------------------------------------- */

/* In the explorer: four bands of one line each, two of which the programs use; bands of two lines with seb=4. A power
 * of two is no range, so that the random tester keeps `epochs`. */
#define STC_OPTIONS                                                                                                    \
    [STC_OPTION_BUFFER] =                                                                                              \
        GPC_NUMBER("bsq", 256, 1, 4096, "entries of a CU's coalescing buffer and blocked-store queue", 4, 1, 64),      \
    STC_ACKS,                                                                                                          \
    [STC_OPTION_EPOCH] =                                                                                               \
        GPC_NUMBER("epoch", 100, 1, 1000000, "core cycles between the ticks of the epoch unit", 100, 20, 200),         \
    [STC_OPTION_EPOCHS] =                                                                                              \
        GPC_NUMBER("epochs", 16, 2, STC_MOST_EPOCHS, "epochs, and bands: a power of two", 4, 0, 0),                    \
    [STC_OPTION_SEB] =                                                                                                 \
        GPC_NUMBER("seb", 12, 2, 31, "start epoch bit: the lowest address bit of a band's number", 3, 5, 12),          \
    [STC_OPTION_SKEW] = {                                                                                              \
        .name = "skew", .standard = STC_SKEW_NEXT, .smallest = STC_SKEW_NEXT, .largest = STC_SKEW_SYNC,                \
        .choices = "next resume sync",                                                                                 \
        .text = "why no CU reads what another that has changed writes: PREPARE names the epochs to come; stores resume " \
                "when all have changed; all change in one cycle",                                                      \
        .fuzz_least = STC_SKEW_NEXT, .fuzz_most = STC_SKEW_SYNC}
#define STC_ADAPTS                                                                                                     \
    [STC_OPTION_ADAPT] = {                                                                                             \
        .name = "adapt", .standard = STC_ADAPT_LOWER, .smallest = STC_ADAPT_LOWER, .largest = STC_ADAPT_UPPER,         \
        .choices = "lower upper", .text = "address bits that a conflict looks at first: below the bands, or above",     \
        .fuzz_least = STC_ADAPT_LOWER, .fuzz_most = STC_ADAPT_UPPER},                                                  \
    [STC_OPTION_ETV] = {                                                                                               \
        .name = "etv", .standard = 0, .smallest = 0, .largest = 1, .choices = "off on",                                \
        .text = "whether an epoch's conflicts move the bands once until it is granted", .fuzz_least = 0, .fuzz_most = 1}

#define STC_PROTOCOL(l1, emu)                                                                                          \
    .paper = "Puthoor and Lipasti, TACO 2023", .family = "spatiotemporal coherence",                                   \
    .model = {[GPC_RULE_SC] = "SC", [GPC_RULE_RC] = "RC-MCA"}, .standard_rule = GPC_RULE_RC,                           \
    .controllers = {&(l1), &stc_l2, &(emu)}, GPC_MESSAGES_OF(STC_MSG), .message = stc_message_described,               \
    .networks = {{.name = "request", .requests = true},                                                                \
                 {.name = "response"},                                                                                 \
                 {.name = "to CUs", .ordered = true, .star = true},                                                    \
                 {.name = "from CUs", .ordered = true, .star = true}},                                                 \
    STC_ACKNOWLEDGES, .order = {.order_point = gpc_note_order_point}, .check = stc_check, .host_read = stc_host_read, .watched = &stc_watched, .monitor = stc_monitor, .explored.commutes = stc_commutes

/* Tests that last a few thousand cycles leave a band only if bands and epochs are small. */
#define STC_SHORT "seb=6,epochs=8,epoch=30"
#define STC_LATE_FILL {"L1", "IV", "DATA_E", NULL, "table 1 has this cell; here IV becomes II when the epoch begins"}

const gpc_protocol_t gpc_protocol_stc_nv = {
    .id = "stc-nv",
    .name = "STC-NV",
    .text =
        "turns instead of owners: in each epoch one band of addresses may be written, and no L1 reads its copies of it",
    STC_PROTOCOL(stc_nv_l1, stc_nv_emu),
    .options = {STC_OPTIONS},
    .declared = {.weak_outcomes = "SB MP",
                 .variations = STC_SHORT " ack=pipeline skew=resume skew=sync",
                 .uncovered = {STC_LATE_FILL,
                               {"L1.epochs", "RUN DRAIN READY SWEEP", "DEMAND_ACK", NULL,
                                "every epoch comes, and none is demanded"}}},
};

const gpc_protocol_t gpc_protocol_stc_es = {
    .id = "stc-es",
    .name = "STC-ES",
    .text = "STC-NV that skips epochs for which no store waits",
    STC_PROTOCOL(stc_es_l1, stc_es_emu),
    .options = {STC_OPTIONS},
    .declared = {.weak_outcomes = "SB MP",
                 .variations = STC_SHORT " ack=pipeline skew=resume skew=sync",
                 .uncovered = {STC_LATE_FILL}},
};

const gpc_protocol_t gpc_protocol_stc_ab = {
    .id = "stc-ab",
    .name = "STC-AB",
    .text = "STC-ES whose bands move when loads and waiting stores share one",
    STC_PROTOCOL(stc_ab_l1, stc_ab_emu),
    .options = {STC_OPTIONS, STC_ADAPTS},
    .declared = {.weak_outcomes = "SB MP",
                 .variations = STC_SHORT " ack=pipeline skew=resume skew=sync adapt=upper etv=on",
                 .uncovered = {STC_LATE_FILL}},
};

const gpc_protocol_t gpc_protocol_stc_mb = {
    .id = "stc-mb",
    .name = "STC-MB",
    .text = "STC-AB that grants several epochs together",
    STC_PROTOCOL(stc_ab_l1, stc_ab_emu),
    .options = {STC_OPTIONS, STC_ADAPTS,
                [STC_OPTION_BANDS] =
                    GPC_NUMBER("bands", 4, 1, STC_MOST_EPOCHS, "most epochs granted together", 2, 1, 4)},
    .declared = {.weak_outcomes = "SB MP",
                 .variations = STC_SHORT " ack=pipeline skew=resume skew=sync adapt=upper etv=on bands=1",
                 .uncovered = {STC_LATE_FILL}},
};
