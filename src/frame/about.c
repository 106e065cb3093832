/* The options in place of a command: help, version, manual and completions, on standard output. */
#include "frame/about.h"

#include "frame/help.h"
#include "frame/program.h"

#include <string.h>

tw_status cli_print_about(tw_context *ctx, const char *option, bool *known)
{
    static const char completion[] = "--completion=";
    *known = true;
    if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
        cli_help_overview(stdout);
    } else if (strcmp(option, "--version") == 0) {
        printf("%s %s\n", cli_program.name, tw_version());
    } else if (strcmp(option, "--man") == 0) {
        cli_manual(stdout);
    } else if (strcmp(option, "--completion") == 0) {
        (void)cli_completion(stdout, "bash");
    } else if (strncmp(option, completion, strlen(completion)) == 0) {
        const char *shell = option + strlen(completion);
        if (!cli_completion(stdout, shell)) {
            return tw_fail(ctx, TW_ERR_ARGUMENT,
                           "no completion for the shell '%.60s'; use bash, zsh or fish", shell);
        }
    } else {
        *known = false;
    }
    return TW_OK;
}
