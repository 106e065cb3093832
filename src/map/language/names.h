/* The words of the language: functions with their arguments, reserved names, and advice. */
#ifndef TWI_MAP_LANGUAGE_NAMES_H
#define TWI_MAP_LANGUAGE_NAMES_H

#include "map/language/tree.h"

#define TWI_NAME_LENGTH 64 /* at most */

typedef struct twi_function {
    const char *name;
    int32_t least, most; /* arguments; most is INT32_MAX for any number */
    int code;            /* an opcode, or one of the forms of names.c */
} twi_function;

/* NULL if there is none of that name. */
const twi_function *twi_function_find(const char *name, size_t length);
/* The node of a call; the arguments are numbers or masks. */
int32_t twi_function_build(twi_tree *tree, const twi_function *function, const int32_t *args,
                           int32_t count);

/* row col rows cols pi e as a node; false if the name is none of them. */
bool twi_reserved_build(twi_tree *tree, const char *name, size_t length, int32_t *node);

/* Letters, digits and _, no digit first, not longer than TWI_NAME_LENGTH. */
bool twi_name_valid(const char *name);

/* Of functions, reserved names and those given, the one nearest to the word, or NULL if none is
 * near enough to be a slip of it. */
const char *twi_name_nearest(const char *word, size_t length, const char *const *more,
                             int32_t more_count, bool function);

#endif
