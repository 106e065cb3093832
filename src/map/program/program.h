/*
 * The compiled form of an expression: what the CPU evaluator runs and the GPU generator prints.
 *
 * A program is straight-line code in single assignment: operation i computes value i from values
 * before it. A value is a number in the compute type (f32 or f64) or a mask (a truth value); each
 * opcode says which it takes and gives. What an expression means beyond that has been written out
 * when a program is made: constants are folded, common sub-expressions appear once, `x^2` is a
 * product, no-data and NaN are selections, and the rounding of a narrower result is its last
 * operation. So an evaluator needs no rule but the opcodes'. Operations are never contracted: a
 * product and a sum round twice (compile with -ffp-contract=off, generate with --fmad=false).
 *
 * Order. Operations are sorted by what their value depends on, so that each is computed no more
 * often than it must:
 *   [0, uniform_end)          nothing: constants, inputs of one element
 *   [uniform_end, row_end)    the row alone: once per row
 *   [row_end, col_end)        the column alone: once for a block of columns, kept over rows
 *   [col_end, still_end)      both, but not on what changes from pass to pass of --repeat
 *   [still_end, count)        the x of the pass; empty unless the job repeats
 *
 * Specialisation. What depends on row % k and col % k for small k becomes a program for each
 * residue: element (r, c) is computed by programs[index[(r % row_period) * col_period +
 * c % col_period]], in which that residue is a constant and the branch not taken is gone. An
 * evaluator takes the columns of one residue together (a strided load, or a deinterleaving of a
 * block) and must give each element the same bits wherever it lies. generic is the same expression
 * without specialisation; periods of 1 have it as their only program.
 *
 * Repetition. A job with repeat > 1 replaces input `x_input` by the result and runs again, in
 * registers: pass 1 reads x from the input (as the compute type), every later pass takes the value
 * of the pass before as it is: the last operation has given it the precision of the result's type,
 * so the bits are those of a store and a load.
 */
#ifndef TWI_MAP_PROGRAM_PROGRAM_H
#define TWI_MAP_PROGRAM_PROGRAM_H

#include "base/context.h"

#define TWI_MAP_INPUTS 32       /* at most */
#define TWI_MAP_ROW_PERIOD 64   /* at most */
#define TWI_MAP_COL_PERIOD 16   /* at most */
#define TWI_MAP_VARIANTS 256    /* row_period * col_period at most */
#define TWI_MAP_OPERATIONS 4096 /* of a program, at most: larger expressions are refused */

/* N: a number, M: a mask. Comparisons with NaN are false, but for NE. */
typedef enum twi_op {
    TWI_OP_CONST,   /*       -> N  `number`, exact in the compute type */
    TWI_OP_INPUT,   /*       -> N  element of input `index` */
    TWI_OP_ROW,     /*       -> N  number of the row, rounded to the compute type */
    TWI_OP_COL,     /*       -> N */
    TWI_OP_ROW_MOD, /*       -> N  row % period, in whole numbers: exact */
    TWI_OP_COL_MOD, /*       -> N */
    TWI_OP_NEG,     /* N     -> N  the sign bit flipped */
    TWI_OP_ADD,     /* N N   -> N */
    TWI_OP_SUB,     /* N N   -> N */
    TWI_OP_MUL,     /* N N   -> N */
    TWI_OP_DIV,     /* N N   -> N */
    TWI_OP_LT,      /* N N   -> M */
    TWI_OP_LE,      /* N N   -> M */
    TWI_OP_EQ,      /* N N   -> M */
    TWI_OP_NE,      /* N N   -> M */
    TWI_OP_AND,     /* M M   -> M */
    TWI_OP_OR,      /* M M   -> M */
    TWI_OP_NOT,     /* M     -> M */
    TWI_OP_NUMBER,  /* M     -> N  1 or 0 */
    TWI_OP_SELECT,  /* M N N -> N  the second where the first is true, else the third */
    TWI_OP_STORED,  /* N     -> N  what a store as `type` and a load would leave: integers rounded
                                   to the nearest, ties to even, clamped to the type's range, NaN
                                   and -0 to 0; f32 rounded to the nearest */
#define TWI_FUNCTION(ID, name, arguments, f32, f64, fast) TWI_OP_##ID, /* N [N] -> N */
#include "map/functions/functions.def"
#undef TWI_FUNCTION
    TWI_OP_CUBE,           /* N -> N  x^3, x^4 and x^-2, within the bound of pow */
    TWI_OP_FOURTH,         /* N -> N */
    TWI_OP_INVERSE_SQUARE, /* N -> N */
    TWI_OP_COUNT
} twi_op;

