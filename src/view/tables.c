/* SPDX-License-Identifier: MIT */
/* Everything that a report shows. */
#include "view/view.h"

#include <stdlib.h>

static void
find_refused(struct view_tables *t)
{
	for (size_t i = 0; i < t->function.n; i++) {
		const struct proc *p = t->function.at[i].proc;

		if (p->refused)
			VEC_PUSH(t->refused, (struct named){p->name, p->refused});
	}
}

static void
leave_chosen(struct view_functions *list, const struct view_choice *choice)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (view_is_chosen(choice, &list->at[i]))
			list->at[n++] = list->at[i];
	list->n = n;
}

static bool
find_lines(struct view_tables *t, unsigned what, enum view_sort sort, const struct view_choice *choice)
{
	bool fits = view_lines(what & VIEW_LINES ? &t->line : NULL, what & VIEW_FILES ? &t->file : NULL, t->run, choice);

	view_lines_sort(&t->line, sort);
	view_lines_sort(&t->file, sort);
	return fits;
}

bool
view_tables(struct view_tables *t, struct run *run, unsigned what, enum view_sort sort, const struct view_choice *choice)
{
	bool fits;

	*t = (struct view_tables){.run = run, .events = run_events(run)};
	unmeasured_find_all(run, &t->unmeasured);
	for (size_t i = 0; i < run->binary.n; i++)
		t->has_lines |= image_has_lines(run->binary.at[i].image);
	view_functions(&t->function, run);
	fits = view_totals(&t->totals, &t->function, &t->events);
	find_refused(t);
	if (fits && what & VIEW_INCLUSIVE)
		view_inclusive(run, &t->function);
	view_functions_known(&t->function);
	leave_chosen(&t->function, choice);
	view_functions_sort(&t->function, sort);
	if (what & (VIEW_LINES | VIEW_FILES))
		fits &= find_lines(t, what, sort, choice);
	if (fits && what & VIEW_CALLS)
		view_calls(&t->call, run, choice);
	if (fits && what & VIEW_SOURCES)
		fits = view_sources(&t->source, run, choice);
	if (fits && what & VIEW_HOTTEST)
		view_hottest(&t->hottest, run, choice);
	return fits;
}

void
view_tables_free(struct view_tables *t)
{
	free(t->function.at);
	free(t->line.at);
	free(t->file.at);
	free(t->call.at);
	view_sources_free(&t->source);
	view_hottest_free(&t->hottest);
	free(t->refused.at);
	unmeasured_free(&t->unmeasured);
}
