/* SPDX-License-Identifier: MIT */
/* chord trace: what its files share. */
#ifndef CHORD_TOOL_TRACE_H
#define CHORD_TOOL_TRACE_H

#include "process/process.h"
#include "run/run.h"
#include "trace/trace.h"

/* A place in a thread: so many instructions, or an entry of a function. */
struct trace_place {
	const char *function;    /* NULL: by instructions */
	uint64_t n;
	bool set, found;
};

enum trace_view { TRACE_CALLS, TRACE_BLOCKS, TRACE_LINES, TRACE_INSNS };
enum trace_form { TRACE_TEXT, TRACE_JSON, TRACE_LACKEY, TRACE_CHROME, TRACE_PERFETTO };

/* A process that left a trace. */
struct traced {
	const char *name;        /* of its profile, or of its core file */
	const char *trace;       /* of the file that has its trace */
	struct core_trace core;  /* core NULL: it is beside the profile */
	struct profile *profile;
	struct trace_file *file;
	struct binary **binary;  /* by module of the profile; NULL: not at hand */
	const struct map **map;  /* likewise */
	struct replay_code *code;
	struct where_index *where; /* by module: positions in its code; NULL until one was looked for */
};

/* Source lines of a block's instructions. */
struct trace_insn {
	uint64_t addr;           /* in the woven program; 0: it is padding */
	uint32_t len;
	struct image_place at;   /* file NULL: not known */
};
struct trace_block {
	struct trace_insn *insn;
	uint32_t n;
};

struct trace_args {
	struct pool *pool;
	const char *program;
	VEC(char *) profile;
	bool compare;            /* --diff */
	bool encodings;          /* --encodings */
	enum trace_view view;
	enum trace_form form;
	struct trace_place from, to;
	const char *grep, *output;
	uint64_t thread, last;   /* 0: all */
	bool grep_found, thread_found;
	bool kept_end;           /* of some process only the end was kept */
	bool together;           /* --together */
	bool later;              /* Chrome, Perfetto: something has been written */
	const struct trace_out *spoke; /* whose line stands before */
	struct strmap names;     /* Perfetto: numbers of names */
};

/* What happens to a stream that others wait for, or that waits for them. */
enum trace_meeting {
	TRACE_BEGINS, TRACE_CREATES, TRACE_FORKS, TRACE_FORKED, TRACE_ENDS, TRACE_JOINS, TRACE_STAMP, TRACE_THREAD_ENDS
};

/* What is printed of the streams of a process. */
struct trace_out {
	struct trace_args *args;
	struct run *run;
	struct traced *process;
	struct replay replay;
	FILE *to;
	struct trace_index *index; /* NULL: there is none */
	bool again;              /* the thread's head stands there: what comes behind is looked for once more */
	uint64_t met;            /* so far: what orders the stream among others */
	uint64_t told;           /* likewise, up to that number it is told of from the index, before the stream goes on */
	struct trace_events events; /* where that stands there */
	struct replay there;     /* and where it goes on: only what is told of events */
	bool telling;            /* these are being told of */
	size_t drawn;            /* activations that have been drawn and have not ended */
	bool begun, passed;      /* a thread has begun, or what is shown of it has ended: to be, or has been, looked up there */
	uint64_t number;         /* of the thread, if marks have none: the stream's */
	uint64_t from_seen, to_seen; /* entries of the functions at the places so far */
	bool open, over;         /* between the places that were asked for; behind them */
	size_t inside;           /* frame of the function that is looked for, plus 1; 0: in none */
	size_t until;            /* frame with which all ends, plus 1 */
	size_t pending;          /* a frame, plus 1, that has been entered, and nothing printed of it; 0: none */
	enum replay_how how;     /* that it was */
	struct buf struck;       /* where it interrupted, in words */
	bool any;                /* something has been printed of the thread */
	uint64_t nprocess;       /* Perfetto: the process's number */
	uint64_t namesakes;      /* Chrome: so many processes before it have its process id */
	uint64_t offset;         /* Chrome, Perfetto: when the thread began */
	uint64_t from;           /* likewise: the number of the arrow that leads to it; 0: there is none, or it has been written */
	/* NULL: streams are read one after another. False: the stream has to wait. */
	bool (*meets)(struct trace_out *o, enum trace_meeting what);
	uint32_t held;           /* an event that has not been told of, because the stream waits for what comes before; 0: none */
	struct image_place line; /* last one printed */
	struct buf text;
	VEC(char *) last;        /* the last lines, a ring when there are as many as are wanted */
	uint64_t nlast;          /* lines so far */
	struct strmap blocks;    /* by record of a block: struct trace_block */
	struct data data;        /* lackey's lines */
};

