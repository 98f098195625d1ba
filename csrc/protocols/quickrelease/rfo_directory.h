/* rfo_directory.h: shared by rfo's two directories, that of rfo_l2.c and that of rfo_victim.c: what they store, and
 * their common actions. */
#ifndef GPC_PROTOCOLS_QUICKRELEASE_RFO_DIRECTORY_H
#define GPC_PROTOCOLS_QUICKRELEASE_RFO_DIRECTORY_H

#include "protocols/quickrelease/rfo.h"

/* Arrays of the directory's bank. */
enum { RFO_DIRECTORY, RFO_DATA };

/* A data way of its own: the entry says whether memory is behind. */
#define RFO_L2_DATA(FIELD) /* no metadata beside the tags */
#define RFO_L2_ENTRY(FIELD)                                                                                            \
    GPC_WRITER_LINE(FIELD)                                                                                             \
    FIELD(NODESET, gpc_nodeset_t, sharers) /* readers beside the owner: a superset; with l2=victim exactly these */    \
    FIELD(NODE, gpc_node_t, owner)
#define RFO_L2_MSHR(FIELD)                                                                                             \
    GPC_SHARERS_MSHR(FIELD)                                                                                            \
    FIELD(PLAIN, uint16_t, need) /* acknowledgements that a writer whose line is being read will collect */
GPC_METADATA(rfo_data, line, RFO_L2_DATA)
GPC_METADATA(rfo_entry, line, RFO_L2_ENTRY)
GPC_METADATA(rfo_l2, mshr, RFO_L2_MSHR)
GPC_KEEPS_DIRTY(rfo_entry);
GPC_COUNTS_ACKNOWLEDGEMENTS(rfo_l2);

static inline rfo_entry_line_t *
rfo_entry_of(const gpc_step_t *x)
{
    return rfo_entry_line_at(x->unit, RFO_DIRECTORY, gpc_way_in(x, RFO_DIRECTORY));
}

static inline uint32_t *
rfo_data_of(const gpc_step_t *x)
{
    return gpc_tags_words(&x->unit->arrays[RFO_DATA], gpc_way_in(x, RFO_DATA));
}

void rfo_directory_geometry(const gpc_machine_t *machine, const int64_t *options, uint32_t *sets, uint32_t *ways);

/* What both directories declare but for their table. */
#define RFO_DIRECTORY_TYPE                                                                                             \
    .name = "L2", .position = GPC_AT_BANK,                                                                             \
    .arrays = {{.name = "directory", .line = rfo_entry_line_described, .geometry = rfo_directory_geometry},            \
               {.name = "data", .line = rfo_data_line_described, .has_data = true}},                                   \
    .sharers = GPC_SHARERS(RFO_DIRECTORY, rfo_entry, line, sharers), .mshr = rfo_l2_mshr_described

GPC_DECLARE_ACTION(rfo_act_read);
GPC_DECLARE_ACTION(rfo_act_data_s);
GPC_DECLARE_ACTION(rfo_act_data_m);
GPC_DECLARE_ACTION(rfo_act_permit);
GPC_DECLARE_ACTION(rfo_act_put_ack);
GPC_DECLARE_ACTION(rfo_act_recall);
GPC_DECLARE_ACTION(rfo_act_write_up);
GPC_DECLARE_ACTION(rfo_act_pass_up);
GPC_DECLARE_ACTION(rfo_act_reserve_data);
GPC_DECLARE_ACTION(rfo_act_free_data);
GPC_DECLARE_ACTION(rfo_act_free_entry);
GPC_DECLARE_ACTION(rfo_act_new_entry);
GPC_DECLARE_ACTION(rfo_act_list);
GPC_DECLARE_ACTION(rfo_act_own);
GPC_DECLARE_ACTION(rfo_act_take_line);
GPC_DECLARE_ACTION(rfo_act_grant);

#endif
