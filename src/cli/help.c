/*
 * Help texts for the terminal: usage, a paragraph, examples, then the options in groups. Text is
 * wrapped to 80 columns here, so the tables hold plain sentences.
 */
#include "help.h"

#include "commands.h"

#include <string.h>

#define COLUMNS 80
#define OPTION_INDENT 26 /* where the explanation of an option begins */

const char cli_one_line[] = "computing on big dense grids at the speed of the hardware";

const cli_example cli_first_steps[] = {
    {"tilewright generate graph grid roads.gr --vertices 2000", "make a graph to play with"},
    {"tilewright apsp roads.gr", "solve it and describe the result"},
    {"tilewright apsp roads.gr distances.npy --verify", "keep the distances, checked"},
    {"tilewright path roads.gr distances.npy 0 1999", "show one route"},
    {NULL, NULL}};

const cli_topic cli_topics[] = {
    {"Formats",
     "Graphs are read from edge triples (triples, .bin: int32 V, E, then E times source, target, "
     "weight, little-endian), DIMACS .gr, Matrix Market .mtx, edge lists (.el .txt .csv .tsv), "
     "METIS .graph and square .npy matrices. Matrices are written as raw (row-major elements and "
     "nothing else), .npy or .csv. The extension decides; a graph without a telling one is "
     "recognised by its content. '-' is standard input or standard output."},
    {"No path",
     "A pair without a path has the distance 1073741823 (2^30-1) in i32, 65535 in u16, 255 in u8 "
     "and infinity in f32 and f64."},
    {"Files",
     "An output file appears whole or not at all, and an existing one survives a run that fails "
     "or is interrupted. Ctrl-C stops within moments and cleans up; a second Ctrl-C ends at once."},
    {"Exit status",
     "0: done. 1: done, but the answer is no (a verification failed, there is a negative cycle, "
     "there is no path, a self-test failed). 2: wrong usage, bad input, interrupted, or it could "
     "not be done; one line on standard error says what, where and what to do."},
    {NULL, NULL}};

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
        print_entry(file, cli_spelling(spelling, option), option->help);
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
    fprintf(file, "usage: tilewright %s [OPTION...]%s%s\n\n", command->name,
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
    fputs("\nExit status: 0 done; 1 done, but the answer is no; 2 it could not be done.\n", file);
}

void cli_help_overview(FILE *file)
{
    fprintf(file, "tilewright %s: %s\n\n", tw_version(), cli_one_line);
    fputs("usage: tilewright COMMAND [OPTION...] [OPERAND...]\n", file);
    print_examples(file, "First steps", cli_first_steps);
    fputs("\nCommands:\n", file);
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        fprintf(file, "  %-10s%s\n", (*command)->name, (*command)->summary);
    }
    fputs("\n'tilewright help COMMAND' explains a command, 'man tilewright' everything;\n"
          "'tilewright --version' tells the version.\n",
          file);
}
