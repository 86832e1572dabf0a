/* SPDX-License-Identifier: MIT */
/* tool: the command line. Each subcommand has a file; main.c has the table. */
#ifndef CHORD_TOOL_H
#define CHORD_TOOL_H

#define CHORD_VERSION "0.1"

/* Subcommands. Each gets its own arguments, with argv[0] "chord NAME", and returns the exit status. */
int cmd_report(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_coverage(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_html(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_stat(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_paths(int argc, char **argv);
int cmd_weights(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_graph(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_replay(int argc, char **argv);

#endif
