/* The files a command reads and writes, looked at before anything is done with them. */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include "frame/job.h"

#include <tilewright.h>

#include <stdbool.h>
#include <sys/stat.h>

/* A file and what the user knows it by: "OUT", "--predecessors". path NULL: not given. */
typedef struct cli_file {
    const char *what;
    const char *path;
} cli_file;

/* Refuse an output that is one of the inputs, or two outputs that are one file: by device and
 * inode, so whatever links lead there; "-" is what standard input or output was redirected to.
 * Results would mix in a pipe, socket or device as well; /dev/null may be named as often as one
 * likes. */
TW_CHECKED tw_status cli_check_files(tw_context *ctx, const cli_file *inputs, int input_count,
                                     const cli_file *outputs, int output_count);

/* Whether writing `output` would replace the file `input`, whatever links lead there. */
bool cli_replaces(const char *output, const char *input);

/* An input as it was when it was opened, so that a wrong result can be told from one of an input
 * that somebody wrote to in the meantime. All zero: none. */
typedef struct cli_watch {
    const char *path;
    struct stat seen;
} cli_watch;

/* Look at a file before it is read; nothing is known of "-", NULL and what is no file. */
void cli_watch_file(cli_watch *watch, const char *path);
/* The status of a run, whose error becomes that of the first of the inputs that changed if a
 * verifier found it wrong. */
TW_CHECKED tw_status cli_watched(tw_context *ctx, const cli_watch *watches, int count,
                                 tw_status status);

/* Whether an output goes to standard output: "-", /dev/stdout, or whatever else leads there. */
bool cli_is_stdout(const char *path);

/* Whether a path names a regular file: a pipe or "-" can be read once, so nothing is to be asked of
 * it beforehand. */
bool cli_is_file(const char *path);

/* OUT: the operand of that name, or --output; both at once is an error. Notes where it leads while
 * that can be seen: a file that is replaced is no longer what standard output was redirected to. */
TW_CHECKED tw_status cli_choose_output(cli_job *job, const char **out, const char *operand,
                                       const char *option);
/* Refuse an operand OUT that is there already and is an image: it may be another input, and would
 * be lost. `-o` means it. One of f32 beside an input of whole numbers is a result that is made
 * again, and so is one of another kind than `input` that says that tilewright wrote it. */
TW_CHECKED tw_status cli_check_operand(tw_context *ctx, const char *operand, const char *input);
/* Refuse a result of --out-dir in place of a file that does not say that tilewright wrote it, where
 * its format can. */
TW_CHECKED tw_status cli_check_foreign(tw_context *ctx, const char *path, const char *format);
/* As cli_choose_output, for the file of another result: a report goes to standard error if this
 * does not, and there is no progress beside what comes out on the terminal. */
void cli_take_output(cli_job *job, const char *path);
/* Refuse binary output to a terminal; `instead` is what to do, as in "use --out-format csv". */
TW_CHECKED tw_status cli_check_terminal(tw_context *ctx, const cli_file *file, bool text,
                                        const char *instead);
/* Where a report goes. */
FILE *cli_report_file(const cli_job *job);

/* What follows the last dot of the file's name; "" for none, for a name that begins with it, and
 * for a number, as in answer.2. */
const char *cli_extension(const char *path);

/* The format that is named, or the extension of the path, below that of a compression. */
#define CLI_EXTENSION 64
const char *cli_format_word(char out[CLI_EXTENSION], const char *path, const char *format);

/* Refuse an option for the type of a matrix that says its type itself; text may be read as f32 or
 * f64. */
TW_CHECKED tw_status cli_refuse_type(const cli_job *job, const char *option, tw_type type,
                                     const cli_file *file, const char *format);

/* Whether an output of this name is of one of the formats: named, else by its extension. */
bool cli_writes(const char *path, const char *format, const char *const *formats);

/* Refuse an array or image whose extension says neither how to write it nor that it is raw. */
TW_CHECKED tw_status cli_check_array_output(tw_context *ctx, const char *path, const char *format);

/* Refuse a graph, before there is one, whose extension or format says nothing that can be written.
 */
TW_CHECKED tw_status cli_check_graph_output(tw_context *ctx, const char *path, const char *format);

#endif
