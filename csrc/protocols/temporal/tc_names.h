/* tc_names.h: the names under which tables print the actions that TC-Strong and TC-Weak share. For protocol files only. */
#ifndef GPC_PROTOCOLS_TEMPORAL_TC_NAMES_H
#define GPC_PROTOCOLS_TEMPORAL_TC_NAMES_H

#include "protocols/baseline/baseline_names.h"
#include "protocols/temporal/tc.h"

/* L1 */
#undef act_request_line
#define act_request_line tc_act_request_line
#undef act_fill
#define act_fill tc_act_fill
#define act_note_expired_miss tc_act_note_expired_miss
#define act_complete_first tc_act_complete_first
#define act_request_again tc_act_request_again

/* L2 */
#undef act_answer
#define act_answer tc_act_answer_read
#undef act_answer_all
#define act_answer_all tc_act_answer_reads
#undef act_write
#define act_write tc_act_write_words
#undef act_perform
#define act_perform tc_act_perform
#undef act_fill_line
#define act_fill_line tc_act_l2_fill
#define act_keep_lease tc_act_keep_lease

#endif
