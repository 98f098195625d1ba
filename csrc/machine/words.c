/* words.c: see words.h. */
#include "machine/parts.h"

/* ---- masks ------------------------------------------------------------------------------------------------------- */

static gpc_mask_t
fetched_for(const gpc_gpu_t *gpu, gpc_mask_t words)
{
    gpc_mask_t all = gpc_all_words(&gpu->controllers[0]);
    return gpu->machine.sector_bytes ? gpc_sectors_of(gpu->machine.sector_bytes, words & all) : words ? all : 0;
}

/* Adds words to the line in each array that has it; with `replaces`, they are all that is there. */
static void
mark(gpc_controller_t *unit, gpc_address_t line, gpc_mask_t here, gpc_mask_t stored, bool replaces)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        gpc_tags_t *tags = &unit->arrays[i];
        gpc_index_t way = tags->sets ? gpc_tags_find(tags, line) : GPC_NONE;
        if (way != GPC_NONE && tags->words) {
            tags->words[way].here = here | (replaces ? 0 : tags->words[way].here);
            tags->words[way].stored |= stored;
        }
    }
}

/* What the unit has of the line, in its arrays and by the message that it takes; false: nothing is known of it. */
static bool
known(const gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_address_t line, gpc_tag_words_t *out)
{
    const gpc_words_arriving_t *arriving = &gpu->words.arriving[unit->node];
    bool found = arriving->line == line;
    *out = (gpc_tag_words_t){found ? arriving->here : 0, 0};
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        const gpc_tags_t *tags = &unit->arrays[i];
        gpc_index_t way = tags->sets ? gpc_tags_find(tags, line) : GPC_NONE;
        if (way != GPC_NONE && tags->words) {
            out->here |= tags->words[way].here;
            out->stored |= tags->words[way].stored;
            found = true;
        }
    }
    return found;
}

/* A message of the protocol that carries words, not lanes. */
static bool
carries_words(const gpc_controller_t *unit, const gpc_msg_t *msg)
{
    if (msg->type < GPC_MSG_OWN || msg->lanes != GPC_NONE) {
        return false;
    }
    const gpc_message_info_t *info = gpc_message_info(unit, msg->type);
    return info->whole_line || info->bytes_per_word;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* What a message changes of its line's masks once it is taken. */
typedef struct {
    gpc_address_t line;
    gpc_mask_t here, stored;
    bool brings, replaces; /* words of `here` are there during the step already; they are all that is there */
} effect_t;

static effect_t
effect_of(const gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_index_t message)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_mask_t all = gpc_all_words(unit);
    effect_t it = {.line = msg->line};
    bool at_core = unit->type->position == GPC_AT_CORE, words = carries_words(unit, msg);

    if (msg->type == GPC_MSG_FILL) {
        it.here = gpu->words.banks ? msg->here : all;
        it.brings = true;
    } else if (msg->type < GPC_MSG_OWN) { /* of the core */
        it.here = it.stored = msg->type == GPC_MSG_STORE || msg->type == GPC_MSG_ATOMIC ? msg->mask : 0;
    } else if (at_core) {
        it.brings = words || msg->lanes != GPC_NONE;
        it.replaces = words && gpc_message_info(unit, msg->type)->whole_line;
        it.here = !it.replaces ? (it.brings ? msg->mask : 0) : msg->here ? msg->here : all;
    } else if (words || msg->lanes != GPC_NONE) {
        it.here = it.stored = msg->mask;
    }
    return it;
}

static void
begin(gpc_gpu_t *gpu, gpc_controller_t *unit, const effect_t *it)
{
    if (it->brings) {
        mark(unit, it->line, it->here, 0, it->replaces);
        gpu->words.arriving[unit->node] = (gpc_words_arriving_t){it->line, it->here};
    }
}

static int
end(gpc_gpu_t *gpu, gpc_controller_t *unit, const effect_t *it, int status)
{
    gpu->words.arriving[unit->node].line = GPC_NEVER;
    if (status == GPC_OK) {
        mark(unit, it->line, it->here, it->stored, false);
    }
    return status;
}

int
gpc_gpu_take_words(gpc_gpu_t *gpu, gpc_controller_t *unit, gpc_index_t message)
{
    effect_t it = effect_of(gpu, unit, message);
    begin(gpu, unit, &it);
    return end(gpu, unit, &it, gpc_controller_take(unit, message));
}

