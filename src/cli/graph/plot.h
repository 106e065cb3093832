/* A histogram as a picture: see plot.c. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <tilewright.h>

/* Whether the name is one that cli_plot draws into. */
TW_CHECKED tw_status cli_plot_check(tw_context *ctx, const char *path);

/* The summary's histogram into an .svg or .png file, which appears whole or not at all. */
TW_CHECKED tw_status cli_plot(tw_context *ctx, const tw_apsp_summary *summary, const char *path);

#endif
