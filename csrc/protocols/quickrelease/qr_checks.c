/* qr_checks.c: what must hold in every run of qr; statistics that no decision reads number entries, markers and Invs.
 *
 * The words that a release orders are in memory when it is answered, because each level empties before the marker
 * leaves it and channels keep their order. The monitors of values (check/) see that all words have reached the wL2 when
 * the release completes.
 */
#include "protocols/quickrelease/qr.h"

enum { STATE_V = 1, STATE_VW = 2 };

static int
check_left(gpc_controller_t *unit, gpc_index_t way)
{
    const gpc_tags_t *writes = &unit->arrays[QR_WRITES];

    return qr_write_line_at(unit, QR_WRITES, way)->place > qr_unit(unit)->left
               ? GPC_OK
               : gpc_violated(unit, gpc_tags_line(writes, way), "a marker leaves a level behind all older words",
                              "%s %u has a block that entered before its last marker", unit->type->name, unit->index);
}

/* A marker's step, which is about no line. */
static int
check_all_left(gpc_controller_t *unit)
{
    const gpc_tags_t *writes = &unit->arrays[QR_WRITES];
    int status = GPC_OK;

    for (gpc_index_t way = 0; way < writes->sets * writes->ways && status == GPC_OK; way++) {
        status = gpc_tags_present(writes, way) ? check_left(unit, way) : GPC_OK;
    }
    return status;
}

static int
check_level(gpc_controller_t *unit, gpc_address_t line)
{
    const gpc_tags_t *reads = &unit->arrays[QR_READS];
    gpc_index_t way = gpc_tags_find(reads, line);
    gpc_index_t written = gpc_tags_find(&unit->arrays[QR_WRITES], line);
    bool dirty = written != GPC_NONE;
    int status = line == 0 ? check_all_left(unit) : dirty ? check_left(unit, written) : GPC_OK;
    bool rests = way != GPC_NONE && reads->tags[way].mshr == GPC_NONE;

    GPC_TRY(status);
    if (dirty && gpc_part_find(qr_fifo(unit), line) == GPC_NONE) {
        return gpc_violated(unit, line, "the S-FIFO lists every dirty block",
                            "%s %u has dirty words, its S-FIFO no entry", unit->type->name, unit->index);
    }
    if (qr_position(unit) == GPC_AT_MEMORY || !rests) {
        return GPC_OK;
    }
    if (qr_read_line_at(unit, QR_READS, way)->old) {
        return gpc_violated(unit, line, "no copy to read is older than words that a write cache gave up",
                            "%s %u keeps old words, mask 0x%llx", unit->type->name, unit->index,
                            (unsigned long long) qr_read_line_at(unit, QR_READS, way)->old);
    }
    if ((reads->tags[way].state == STATE_V && dirty) || (reads->tags[way].state == STATE_VW && !dirty)) {
        return gpc_violated(unit, line, "the written bit is set while the write cache has words",
                            "%s %u: the bit is %s, the write cache has %s", unit->type->name, unit->index,
                            dirty ? "clear" : "set", dirty ? "words" : "none");
    }
    return GPC_OK;
}

/* Each Inv is one for each L1. */
static int
check_invs(gpc_controller_t *bank, gpc_address_t line)
{
    const qr_unit_t *fields = qr_unit(bank);
    return fields->given_up == fields->invs
               ? GPC_OK
               : gpc_violated(bank, line, "each block that a wL2 gives up is invalidated once in every rL1",
                              "%u blocks were given up, %u broadcasts sent", fields->given_up, fields->invs);
}

/* What a marker orders is in memory when S-FIFO3 has passed it. */
static int
check_answers(const gpc_units_t *units)
{
    uint32_t taken = 0, sent = 0;

    for (uint32_t i = 0; i < units->memory->machine->memory_units; i++) { /* consecutive nodes, the first one named */
        sent += qr_unit(units->memory + i)->answers;
    }
    for (uint32_t i = 0; i < units->num_cores; i++) {
        taken += qr_unit(units->cores[i])->answers;
    }
    return taken <= sent ? GPC_OK
                         : gpc_violated(units->memory, GPC_NEVER, "a marker is answered when it has left S-FIFO3",
                                        "cores have taken %u answers, S-FIFO3 has sent %u", taken, sent);
}

int
qr_monitor(const gpc_units_t *units, gpc_address_t line)
{
    if (line == GPC_NEVER) { /* a step about a marker */
        return check_answers(units);
    }
    if (units->stepped) { /* what is checked of a unit is of no other: the line of a marker has no home */
        bool at_bank = qr_position(units->stepped) == GPC_AT_BANK;
        GPC_TRY(check_level(units->stepped, line));
        return at_bank ? check_invs(units->stepped, line) : GPC_OK;
    }
    int status = check_level(units->memory, line);
    if (status == GPC_OK) {
        status = check_level(units->bank, line);
    }
    if (status == GPC_OK) {
        status = check_invs(units->bank, line);
    }
    for (uint32_t i = 0; i < units->num_cores && status == GPC_OK; i++) {
        status = check_level(units->cores[i], line);
    }
    return status;
}

/* ---- markers and Invs -------------------------------------------------------------------------------------------- */

int
qr_check_inv(const gpc_step_t *x)
{
    qr_unit_t *fields = qr_unit(x->unit);

    fields->invs++;
    if (x->way != GPC_NONE) {
        qr_read_line(x)->old = gpc_all_words(x->unit); /* should it stay */
    }
    return x->unit->machine->partitions > 1 || qr_message(x->msg)->invs == fields->invs
               ? GPC_OK
               : gpc_violated(x->unit, x->line, "an L1 takes every Inv once", "Inv %u of the bank is the L1's Inv %u",
                              qr_message(x->msg)->invs, fields->invs);
}

int
qr_check_answer(const gpc_step_t *x)
{
    const qr_message_t *answer = qr_message(x->msg);
    qr_unit_t *fields = qr_unit(x->unit);

    fields->answers++;
    uint32_t banks = x->unit->machine->partitions; /* of each come the answers to all markers, in order */
    if (answer->number == 0 || fields->answers < answer->number || fields->answers > banks * fields->numbers ||
        (banks == 1 && fields->answers != answer->number)) {
        return gpc_violated(x->unit, GPC_NEVER, "a core's markers keep their order, and each is answered once",
                            "answer %u is to marker %u", fields->answers, answer->number);
    }
    return banks > 1 || answer->invs == fields->invs
               ? GPC_OK
               : gpc_violated(x->unit, GPC_NEVER, "the answer to a marker comes after the Invs before it",
                              "the bank had sent %u, the L1 has taken %u", answer->invs, fields->invs);
}