int
gpc_gpu_replay_words(gpc_gpu_t *gpu, gpc_controller_t *unit)
{
    effect_t it = effect_of(gpu, unit, unit->replay->head);
    begin(gpu, unit, &it);
    return end(gpu, unit, &it, gpc_controller_replay(unit));
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

uint32_t
gpc_gpu_words_bytes(const gpc_gpu_t *gpu, gpc_mask_t words)
{
    return 4 * gpc_count_bits(fetched_for(gpu, words));
}

gpc_mask_t
gpc_gpu_words_to_fetch(const gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_address_t line)
{
    const gpc_step_t *x = unit->step;
    if (!x || x->message == GPC_NONE || x->line != line) {
        return gpc_all_words(unit);
    }
    bool store = carries_words(unit, x->msg);
    gpc_mask_t wanted = x->msg->mask ? x->msg->mask : x->msg->here;
    wanted = x->table->object == GPC_OVER_WORDS ? 0 : wanted; /* its answers bring what else the line has */
    return store && gpu->machine.l2_byte_masks ? 0 : wanted ? fetched_for(gpu, wanted) : gpc_all_words(unit);
}

uint32_t
gpc_gpu_words_written_bytes(const gpc_gpu_t *gpu, const gpc_controller_t *unit, gpc_address_t line, gpc_mask_t mask)
{
    gpc_tag_words_t words;
    bool has = known(gpu, unit, line, &words) && words.stored & mask;
    uint32_t bytes = gpc_gpu_words_bytes(gpu, has ? words.stored & mask : mask);
    return bytes ? bytes : gpu->machine.line_bytes; /* the CPU's line */
}

static int
read_memory(gpc_gpu_t *gpu, gpc_index_t read)
{
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, read);
    uint32_t channel = gpc_home_channel(&gpu->homes, msg->line);
    return gpc_dram_read_part(&gpu->dram, channel, read, gpc_gpu_words_bytes(gpu, msg->here));
}

int
gpc_gpu_words_room(gpc_gpu_t *gpu, uint32_t channel)
{
    gpc_list_t *unread = &gpu->words.unread[channel];
    while (unread->count && gpc_dram_room(&gpu->dram, channel) > 0) {
        GPC_TRY(read_memory(gpu, gpc_list_pop(unread, &gpu->messages)));
    }
    return GPC_OK;
}

static gpc_words_read_t *
reads_of(const gpc_gpu_t *gpu, const gpc_controller_t *bank)
{
    return &gpu->words.reads[bank->index * GPC_WORDS_READS];
}

/* The bank's message `waiting` waits for these words of the line, of a read that is under way or of a new one. */
static int
fetch_for(gpc_gpu_t *gpu, const gpc_controller_t *bank, gpc_address_t line, gpc_mask_t words, gpc_index_t waiting)
{
    gpc_words_read_t *reads = reads_of(gpu, bank);
    gpc_index_t read = gpc_gpu_inner_message(gpu, bank, GPC_MSG_WORDS, line);
    uint32_t free = GPC_WORDS_READS, channel = gpc_home_channel(&gpu->homes, line);
    if (read == GPC_NONE) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for words from memory");
    }
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, read);
    msg->here = words;
    msg->fields[0] = waiting;
    for (uint32_t i = 0; i < GPC_WORDS_READS; i++) {
        if (reads[i].words && reads[i].line == line && (words & ~reads[i].words) == 0) {
            gpc_list_push(&reads[i].joined, &gpu->messages, read);
            return GPC_OK;
        }
        free = reads[i].words == 0 ? i : free;
    }
    msg->fields[1] = free;
    if (free < GPC_WORDS_READS) {
        reads[free].line = line;
        reads[free].words = words;
    }
    msg->ready = gpc_gpu_ticks_to_channel(gpu, bank, channel);
    if (gpu->words.unread[channel].count || gpc_dram_room(&gpu->dram, channel) == 0) {
        gpc_list_push(&gpu->words.unread[channel], &gpu->messages, read);
        return GPC_OK;
    }
    return read_memory(gpu, read);
}

/* Whether words of a line that the message of a bank brings to a core are lacking: it waits for them. */
int
gpc_gpu_words_before_send(gpc_gpu_t *gpu, const gpc_controller_t *bank, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_mask_t needed = 0;
    gpc_tag_words_t has;

    if (msg->destination < gpu->machine.cores) {
        bool words = msg->type == GPC_MSG_WORDS || msg->lanes != GPC_NONE || carries_words(bank, msg);
        needed = !words ? 0 : msg->here ? msg->here : msg->mask;
    }
    bool is_known = needed && known(gpu, bank, msg->line, &has);
    gpc_mask_t lacking = is_known ? needed & ~has.here : msg->type == GPC_MSG_WORDS ? needed : 0;
    if (lacking == 0) {
        return GPC_OK;
    }
    msg->late = 1;
    return fetch_for(gpu, bank, msg->line, fetched_for(gpu, lacking), message);
}