/* load.c: finds the processes of a run that left traces. False: reported. missing: of the program, and cannot be used: reported. */
struct traced_list { struct traced *at; size_t n, cap, missing; };
bool traced_load(struct run *r, struct pool *pool, const char *program, char **profile, size_t nprofile, struct traced_list *list);
void traced_free(struct traced_list *list);
struct binary *traced_binary(const struct traced *t, uint32_t module);

/* place.c: what is at an address of woven code, and what had run when a path's slot was taken, for struct replay. */
bool place_locate(struct replay *r, uint32_t module, uint64_t addr, struct replay_strike *s);
struct replay_point place_written(struct replay *r, const struct replay_path *p);
/* For struct replay and struct encodings; ctx is a struct trace_out. */
bool place_names(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module);

/* text.c: prints all streams of a process. False: its trace is not whole; reported. */
bool trace_print(struct trace_out *o);
/* In parts: what there is to be said of the file; a stream begins, has ended (NULL, or why it did). */
bool trace_warn(struct trace_out *o);
void stream_begins(struct trace_out *o, size_t stream);
bool stream_ends(struct trace_out *o, size_t stream, const char *why);
/* Forgets the lines that were kept to be printed last. */
void stream_forgets(struct trace_out *o);
/* seek.c: a process's index is read, or begins to be made; a stream is read, from its beginning or from where something is shown.
 * NULL, or what is wrong with it there. */
void seek_begins(struct trace_out *o);
const char *seek_stream(struct trace_out *o, size_t stream);
void seek_ends(struct trace_out *o);
/* A step of it; false: there is none. */
bool seek_step(struct trace_out *o);
/* together.c: the streams of all processes in turns, in an order that can have been. */
bool trace_print_together(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to);
/* The stream goes on behind what it waited for. */
void stream_goes_on(struct trace_out *o);
/* Something that orders streams is told of in o->replay; nothing is shown of it. */
void stream_meets(struct trace_out *o, enum chord_event event);
/* select.c: what of it is to be shown. */
void select_thread(struct trace_out *o);
void select_entered(struct trace_out *o);
void select_left(struct trace_out *o);
/* Before so many instructions of a path: are they shown? */
bool select_path(struct trace_out *o, uint64_t insns);
bool select_shown(const struct trace_out *o);

/* lines.c: a block's instructions, with where they come from. */
const struct trace_block *trace_block(struct trace_out *o, const struct proc *p, uint32_t module, uint32_t block);

/* json.c: an object a line; an event of Chrome's format. */
uint64_t trace_thread(const struct trace_out *o);
void json_event(struct trace_out *o, const char *event, enum replay_how how);
void json_note(struct trace_out *o, const char *event);
void json_end(struct trace_out *o, const char *how);
/* CHORD_EVENT_CREATES, UNMADE, FORKS, JOINS or STAMP. */
void json_order(struct trace_out *o, enum chord_event event);
void json_block(struct trace_out *o, const struct replay_path *p, uint32_t block, uint64_t insns, uint32_t lo, uint32_t hi);
void chrome_event(struct trace_out *o, char kind);
/* Puts the process's name, before anything else of it. */
void chrome_process(struct trace_out *o);
/* An arrow begins here. */
void chrome_arrow(struct trace_out *o, uint64_t number);
void chrome_end(struct trace_args *a, FILE *to);
/* An arrow begins here, or ends. */
void chrome_end_of_arrow(struct trace_out *o, const char *what, uint64_t number, bool begins);
/* perfetto.c: packets of Perfetto's format. A process comes before its events. */
void perfetto_process(struct trace_out *o);
void perfetto_event(struct trace_out *o, bool begins);
void perfetto_arrow(struct trace_out *o, uint64_t number);
void perfetto_end_of_arrow(struct trace_out *o, const char *what, uint64_t number, bool begins);

/* lackey.c: instructions and accesses as lackey prints them. */
bool lackey_can(const struct trace_out *o);
void lackey_enters(struct replay *r, enum replay_how how);
void lackey_leaves(struct replay *r, enum replay_how how);
void lackey_writes(struct replay *r, uint32_t slot);
void lackey_jumps(struct replay *r);
void lackey_runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to);
/* The stream has been read. */
void lackey_end(struct trace_out *o);

/* diff.c: where two processes of one build part. Exit status. */
int trace_diff(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to);
/* encodings.c: what the runs would have written with other encodings. Exit status. */
int trace_encodings(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to);
const char *replay_how_name(enum replay_how how);
/* How the thread ended; NULL: nothing is said of that. */
const char *trace_end_name(const struct trace_out *o);

/* ---- run.c: chord trace --run ---- */

int trace_run(int argc, char **argv);

#endif
