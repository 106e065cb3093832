/*
 * Completion scripts for Bash, zsh and fish, from the same tables as the help: commands, their
 * options, and the values of options that take one of a few words. The copies in docs/ are what
 * gets installed; a test compares them with what this prints.
 *
 * zsh and fish show a description beside each option: the first sentence of its help.
 */
#include "frame/help.h"
#include "frame/options.h"
#include "frame/program.h"

#include <string.h>

/* The program's name as part of a function's name, since a shell may have read the scripts of both
 * programs: without dashes. */
static void function_name(FILE *file)
{
    for (const char *c = cli_program.name; *c != '\0'; c++) {
        fputc(*c == '-' ? '_' : *c, file);
    }
}

static void command_names(FILE *file)
{
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        fprintf(file, "%s ", (*command)->name);
    }
}

static bool takes_file(const cli_option *option)
{
    return strcmp(option->value, "FILE") == 0 || strcmp(option->value, "OUT") == 0 ||
           strcmp(option->value, "FOLDER") == 0;
}

/* Up to a full stop, which "..." is not, or a semicolon, outside parentheses. */
static int first_sentence(const char *text)
{
    int length = 0;
    int depth = 0;
    for (; text[length] != '\0'; length++) {
        depth += (text[length] == '(') - (text[length] == ')');
        bool last = text[length + 1] == ' ' || text[length + 1] == '\0';
        bool stop = text[length] == '.' && (length == 0 || text[length - 1] != '.');
        if (depth == 0 && last && (stop || text[length] == ';')) {
            break;
        }
    }
    return length;
}

/* The first sentence of `text` inside single quotes: `special` characters get a backslash before
 * them, and a single quote becomes `quote`. */
static void quoted(FILE *file, const char *text, const char *special, const char *quote)
{
    int length = first_sentence(text);
    for (int i = 0; i < length; i++) {
        if (text[i] == '\'') {
            fputs(quote, file);
        } else {
            if (strchr(special, text[i]) != NULL) {
                fputc('\\', file);
            }
            fputc(text[i], file);
        }
    }
}

/* ----------------------------------------------------------------------------------------- Bash */

static void bash_words(FILE *file, const cli_command *command)
{
    fprintf(file, "    %s) words='", command->name);
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        for (const cli_option *option = group->options; option->name != NULL; option++) {
            fprintf(file, "--%s ", option->name);
        }
    }
    fputs("--help' ;;\n", file);
}

static void bash(FILE *file)
{
    const char *name = cli_program.name;
    fprintf(file, "# Bash completion for %s, printed by '%s --completion'.\n_", name, name);
    function_name(file);
    fputs("()\n{\n"
          "    local word=${COMP_WORDS[COMP_CWORD]} words=''\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          file);
    command_names(file);
    fputs("help --help --version' -- \"$word\"))\n"
          "        return\n    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          file);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        bash_words(file, *command);
    }
    fputs("    esac\n"
          "    case $word in\n"
          "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
          "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -o filenames -F _",
          file);
    function_name(file);
    fprintf(file, " %s\n", name);
}

/* ------------------------------------------------------------------------------------------ zsh */

#define ZSH_SPECIAL "\\[]:"
#define ZSH_QUOTE "'\\''"

/* One spelling of an option, as _arguments wants it: '(other)--name=[what]:VALUE:values'. */
static void zsh_spelling(FILE *file, const cli_option *option, bool with_letter)
{
    fputs("            '", file);
    if (option->kind == CLI_TEXTS) {
        fputc('*', file);
    } else if (option->letter != 0 && with_letter) {
        fprintf(file, "(--%s)", option->name);
    } else if (option->letter != 0) {
        fprintf(file, "(-%c)", option->letter);
    }
    bool optional = option->kind == CLI_OPTIONAL_COUNT;
    if (with_letter) {
        fprintf(file, "-%c%s", option->letter, option->value != NULL ? "+" : "");
    } else {
        fprintf(file, "--%s%s", option->name, option->value == NULL ? "" : optional ? "=-" : "=");
    }
    fputc('[', file);
    quoted(file, option->help, ZSH_SPECIAL, ZSH_QUOTE);
    fputc(']', file);
    if (option->value != NULL) {
        fprintf(file, "%s%s:", optional ? "::" : ":", option->value);
        if (cli_choices(option) != NULL) {
            fprintf(file, "(%s)", cli_choices(option));
        } else if (takes_file(option)) {
            fputs("_files", file);
        } else {
            fputc(' ', file);
        }
    }
    fputs("' \\\n", file);
}

static void zsh_option(FILE *file, const cli_option *option)
{
    if (option->letter != 0) {
        zsh_spelling(file, option, true);
    }
    zsh_spelling(file, option, false);
}

static void zsh_command(FILE *file, const cli_command *command)
{
    fprintf(file, "    %s)\n        _arguments -s -S \\\n", command->name);
    for (const cli_group *group = command->groups; group->title != NULL; group++) {
        for (const cli_option *option = group->options; option->name != NULL; option++) {
            zsh_option(file, option);
        }
    }
    zsh_option(file, &cli_help_option);
    fputs("            '*:file:_files'\n        ;;\n", file);
}

static void zsh(FILE *file)
{
    const char *name = cli_program.name;
    fprintf(file, "#compdef %s\n# zsh completion for %s, printed by '%s --completion=zsh'.\n_",
            name, name, name);
    function_name(file);
    fputs("()\n{\n"
          "    local -a commands\n"
          "    commands=(\n",
          file);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        fprintf(file, "        '%s:", (*command)->name);
        quoted(file, (*command)->summary, ZSH_SPECIAL, ZSH_QUOTE);
        fputs("'\n", file);
    }
    fputs("        'help:explain a command'\n"
          "    )\n"
          "    if ((CURRENT == 2)); then\n"
          "        if [[ $PREFIX == -* ]]; then\n"
          "            compadd -- --help --version --man --completion\n"
          "        else\n"
          "            _describe -t commands command commands\n"
          "        fi\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    ((CURRENT--))\n"
          "    case $words[1] in\n",
          file);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        zsh_command(file, *command);
    }
    fputs("    help) _describe -t commands command commands ;;\n"
          "    *) _files ;;\n"
          "    esac\n"
          "}\n"
          "# The body of a function when found in $fpath; otherwise read by eval or source.\n"
          "if [[ $funcstack[1] == _",
          file);
    function_name(file);
    fputs(" ]]; then\n    _", file);
    function_name(file);
    fputs(" \"$@\"\nelse\n    compdef _", file);
    function_name(file);
    fprintf(file, " %s\nfi\n", name);
}