static int
let_go(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t read)
{
    gpc_index_t waiting = (gpc_index_t) gpc_msg_at(&gpu->messages, read)->fields[0];
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, waiting);
    gpc_pool_give(&gpu->messages, read);
    msg->late = 0;
    const gpc_network_t *carrier = gpu->carriers[msg->network];
    gpc_network_route_t route = gpc_network_route_of(carrier, msg);
    return carrier->hooks.room(carrier->hooks.world, node, msg->network, route.lane);
}

int
gpc_gpu_words_read(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t read)
{
    gpc_controller_t *bank = &gpu->controllers[node];
    const gpc_msg_t *msg = gpc_msg_at(&gpu->messages, read);
    uint64_t place = msg->fields[1];
    gpc_list_t joined;

    gpc_list_clear(&joined);
    mark(bank, msg->line, msg->here, 0, false);
    if (place < GPC_WORDS_READS) {
        joined = reads_of(gpu, bank)[place].joined;
        gpc_list_clear(&reads_of(gpu, bank)[place].joined);
        reads_of(gpu, bank)[place].words = 0;
    }
    GPC_TRY(let_go(gpu, node, read));
    while (joined.count) {
        GPC_TRY(let_go(gpu, node, gpc_list_pop(&joined, &gpu->messages)));
    }
    return GPC_OK;
}

/* ---- sectors of L1s ---------------------------------------------------------------------------------------------- */

/* Asks the line's bank for sectors. */
static int
ask(gpc_gpu_t *gpu, const gpc_controller_t *l1, gpc_address_t line, gpc_mask_t sectors)
{
    gpc_index_t message = gpc_gpu_inner_message(gpu, l1, GPC_MSG_WORDS, line);
    if (message == GPC_NONE) {
        return gpc_fail(&gpu->failure, GPC_ERROR_CAPACITY, "no free message for a sector");
    }
    gpc_msg_at(&gpu->messages, message)->mask = sectors;
    gpc_msg_at(&gpu->messages, message)->traffic_class = GPC_CLASS_REQ;
    return gpc_gpu_send_inner(gpu, l1->node, gpc_home_of(l1, line), message, 0);
}

gpc_mask_t
gpc_gpu_words_lacking(const gpc_gpu_t *gpu, const gpc_controller_t *l1, const gpc_msg_t *msg)
{
    gpc_tag_words_t has;
    bool reads = msg->type == GPC_MSG_LOAD || msg->type == GPC_MSG_ATOMIC;
    return reads && known(gpu, l1, msg->line, &has) ? fetched_for(gpu, msg->mask & ~has.here) : 0;
}

int
gpc_gpu_words_wait(gpc_gpu_t *gpu, gpc_controller_t *l1, gpc_index_t message, const uint32_t *words, gpc_mask_t lacking)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_list_t *waiting = &gpu->words.waiting[l1->index];
    gpc_mask_t asked = 0;
    gpc_index_t i = waiting->head;

    for (uint32_t n = 0; n < waiting->count; n++, i = gpc_msg_at(&gpu->messages, i)->next) {
        const gpc_msg_t *other = gpc_msg_at(&gpu->messages, i);
        asked |= other->line == msg->line ? other->here : 0;
    }
    msg->here = lacking;
    if (words && msg->type == GPC_MSG_LOAD) {
        gpc_merge_words(msg->data, words, msg->mask);
    }
    gpc_list_push(waiting, &gpu->messages, message);
    return lacking & ~asked ? ask(gpu, l1, msg->line, lacking & ~asked) : GPC_OK;
}

static int
bring(gpc_gpu_t *gpu, gpc_controller_t *l1, gpc_address_t line, gpc_mask_t sectors)
{
    gpc_list_t *waiting = &gpu->words.waiting[l1->index], all = *waiting;
    gpc_cycle_t now = gpc_gpu_cycle(gpu);
    gpc_cycle_t delay = gpu->fill_cycles + (now * gpu->core_clock.period != gpc_wheel_now(&gpu->wheel));

    mark(l1, line, sectors, 0, false);
    gpc_list_clear(waiting);
    while (all.count) {
        gpc_index_t i = gpc_list_pop(&all, &gpu->messages);
        gpc_msg_t *msg = gpc_msg_at(&gpu->messages, i);
        msg->here &= msg->line == line ? ~sectors : UINT32_MAX;
        if (msg->here) {
            gpc_list_push(waiting, &gpu->messages, i);
            continue;
        }
        GPC_TRY(gpc_cores_complete(&gpu->cores, l1->index, i, msg->data, now, delay + msg->late));
    }
    return GPC_OK;
}

