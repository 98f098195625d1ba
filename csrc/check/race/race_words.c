/* race_words.c: the accesses to each word since the begin of the launch that can still race. */
#include <stdlib.h>
#include <string.h>

#include "check/race/race_parts.h"

/* ---- words and their records ------------------------------------------------------------------------------------- */

static void
clear_word(gpc_race_word_t *word)
{
    *word = (gpc_race_word_t){.write.thread = GPC_RACE_NOBODY, .read.thread = GPC_RACE_NOBODY};
}

gpc_race_word_t *
gpc_race_word_at(gpc_race_t *self, gpc_address_t address)
{
    gpc_race_page_t *page = gpc_pages_make(&self->pages, address / (4 * GPC_RACE_PAGE_WORDS));
    if (!page) {
        return NULL;
    }
    if (page->launch != self->launches) {
        page->launch = self->launches;
        for (uint32_t i = 0; i < GPC_RACE_PAGE_WORDS; i++) {
            clear_word(&page->words[i]);
        }
    }
    return &page->words[address / 4 % GPC_RACE_PAGE_WORDS];
}

/* Makes room for one more item of an owned array; false: out of memory. */
static bool
make_room(void **items, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity) {
        return true;
    }
    uint32_t more = *capacity ? 2 * *capacity : 4;
    void *grown = realloc(*items, more * size);
    if (!grown) {
        return false;
    }
    *items = grown;
    *capacity = more;
    return true;
}

gpc_race_sync_t *
gpc_race_sync_of(gpc_race_t *self, gpc_race_word_t *word)
{
    if (word->sync) {
        return &self->syncs[word->sync - 1];
    }
    if (!make_room((void **) &self->syncs, self->num_syncs, &self->sync_capacity, sizeof(*self->syncs))) {
        return NULL;
    }
    self->syncs[self->num_syncs] = (gpc_race_sync_t){0};
    word->sync = ++self->num_syncs;
    return &self->syncs[word->sync - 1];
}

void
gpc_race_forget_words(gpc_race_t *self, gpc_address_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        gpc_address_t address = first + 4 * (gpc_address_t) i;
        gpc_race_page_t *page = gpc_pages_find(&self->pages, address / (4 * GPC_RACE_PAGE_WORDS));
        if (page && page->launch == self->launches) {
            gpc_race_word_t *word = &page->words[address / 4 % GPC_RACE_PAGE_WORDS];
            if (word->split) {
                gpc_race_forget_words(self, gpc_race_byte_at(address), 4);
            }
            clear_word(word);
        }
    }
}

void
gpc_race_forget_all(gpc_race_t *self)
{
    for (uint32_t i = 0; i < self->num_sets; i++) {
        free(self->sets[i].items);
    }
    self->num_sets = 0;
    for (uint32_t i = 0; i < self->num_syncs; i++) {
        gpc_race_sync_t *sync = &self->syncs[i];
        for (uint32_t n = 0; n < sync->count; n++) {
            gpc_view_drop(sync->releases[n].view);
        }
        free(sync->releases);
        free(sync->reads.items);
        free(sync->writes.items);
    }
    self->num_syncs = 0;
}

/* ---- sets of accesses -------------------------------------------------------------------------------------------- */

static bool
is_before(const gpc_race_thread_t *thread, gpc_moment_t moment)
{
    return moment.thread == thread->thread || gpc_view_knows(thread->knows, moment);
}

static uint32_t
place_of(const gpc_race_set_t *set, const gpc_race_access_t *access)
{
    uint32_t low = 0, high = set->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const gpc_race_access_t *at = &set->items[middle];
        if (at->moment.thread < access->moment.thread ||
            (at->moment.thread == access->moment.thread && at->level < access->level)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Removes accesses that happen before the thread's access: whatever they race with, the new access races with too. */
static void
prune(gpc_race_set_t *set, const gpc_race_thread_t *thread)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!is_before(thread, set->items[i].moment)) {
            set->items[kept++] = set->items[i];
        }
    }
    set->count = kept;
}

