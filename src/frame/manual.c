/*
 * The manual page, from the same tables as the help. The copies in docs/ are what gets installed; a
 * test compares them with what this prints.
 */
#include "frame/help.h"

#include "frame/program.h"
#include "frame/utf8.h"

#include <ctype.h>
#include <string.h>

/* A character beyond ASCII by its number, which every roff takes, whatever it thinks the page is
 * encoded in. */
static void roff_beyond(FILE *file, const char *bytes, int length)
{
    unsigned code = (unsigned char)bytes[0] & (0x7fU >> length);
    for (int i = 1; i < length; i++) {
        code = code << 6 | ((unsigned char)bytes[i] & 0x3fU);
    }
    fprintf(file, "\\[u%04X]", code);
}

/* Text for roff: a backslash and a hyphen are special anywhere, a dot or a quote at the start of
 * a line. An empty line of the text becomes a new paragraph. */
static void roff(FILE *file, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        const int length = cli_utf8_length(c);
        if (length > 1) {
            roff_beyond(file, c, length);
            c += length - 1;
        } else if (*c == '\\') {
            fputs("\\e", file);
        } else if (*c == '-') {
            fputs("\\-", file);
        } else if (*c == '\n') {
            fputs("\n.PP\n", file);
        } else {
            bool line_start = c == text || c[-1] == '\n';
            fputs(line_start && (*c == '.' || *c == '\'') ? "\\&" : "", file);
            fputc(*c, file);
        }
    }
    fputc('\n', file);
}

static void roff_bold(FILE *file, const char *text)
{
    fputs(".B ", file);
    roff(file, text);
}

static void manual_option(FILE *file, const cli_option *option)
{
    char spelling[CLI_SPELLING];
    fputs(".TP\n", file);
    roff_bold(file, cli_spelling(spelling, option));
    roff(file, option->help);
}

static void manual_examples(FILE *file, const cli_example *examples)
{
    for (const cli_example *example = examples; example->command != NULL; example++) {
        fputs(".TP\n", file);
        roff_bold(file, example->command);
        roff(file, example->what);
    }
}

static void capitals(FILE *file, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        fputc(toupper((unsigned char)*c), file);
    }
}

static void manual_command(FILE *file, const cli_command *command)
{
    fprintf(file, ".SS %s ", cli_program.name);
    roff(file, command->name);
    fprintf(file, ".B %s ", cli_program.name);
    roff(file, command->name);
    fputs("[OPTION...] ", file);
    roff(file, command->usage);
    fputs(".PP\n", file);
    roff(file, command->text);
    for (const cli_operand *operand = command->operands; operand->name != NULL; operand++) {
        fputs(".TP\n.I ", file);
        roff(file, operand->name);
        roff(file, operand->help);
    }
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        if (group->options->name == NULL) {
            continue;
        }
        fputs(".PP\n.I ", file);
        roff(file, group->title);
        for (const cli_option *option = group->options; option->name != NULL; option++) {
            manual_option(file, option);
        }
    }
    fputs(".PP\nExamples:\n", file);
    manual_examples(file, command->examples);
}

void cli_manual(FILE *file)
{
    const char *name = cli_program.name;
    fprintf(file, ".\\\" Printed by '%s --man' from the tables of its commands.\n", name);
    fputs(".TH ", file);
    capitals(file, name);
    fprintf(file, " 1 \"\" \"tilewright %s\" \"User Commands\"\n", tw_version());
    fprintf(file, ".SH NAME\n%s \\- ", name);
    roff(file, cli_program.one_line);
    fprintf(file, ".SH SYNOPSIS\n.B %s\n.I COMMAND\n[OPTION...] [OPERAND...]\n", name);
    fprintf(file, ".br\n.B %s help\n.I COMMAND\n", name);
    fprintf(file, ".br\n.B %s\n", name);
    fputs("\\-\\-version | \\-\\-help | \\-\\-man | \\-\\-completion[=SHELL]\n", file);
    fputs(".SH DESCRIPTION\n", file);
    roff(file, "Each command does one thing; all take their options before, between or after "
               "their operands. Results go to standard output or into the named file, everything "
               "else to standard error.");
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        fputs(".TP\n", file);
        roff_bold(file, (*command)->name);
        roff(file, (*command)->summary);
    }
    fputs(".PP\n", file);
    roff(file, "With --man the program prints this page; with --completion, --completion=zsh or "
               "--completion=fish, a completion script for Bash, zsh or fish.");
    fputs(".SH EXAMPLES\n", file);
    manual_examples(file, cli_program.first_steps);
    fputs(".SH COMMANDS\n", file);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        manual_command(file, *command);
    }
    for (const cli_topic *topic = cli_program.topics; topic->title != NULL; topic++) {
        fputs(".SH ", file);
        capitals(file, topic->title);
        fputc('\n', file);
        roff(file, topic->text);
    }
    fputs(".SH ENVIRONMENT\n.TP\n.B TW_ISA\n", file);
    roff(file, "The instruction set to use, as with --isa.");
}
