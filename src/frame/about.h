/* What a program answers to an option that stands in place of a command. */
#ifndef FRAME_ABOUT_H
#define FRAME_ABOUT_H

#include <tilewright.h>

#include <stdbool.h>

/* --help, --version, --man or --completion[=SHELL]; *known: whether it is one of these. */
TW_CHECKED tw_status cli_print_about(tw_context *ctx, const char *option, bool *known);

#endif