/* ----------------------------------------------------------------------------------------- fish */

#define FISH_SPECIAL "\\"
#define FISH_QUOTE "\\'"

static void fish_option(FILE *file, const char *command, const cli_option *option)
{
    fprintf(file, "complete -c %s -n '__", cli_program.name);
    function_name(file);
    fprintf(file, "_command %s' -l %s", command, option->name);
    if (option->letter != 0) {
        fprintf(file, " -s %c", option->letter);
    }
    if (option->value != NULL && option->kind != CLI_OPTIONAL_COUNT) {
        fputs(takes_file(option) ? " -r" : " -x", file);
        if (cli_choices(option) != NULL) {
            fprintf(file, " -a '%s'", cli_choices(option));
        }
    }
    fputs(" -d '", file);
    quoted(file, option->help, FISH_SPECIAL, FISH_QUOTE);
    fputs("'\n", file);
}

static void fish_word(FILE *file, const char *condition, const char *word, const char *what)
{
    fprintf(file, "complete -c %s -n %s -f -a %s -d '", cli_program.name, condition, word);
    quoted(file, what, FISH_SPECIAL, FISH_QUOTE);
    fputs("'\n", file);
}

static void fish(FILE *file)
{
    const char *name = cli_program.name;
    fprintf(file, "# fish completion for %s, printed by '%s --completion=fish'.\nfunction __", name,
            name);
    function_name(file);
    fputs("_command -d 'Whether the command on this line is the one given; without one, whether "
          "there is none yet'\n"
          "    set -l words (commandline -opc)\n"
          "    if set -q words[2]\n"
          "        test \"$words[2]\" = \"$argv[1]\"\n"
          "    else\n"
          "        not set -q argv[1]\n"
          "    end\n"
          "end\n",
          file);
    char none[64];
    char help[80];
    snprintf(none, sizeof none, "__%s_command", name);
    for (char *c = none; *c != '\0'; c++) {
        *c = (char)(*c == '-' ? '_' : *c);
    }
    snprintf(help, sizeof help, "'%s help'", none);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        fish_word(file, none, (*command)->name, (*command)->summary);
        fish_word(file, help, (*command)->name, (*command)->summary);
    }
    fish_word(file, none, "help", "explain a command");
    fprintf(file, "complete -c %s -n %s -s h -l help -d 'Print this help'\n", name, none);
    fprintf(file, "complete -c %s -n %s -l version -d 'Print the version'\n", name, none);
    fprintf(file, "complete -c %s -n %s -l man -d 'Print the manual page'\n", name, none);
    fprintf(file, "complete -c %s -n %s -l completion -d 'Print a completion script'\n", name,
            none);
    for (const cli_command *const *command = cli_program.commands; *command != NULL; command++) {
        for (const cli_group *group = (*command)->groups; group->title != NULL; group++) {
            for (const cli_option *option = group->options; option->name != NULL; option++) {
                fish_option(file, (*command)->name, option);
            }
        }
        fish_option(file, (*command)->name, &cli_help_option);
    }
}

bool cli_completion(FILE *file, const char *shell)
{
    static const struct {
        const char *name;
        void (*print)(FILE *);
    } shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(shell, shells[i].name) == 0) {
            shells[i].print(file);
            return true;
        }
    }
    return false;
}
