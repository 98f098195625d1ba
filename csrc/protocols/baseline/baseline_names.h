/* baseline_names.h: the names under which tables print the actions that baseline.c and the controller share. For protocol files only. */
#ifndef GPC_PROTOCOLS_BASELINE_BASELINE_NAMES_H
#define GPC_PROTOCOLS_BASELINE_BASELINE_NAMES_H

#include "protocols/baseline/baseline.h"

#define act_reserve_way gpc_reserve_way
#define act_release_way gpc_release_way
#define act_wait gpc_keep_pending

/* L1 */
#define act_hit baseline_act_hit
#define act_request_line baseline_act_request_line
#define act_merge_load baseline_act_merge_load
#define act_write_through baseline_act_write_through
#define act_write_line baseline_act_write_line
#define act_send_atomic baseline_act_send_atomic
#define act_fill baseline_act_fill
#define act_complete baseline_act_complete

/* L2 */
#define act_fetch baseline_l2_act_fetch
#define act_merge baseline_l2_act_merge
#define act_answer baseline_l2_act_answer
#define act_answer_all baseline_l2_act_answer_all
#define act_write baseline_l2_act_write
#define act_perform baseline_l2_act_perform
#define act_fill_line baseline_l2_act_fill
#define act_write_back baseline_l2_act_write_back

#endif
