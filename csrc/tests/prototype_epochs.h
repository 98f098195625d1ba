/* prototype_epochs.h: shared by the controllers of the STC prototype: messages, their fields, bands. */
#ifndef GPC_TESTS_PROTOTYPE_EPOCHS_H
#define GPC_TESTS_PROTOTYPE_EPOCHS_H

#include "tests/prototypes.h"

enum { STC_BANDS = 16, STC_MOST_EPOCHS = 4 };

/* clang-format off */
/*    name          class  network bytes word line   */
#define STC_MESSAGES(X, prefix)                                                                            \
    X(prefix, READ,         REQ,   0,  8, 0, false, "read of a line")                                      \
    X(prefix, WRITE,        ST,    0, 16, 4, false, "write-through of words, in their band's epoch")       \
    X(prefix, ATOMIC,       ATO,   0, 16, 0, false, "read-modify-writes, in their band's epoch")           \
    X(prefix, DATA,         LD,    1,  8, 0, true,  "the line")                                            \
    X(prefix, WRITE_ACK,    ST,    1,  8, 0, false, "a write is done")                                     \
    X(prefix, OLD_VALUES,   ATO,   1,  8, 0, false, "an atomic is done")                                   \
    X(prefix, PREPARE,      EPOCH, 2,  8, 0, false, "stop stores; what is granted next")                   \
    X(prefix, CHANGE,       EPOCH, 2,  8, 0, false, "the next epochs begin")                               \
    X(prefix, DEMAND_ACK,   EPOCH, 2,  8, 0, false, "the demand has arrived")                              \
    X(prefix, READY,        EPOCH, 3,  8, 0, false, "no store of this core is outstanding")                \
    X(prefix, DONE,         EPOCH, 3,  8, 0, false, "this core is in the next epochs")                     \
    X(prefix, DEMAND,       EPOCH, 3,  8, 0, false, "a store waits for its band's epoch")                  \
    X(prefix, CONFLICT,     EPOCH, 3,  8, 0, false, "a load shares its band with a store that waits")
/* clang-format on */
GPC_MESSAGES(STC, STC_MESSAGES)

#define STC_MESSAGE(FIELD)                                                                                             \
    FIELD(PLAIN, uint64_t, epochs) /* one bit each: PREPARE and CHANGE */                                              \
    FIELD(PLAIN, uint64_t, seb)    /* start epoch bit */                                                               \
    FIELD(PLAIN, uint64_t, address) /* DEMAND, CONFLICT */
GPC_DESCRIBE(stc, message, STC_MESSAGE)

static inline const stc_message_t *
stc_fields(const gpc_msg_t *msg)
{
    return (const stc_message_t *) (const void *) msg->fields;
}

static inline uint32_t
stc_band(gpc_address_t address, uint32_t seb)
{
    return (uint32_t) (address >> seb) % STC_BANDS;
}

extern const gpc_controller_type_t prototype_stc_core, prototype_stc_emu;

#endif
