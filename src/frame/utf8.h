/* Text in UTF-8: what is valid, and how wide a terminal shows it. */
#ifndef FRAME_UTF8_H
#define FRAME_UTF8_H

/* The bytes of the character at `bytes`, or 0 if there is none: no overlong forms, no surrogates,
 * nothing above U+10FFFF. The terminating 0 ends every wrong sequence, and is a character of 1. */
int cli_utf8_length(const char *bytes);

/* Columns of a terminal that the text takes: 2 for a wide character, none for one that combines
 * with the one before, 1 for a byte that is not UTF-8. */
int cli_utf8_width(const char *text);

#endif
