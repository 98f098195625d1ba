/* stamps.h: answers and requests that carry fields of a line, and lines that take fields of an answer, as declared
 * actions.
 *
 *     GPC_ANSWER(act_send_data, "send DATA with the lease", SI_DATA, si_message, si_l2_line, lease, version)
 *     GPC_REQUEST_HOME(act_request_line, "GETS with the copy's version; pending", SI_GETS, si_message, si_l1_line,
 *     version) GPC_TAKE(act_take_lease, "take the answer's lease", si_message, si_l1_line, lease, version)
 *
 * The fields, one to four, have the same names in the message and beside the line.
 */
#ifndef GPC_CONTROLLER_STAMPS_H
#define GPC_CONTROLLER_STAMPS_H

#include "controller/requests.h"

#define GPC_COPY_1_(to, from, a) (to)->a = (from)->a;
#define GPC_COPY_2_(to, from, a, ...) (to)->a = (from)->a; GPC_COPY_1_(to, from, __VA_ARGS__)
#define GPC_COPY_3_(to, from, a, ...) (to)->a = (from)->a; GPC_COPY_2_(to, from, __VA_ARGS__)
#define GPC_COPY_4_(to, from, a, ...) (to)->a = (from)->a; GPC_COPY_3_(to, from, __VA_ARGS__)
#define GPC_COPY_CHOSEN_(a, b, c, d, chosen, ...) chosen
#define GPC_COPY_(to, from, ...)                                                                                       \
    GPC_COPY_CHOSEN_(__VA_ARGS__, GPC_COPY_4_, GPC_COPY_3_, GPC_COPY_2_, GPC_COPY_1_, )(to, from, __VA_ARGS__)

/* A function id(x, to, type), for gpc_answer_pending too: sends the message `to` an answer of the type with the line's
 * fields. */
#define GPC_STAMPED_ANSWER(id, message_of, line_of, ...)                                                                     \
    static int id(gpc_step_t *x, gpc_index_t to, uint8_t type)                                                         \
    {                                                                                                                  \
        gpc_msg_t *answer = gpc_new_answer(x, to, type);                                                               \
        GPC_COPY_(message_of(answer), line_of(x), __VA_ARGS__)                                                               \
        return gpc_send(x, answer);                                                                                    \
    }
/* An action: sends the sender of the current message such an answer. */
#define GPC_ANSWER(id, text, answer_type, message_of, line_of, ...)                                                                 \
    GPC_STAMPED_ANSWER(id##_stamped, message_of, line_of, __VA_ARGS__)                                                       \
    GPC_ACTION(id, text)                                                                                               \
    {                                                                                                                  \
        return id##_stamped(x, x->message, answer_type);                                                                      \
    }
/* An action: sends the line's home such a message, without the store's words or the atomics' operands, which stay here;
 * the request is then pending. */
#define GPC_REQUEST_HOME(id, text, type, message_of, line_of, ...)                                                     \
    GPC_ACTION(id, text)                                                                                               \
    {                                                                                                                  \
        gpc_msg_t *request = gpc_new_message(x, type, gpc_home_of(x->unit, x->line));                                  \
        GPC_COPY_(message_of(request), line_of(x), __VA_ARGS__)                                                        \
        return gpc_send_and_wait(x, request);                                                                          \
    }
/* An action: the line takes the fields of the current message. */
#define GPC_TAKE(id, text, message_of, line_of, ...)                                                                         \
    GPC_ACTION(id, text)                                                                                               \
    {                                                                                                                  \
        GPC_COPY_(line_of(x), message_of(x->msg), __VA_ARGS__)                                                               \
        return GPC_OK;                                                                                                 \
    }

#endif