int
gpc_gpu_words_arrived(gpc_gpu_t *gpu, gpc_node_t node, gpc_index_t message)
{
    gpc_msg_t *msg = gpc_msg_at(&gpu->messages, message);
    gpc_address_t line = msg->line;
    gpc_mask_t sectors = msg->mask;
    if (!gpc_gpu_service(gpu, node)->has_core) {
        msg->traffic_class = GPC_CLASS_LD;
        return gpc_gpu_send_inner(gpu, node, msg->requester, message, 4 * gpc_count_bits(sectors));
    }
    gpc_pool_give(&gpu->messages, message);
    return bring(gpu, &gpu->controllers[node], line, sectors);
}

gpc_traffic_t
gpc_gpu_words_traffic(const gpc_gpu_t *gpu)
{
    return gpu->links[GPC_INTERCONNECT].traffic[GPC_MSG_WORDS];
}

/* ---- creation ---------------------------------------------------------------------------------------------------- */

static int
give_masks(gpc_gpu_t *gpu, gpc_controller_t *unit)
{
    for (uint32_t i = 0; i < GPC_MAX_ARRAYS && unit->type->arrays[i].name; i++) {
        gpc_tags_t *tags = &unit->arrays[i];
        if (tags->sets) {
            tags->words = GPC_ARENA_TAKE(&gpu->arena, (size_t) tags->sets * tags->ways, gpc_tag_words_t);
            GPC_TRY(tags->words ? GPC_OK : GPC_ERROR_MEMORY);
        }
    }
    return GPC_OK;
}

int
gpc_gpu_make_words(gpc_gpu_t *gpu)
{
    const gpc_machine_t *m = &gpu->machine;
    gpc_words_t *words = &gpu->words;

    *words = (gpc_words_t){0};
    gpu->sends_late = gpu->crosses;
    if (m->sector_bytes == 0 && !m->l2_byte_masks) {
        return GPC_OK;
    }
    words->on = true;
    words->sectors = m->sector_bytes != 0 && gpc_gpu_network_for(gpu, true) != GPC_MAX_NETWORKS;
    words->banks = gpu->services[GPC_AT_BANK].fetches;
    gpu->sends_late = gpu->sends_late || words->banks;
    words->arriving = GPC_ARENA_TAKE(&gpu->arena, gpc_gpu_nodes(gpu), gpc_words_arriving_t);
    words->reads = GPC_ARENA_TAKE(&gpu->arena, m->partitions * GPC_WORDS_READS, gpc_words_read_t);
    words->waiting = GPC_ARENA_TAKE(&gpu->arena, m->cores, gpc_list_t);
    words->unread = GPC_ARENA_TAKE(&gpu->arena, gpc_gpu_channels(gpu), gpc_list_t);
    if (!words->arriving || !words->reads || !words->waiting || !words->unread) {
        return GPC_ERROR_MEMORY;
    }
    for (uint32_t node = 0; node < m->cores + m->partitions; node++) {
        GPC_TRY(node < m->cores || words->banks ? give_masks(gpu, &gpu->controllers[node]) : GPC_OK);
    }
    gpc_gpu_clear_words(gpu);
    return GPC_OK;
}

void
gpc_gpu_clear_words(gpc_gpu_t *gpu)
{
    gpc_words_t *words = &gpu->words;
    for (uint32_t node = 0; words->on && node < gpc_gpu_nodes(gpu); node++) {
        words->arriving[node].line = GPC_NEVER;
    }
    for (uint32_t i = 0; words->on && i < gpu->machine.partitions * GPC_WORDS_READS; i++) {
        words->reads[i].words = 0;
        gpc_list_clear(&words->reads[i].joined);
    }
    for (uint32_t core = 0; words->on && core < gpu->machine.cores; core++) {
        gpc_list_clear(&words->waiting[core]);
    }
    for (uint32_t channel = 0; words->on && channel < gpc_gpu_channels(gpu); channel++) {
        gpc_list_clear(&words->unread[channel]);
    }
}
