/* atomics.h: word types and read-modify-write operations. */
#ifndef GPC_BASE_ATOMICS_H
#define GPC_BASE_ATOMICS_H

#define GPC_TYPES(X) X(I32) X(U32) X(F32)
typedef enum {
#define X(name) GPC_##name,
    GPC_TYPES(X)
#undef X
        GPC_NUM_TYPES
} gpc_type_t;

#define GPC_ATOMICS(X) X(ADD) X(SUB) X(MIN) X(MAX) X(AND) X(OR) X(XOR) X(EXCH) X(CAS) X(INC) X(DEC)
typedef enum {
#define X(name) GPC_ATOMIC_##name,
    GPC_ATOMICS(X)
#undef X
        GPC_NUM_ATOMICS,
    GPC_ATOMIC_MERGE = GPC_NUM_ATOMICS /* the operand's bits of a mask: a store to parts of words, no instruction */
} gpc_atomic_t;

#endif
