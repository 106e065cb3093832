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

/* The definition of a function in a text that is laid out as this project's is: its comment, what
 * stands before its name, and its body to the brace that begins a line; or that of a macro. False
 * if there is none. */
bool lab_find_function(const char *text, const char *name, size_t length, const char **begin,
                       const char **end);

#endif
