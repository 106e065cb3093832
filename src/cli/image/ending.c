/* See ending.h. */
#include "cli/image/ending.h"

#include <math.h>

double cli_ending_rate(const cli_ending *ending)
{
    return ending->compute > 0 ? ending->elements / ending->compute : 0;
}

void cli_ending_report(cli_report *json, const cli_tally *seen)
{
    cli_report_number(json, "minimum", seen->count > 0 ? seen->least : (double)NAN);
    cli_report_number(json, "mean", cli_tally_mean(seen));
    cli_report_number(json, "maximum", seen->count > 0 ? seen->most : (double)NAN);
}

void cli_ending_say(const cli_job *job, const cli_ending *ending)
{
    char total[CLI_SHOWN], read[CLI_SHOWN], work[CLI_SHOWN], output[CLI_SHOWN], rate[CLI_SHOWN];
    cli_say(job, "done in %s (read %s, compute %s, output %s): %s elements/s by %s on %s",
            cli_show_seconds(total, cli_seconds() - job->started),
            cli_show_seconds(read, ending->read), cli_show_seconds(work, ending->compute),
            cli_show_seconds(output, ending->output),
            cli_show_scaled(rate, cli_ending_rate(ending)), ending->method, ending->where);
}