enum { TWI_ON_ROW = 1, TWI_ON_COL = 2, TWI_ON_X = 4 };

typedef struct twi_operation {
    uint8_t code;    /* twi_op */
    uint8_t depends; /* TWI_ON_* */
    uint8_t mask;    /* the value is a mask */
    uint8_t type;    /* STORED: tw_type */
    int32_t args[3]; /* operations before this one; -1: none */
    /* A place for the value while it lives: places are shared by values that do not live at the
     * same time, and an operation may write over an operand. Values before col_end have none of
     * these (-1): those of a row are one number, those of a column are kept over rows. Values of
     * [col_end, still_end) that a pass uses keep theirs to the end. Numbers and masks share the
     * same places. */
    int32_t place;
    union {
        double number;  /* CONST */
        int64_t period; /* ROW_MOD, COL_MOD: 2 ... 2^31 */
        int64_t index;  /* INPUT */
    };
} twi_operation;

typedef struct twi_program {
    tw_type compute; /* TW_F32 or TW_F64 */
    int32_t count;
    int32_t uniform_end, row_end, col_end, still_end;
    int32_t result;  /* the operation whose value is stored: always a number */
    int32_t places;  /* those of `place` are below it */
    uint32_t inputs; /* bit k: reads input k */
    double cost;     /* an estimate in operations of one addition per element and pass */
    twi_operation *ops;
} twi_program;

typedef struct twi_variants {
    tw_type compute;
    tw_type type;                   /* of the result */
    int32_t row_period, col_period; /* 1: no specialisation */
    int32_t program_count;
    twi_program *programs;           /* those that differ */
    int32_t index[TWI_MAP_VARIANTS]; /* residues to programs */
    twi_program generic;
} twi_variants;

/* An input as an evaluator reads it: element (r, c) is element (r - input_row) * row_step +
 * c * col_step of data (input_row: of the job). A broadcast direction has step 0; col_step is 0
 * or 1. */
typedef struct twi_map_input {
    const void *data;
    tw_type type;
    int64_t row_step;
    int64_t col_step;
} twi_map_input;

/*
 * One run: rows first_row ... first_row + row_count - 1 of a result of `cols` columns. `out` is the
 * place of element (first_row, 0), and the inputs' data begin at row input_row: rows before it need
 * not be in memory. `out` may be the very array of an input: same type, same places. So an
 * evaluator reads all elements that it is about to write before it writes them. In no other way do
 * they overlap.
 */
typedef struct twi_map_job {
    const twi_variants *variants;
    twi_map_input inputs[TWI_MAP_INPUTS];
    int32_t input_count;
    int32_t x_input; /* replaced from pass to pass; -1: none, and repeat is 1 */
    int64_t repeat;  /* >= 1 */
    bool fast;
    int64_t first_row, row_count;
    int64_t input_row; /* first_row or before it */
    int64_t rows;      /* of the whole result, for news of progress; 0: none */
    int64_t cols;
    void *out; /* of variants->type */
    int64_t out_stride;
} twi_map_job;

/* Number of arguments, and the name in listings ("add", "log", "select"). */
int twi_op_arity(twi_op op);
const char *twi_op_name(twi_op op);
/* Bound in ulp of an operation in a compute type; 0 for exact ones, 0.5 for arithmetic. */
double twi_op_ulp(twi_op op, tw_type compute, bool fast);

#endif
