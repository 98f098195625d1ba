/* gpu_vi_names.h: the names under which tables print the actions that GPU-VI and GPU-VIni share. For protocol files only. */
#ifndef GPC_PROTOCOLS_INVALIDATION_GPU_VI_NAMES_H
#define GPC_PROTOCOLS_INVALIDATION_GPU_VI_NAMES_H

#include "protocols/baseline/baseline_names.h"
#include "protocols/invalidation/gpu_vi.h"

#define act_add_sharer vi_act_add_sharer
#define act_add_readers vi_act_add_readers
#define act_clear_sharers vi_act_clear_sharers
#define act_keep_only_writer vi_act_keep_only_writer
#define act_invalidate_others vi_act_invalidate_others
#define act_recall vi_act_recall
#define act_count vi_act_count

#endif
