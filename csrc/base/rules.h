/* rules.h: consistency models, memory orders and scopes. */
#ifndef GPC_BASE_RULES_H
#define GPC_BASE_RULES_H

#define GPC_RULES(X) X(SC, "sc") X(RC, "rc") X(DRF, "drf") X(HRF, "hrf")
typedef enum {
#define X(name, text) GPC_RULE_##name,
    GPC_RULES(X)
#undef X
        GPC_NUM_RULES,
    GPC_RULE_DEFAULT = GPC_NUM_RULES /* the protocol's default */
} gpc_rule_t;

/* Order and scope of memory operations, fences included. */
#define GPC_ORDERS(X) X(WEAK) X(RELAXED) X(ACQUIRE) X(RELEASE) X(ACQ_REL) X(SC)
typedef enum {
#define X(name) GPC_ORDER_##name,
    GPC_ORDERS(X)
#undef X
        GPC_NUM_ORDERS
} gpc_memory_order_t;

#define GPC_SCOPES(X) X(CTA) X(CU) X(GPU) X(SYS)
typedef enum {
#define X(name) GPC_SCOPE_##name,
    GPC_SCOPES(X)
#undef X
        GPC_NUM_SCOPES
} gpc_scope_t;

#endif
