/*
 * Help texts for the terminal: usage, a paragraph, examples, then the options in groups. Text is
 * wrapped to 80 columns here, so the tables hold plain sentences.
 */
#include "frame/help.h"

#include "frame/job.h"
#include "frame/options.h"
#include "frame/program.h"

#include <string.h>

#define COLUMNS 80
#define OPTION_INDENT 26 /* where the explanation of an option begins */

/* ------------------------------------------------------------------------------------- wrapping */

/* Words of `text` in lines of at most COLUMNS, each new line indented; `column` is where the
 * first one starts. A newline in the text is an empty line. */
static void wrap(FILE *file, const char *text, int column, int indent)
{
    bool first = true;
    while (*text != '\0') {
        if (*text == '\n') {
            fprintf(file, "\n\n%*s", indent, "");
            column = indent;
            first = true;
            text++;
            continue;
        }
        int length = (int)strcspn(text, " \n");
        if (!first && column + 1 + length > COLUMNS) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        column += fprintf(file, "%s%.*s", first ? "" : " ", length, text);
        first = false;
        text += length;
        while (*text == ' ') {
            text++;
        }
    }
    fputc('\n', file);
}

const char *cli_spelling(char out[CLI_SPELLING], const cli_option *option)
{
    char letter[8] = "";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    if (option->kind == CLI_OPTIONAL_COUNT) {
        snprintf(out, CLI_SPELLING, "%s--%s[=%s]", letter, option->name, option->value);
    } else {
        bool valued = option->value != NULL;
        snprintf(out, CLI_SPELLING, "%s--%s%s%s", letter, option->name, valued ? " " : "",
                 valued ? option->value : "");
    }
    return out;
}

/* "  name   explanation", the explanation on a line of its own when the name is too long. */
static void print_entry(FILE *file, const char *name, const char *help)
{
    int column = fprintf(file, "  %s", name);
    if (column > OPTION_INDENT - 2) {
        fputc('\n', file);
        column = 0;
    }
    fprintf(file, "%*s", OPTION_INDENT - column, "");
    wrap(file, help, OPTION_INDENT, OPTION_INDENT);
}

static void print_options(FILE *file, const char *title, const cli_option *options, bool last)
{
    char spelling[CLI_SPELLING];
    fprintf(file, "\n%s:\n", title);
    for (const cli_option *option = options; option->name != NULL; option++) {
        const bool of_gpus = strcmp(option->name, "device-memory") == 0;
        if (!of_gpus || cli_has_gpu_code()) {
            print_entry(file, cli_spelling(spelling, option), option->help);
        }
    }
    if (last) {
        print_entry(file, cli_spelling(spelling, &cli_help_option), cli_help_option.help);
    }
}

static void print_examples(FILE *file, const char *title, const cli_example *examples)
{
    fprintf(file, "\n%s:\n", title);
    for (const cli_example *example = examples; example->command != NULL; example++) {
        fprintf(file, "  %s\n      ", example->command);
        wrap(file, example->what, 6, 6);
    }
}

/* ---------------------------------------------------------------------------------------- texts */

void cli_help_command(FILE *file, const cli_command *command)
{
    fprintf(file, "usage: %s %s [OPTION...]%s%s\n\n", cli_program.name, command->name,
            command->usage[0] != '\0' ? " " : "", command->usage);
    wrap(file, command->text, 0, 0);
    print_examples(file, "Examples", command->examples);
    if (command->operands->name != NULL) {
        fputs("\nOperands:\n", file);
        for (const cli_operand *operand = command->operands; operand->name != NULL; operand++) {
            print_entry(file, operand->name, operand->help);
        }
    }
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        print_options(file, group->title, group->options, group[1].title == NULL);
    }
    char status[160];
    (void)snprintf(status, sizeof status, "Exit status: 0 success; 1 %s; 2 error.",
                   cli_program.refusals);
    fputc('\n', file);
    wrap(file, status, 0, 0);
}

void cli_help_overview(FILE *file)
{
    const char *name = cli_program.name;
    fprintf(file, "%s %s: %s\n\n", name, tw_version(), cli_program.one_line);
    fprintf(file, "usage: %s COMMAND [OPTION...] [OPERAND...]\n", name);
    print_examples(file, "First steps", cli_program.first_steps);
    fputs("\nCommands:\n", file);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        fprintf(file, "  %-10s%s\n", (*command)->name, (*command)->summary);
    }
    fprintf(file,
            "\nSee '%s help COMMAND' for one command, 'man %s' for everything,\n'%s --version' for "
            "the version.\n",
            name, name, name);
}