static int
put(gpc_race_set_t *set, const gpc_race_thread_t *thread, const gpc_race_access_t *access)
{
    uint32_t place = place_of(set, access);
    if (place < set->count && set->items[place].moment.thread == access->moment.thread &&
        set->items[place].level == access->level) {
        set->items[place] = *access;
        return GPC_OK;
    }
    if (set->count == set->capacity) {
        prune(set, thread);
        place = place_of(set, access);
        bool is_full = 4 * set->count >= 3 * set->capacity; /* growing is cheaper than pruning repeatedly */
        if (is_full && !make_room((void **) &set->items, set->capacity, &set->capacity, sizeof(*set->items))) {
            return GPC_ERROR_MEMORY;
        }
    }
    memmove(&set->items[place + 1], &set->items[place], (set->count - place) * sizeof(*set->items));
    set->items[place] = *access;
    set->count++;
    return GPC_OK;
}

/* ---- conflicts --------------------------------------------------------------------------------------------------- */

static bool
reaches(const gpc_race_t *self, uint32_t from, uint8_t level, uint32_t to)
{
    uint32_t from_block = gpc_race_block_of(self, from), to_block = gpc_race_block_of(self, to);
    return from_block == to_block || gpc_race_reaches(self, self->core_of[from_block], level, self->core_of[to_block]);
}

/* Whether the scopes of two synchronising accesses include each other's thread. */
static bool
include_each_other(const gpc_race_t *self, const gpc_race_access_t *a, const gpc_race_access_t *b)
{
    return reaches(self, a->moment.thread, a->level, b->moment.thread) &&
           reaches(self, b->moment.thread, b->level, a->moment.thread);
}

/* The first access of the set that is not ordered before the given one. */
static bool
find_unordered(const gpc_race_t *self, const gpc_race_set_t *set, const gpc_race_thread_t *thread,
               const gpc_race_access_t *access, gpc_race_access_t *other)
{
    for (uint32_t i = 0; i < set->count; i++) {
        bool excused = access->synchronising && set->items[i].synchronising &&
                       (!self->narrow || include_each_other(self, access, &set->items[i]));
        if (!excused && !is_before(thread, set->items[i].moment)) {
            *other = set->items[i];
            return true;
        }
        if (excused && !self->narrow) {
            return false; /* all are */
        }
    }
    return false;
}

static bool
races(const gpc_race_t *self, const gpc_race_word_t *word, const gpc_race_thread_t *thread,
      const gpc_race_access_t *access, gpc_race_access_t *other)
{
    const gpc_race_sync_t *sync = word->sync ? &self->syncs[word->sync - 1] : NULL;

    if (word->write.thread != GPC_RACE_NOBODY && !is_before(thread, word->write)) {
        *other = (gpc_race_access_t){.moment = word->write, .pc = word->write_pc, .writes = true};
        return true;
    }
    if (sync && find_unordered(self, &sync->writes, thread, access, other)) {
        return true;
    }
    if (!access->writes) {
        return false;
    }
    if (word->read.thread == GPC_RACE_MANY) {
        if (find_unordered(self, &self->sets[word->read.time], thread, access, other)) {
            return true;
        }
    } else if (word->read.thread != GPC_RACE_NOBODY && !is_before(thread, word->read)) {
        *other = (gpc_race_access_t){.moment = word->read, .pc = word->read_pc};
        return true;
    }
    return sync && find_unordered(self, &sync->reads, thread, access, other);
}

/* All earlier accesses happen before this weak write: later accesses that are ordered after it are ordered after
 * them. */
static void
note_weak_write(gpc_race_t *self, gpc_race_word_t *word, const gpc_race_access_t *access)
{
    if (word->read.thread == GPC_RACE_MANY) {
        self->sets[word->read.time].count = 0; /* the word keeps its set */
    } else {
        word->read.thread = GPC_RACE_NOBODY;
    }
    if (word->sync) {
        self->syncs[word->sync - 1].reads.count = self->syncs[word->sync - 1].writes.count = 0;
    }
    word->write = access->moment;
    word->write_pc = access->pc;
}

