/* The laboratory's own source, kept in the program for 'show' and 'diff' (embed.cmake makes it),
 * and finding the code of a rung in it. */
#ifndef LAB_SHOW_SOURCES_H
#define LAB_SHOW_SOURCES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lab_source {
    const char *file;
    const char *text;
} lab_source;

/* A file of NULL ends the list. */
extern const lab_source lab_sources[];

/* The text of a file; NULL if there is none of that name. */
const char *lab_source_of(const char *file, size_t length);

/* The line MACRO(NAME, ...) of a text that makes a recipe; NULL if there is none. A recipe that a
 * macro names by its numbers, shape_64_16_16 say, is its SHAPE(64, 16, 16). */
const char *lab_find_recipe(const char *text, const char *name, const char **end);

/* The entry of a rung in a table of this project's files: {.name = "NAME", ...} or MACRO("NAME",
 * ...) that holds the beginning of its idea, from its line to the end of its last one. */
bool lab_find_entry(const char *text, const char *name, const char *idea, const char **begin,
                    const char **end);

/* A piece of a text: a definition. */
typedef enum lab_kind {
    LAB_FUNCTION,
    LAB_MACRO,
    LAB_DATA /* a type, a constant or a variable */
} lab_kind;
typedef struct lab_piece {
    const char *begin, *end;
    lab_kind kind;
    const char *text; /* that it is a piece of; NULL: of no text that is known */
} lab_piece;

/* The definition of a name in a text that is laid out as this project's is, with its comment: of a
 * function what stands before its name and its body to the brace that begins a line; a macro; a
 * struct, a typedef or the enum that a constant is of; a variable outside of functions. The name
 * "put#2" is the second one of that name. False if there is none. */
bool lab_find_definition(const char *text, const char *name, size_t length, lab_piece *out);

/* What the preprocessor must find true for a piece to be compiled, as one condition of an #if; ""
 * if it always is. A header's guard is none. */
enum { LAB_CONDITION = 512 };
void lab_condition_of(const lab_piece *piece, char out[LAB_CONDITION]);

enum { LAB_MOST_PIECES = 400 };
typedef struct lab_pieces {
    lab_piece at[LAB_MOST_PIECES];
    int count;
} lab_pieces;

/* One more, as lab_find_definition finds it, unless it is there; false if it is not found. */
bool lab_collect(const char *text, const char *name, size_t length, lab_pieces *out);

/* Whether the piece is one of them. */
bool lab_has_piece(const lab_pieces *pieces, const lab_piece *piece);

/* What the host's functions call of the texts that those are of; what those name of their own text
 * or of the headers that it includes, the ladders' and the library's, and what that names:
 * functions that they call, macros, types, constants and variables, also those of the conditions
 * that they are compiled under; and what the line of a recipe names, where `recipe` is not empty.
 * Then all of them in the order in which a compiler meets them. */
void lab_collect_called(const lab_pieces *host, const lab_piece *recipe, lab_pieces *out);

#endif
