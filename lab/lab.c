/* The program tilewright-lab: its commands, and what it says about itself. */
#include "commands_lab.h"

#include "frame/program.h"
#include "ladders/write_ups.h"

static const cli_command *const commands[] = {
    &lab_list, &lab_show, &lab_diff, &lab_run_command, &lab_report, &lab_compare, NULL};

static const cli_example first_steps[] = {
    {"tilewright-lab list", "the ladders and their rungs"},
    {"tilewright-lab run apsp-cpu", "climb one: every rung checked, then timed"},
    {"tilewright-lab run --out results", "all that this machine can run, kept as JSON"},
    {"tilewright-lab report results", "a page of tables and plots of what was kept"},
    {NULL, NULL}};

static const cli_topic topics[] = {
    {"Ladders",
     "A ladder is one problem solved in several ways, from the plainest to the library's own. Each "
     "rung changes one thing in its parent, so you can see what each idea gains on this machine. A "
     "rung's answer is checked before it is timed."},
    {"Write-ups", "Rows such as A1 are experiments of five public write-ups; a rung of such a row "
                  "reproduces it.\n"
                  "A: " LAB_WRITE_UP_A "\n"
                  "B: " LAB_WRITE_UP_B "\n"
                  "C: " LAB_WRITE_UP_C "\n"
                  "D: " LAB_WRITE_UP_D "\n"
                  "E: " LAB_WRITE_UP_E},
    {"Exit status",
     "0: finished. 1: finished, but a rung's answer was wrong, or compare found a slowdown beyond "
     "noise. 2: wrong usage, a damaged file, or another error. Ctrl-C: by its signal."},
    {NULL, NULL}};

const cli_about cli_program = {
    .name = "tilewright-lab",
    .one_line = "why each optimisation pays, rung by rung",
    .first_steps = first_steps,
    .topics = topics,
    .commands = commands,
    .refusals = "wrong answer or slowdown",
};