/* The word holds one reader itself, several in a set. */
static int
note_weak_read(gpc_race_t *self, gpc_race_word_t *word, const gpc_race_thread_t *thread,
               const gpc_race_access_t *access)
{
    if (word->read.thread == GPC_RACE_MANY) {
        return put(&self->sets[word->read.time], thread, access);
    }
    if (word->read.thread == GPC_RACE_NOBODY || is_before(thread, word->read)) {
        word->read = access->moment;
        word->read_pc = access->pc;
        return GPC_OK;
    }
    if (!make_room((void **) &self->sets, self->num_sets, &self->set_capacity, sizeof(*self->sets))) {
        return GPC_ERROR_MEMORY;
    }
    gpc_race_access_t first = {.moment = word->read, .pc = word->read_pc};
    gpc_race_set_t *set = &self->sets[self->num_sets];
    *set = (gpc_race_set_t){0};
    word->read = (gpc_moment_t){GPC_RACE_MANY, self->num_sets++};
    GPC_TRY(put(set, thread, &first));
    return put(set, thread, access);
}

static int
note_synchronising(gpc_race_t *self, gpc_race_word_t *word, const gpc_race_thread_t *thread,
                   const gpc_race_access_t *access)
{
    gpc_race_sync_t *sync = gpc_race_sync_of(self, word);
    if (!sync) {
        return GPC_ERROR_MEMORY;
    }
    return put(access->writes ? &sync->writes : &sync->reads, thread, access);
}

static int
meet(gpc_race_t *self, gpc_race_word_t *word, const gpc_race_thread_t *thread, const gpc_race_access_t *access,
     gpc_race_access_t *other)
{
    bool again = !access->synchronising && access->moment.thread == word->write.thread &&
                 access->moment.time == word->write.time && access->writes && word->sync == 0 &&
                 word->read.thread == GPC_RACE_NOBODY;
    if (again) {
        return GPC_OK; /* nothing has happened in between */
    }
    if (races(self, word, thread, access, other)) {
        return 1;
    }
    if (access->synchronising) {
        return note_synchronising(self, word, thread, access);
    }
    if (access->writes) {
        note_weak_write(self, word, access);
        return GPC_OK;
    }
    return note_weak_read(self, word, thread, access);
}

/* Checks the access against those to single bytes, and adds it to these bytes if it is one itself. */
static int
meet_bytes(gpc_race_t *self, gpc_address_t address, uint32_t bytes, const gpc_race_thread_t *thread,
           const gpc_race_access_t *access, gpc_race_access_t *other)
{
    int status = GPC_OK;
    for (uint32_t i = 0; i < (bytes ? bytes : 4) && status == GPC_OK; i++) {
        gpc_race_word_t *byte = gpc_race_word_at(self, gpc_race_byte_at(address + i));
        if (!byte) {
            return GPC_ERROR_MEMORY;
        }
        status = bytes ? meet(self, byte, thread, access, other) : races(self, byte, thread, access, other);
    }
    return status;
}

int
gpc_race_meet(gpc_race_t *self, gpc_address_t address, uint32_t bytes, const gpc_race_thread_t *thread,
              const gpc_race_access_t *access, gpc_race_access_t *other)
{
    gpc_race_word_t *word = gpc_race_word_at(self, address);
    if (!word) {
        return GPC_ERROR_MEMORY;
    }
    if (bytes == 0) {
        GPC_TRY(word->split ? meet_bytes(self, address, 0, thread, access, other) : GPC_OK);
        return meet(self, word, thread, access, other);
    }
    word->split = true;
    return races(self, word, thread, access, other) ? 1 : meet_bytes(self, address, bytes, thread, access, other);
}
