/* SPDX-License-Identifier: MIT */
/* Measure data: where registers are written to a trace, and which ones. Their values are only in the trace (src/trace/data.c). */
#include "profile/measure.h"

#include "format/trace.h"

static void
read_site(struct in *in, const struct proc *p, struct data_site *s, const struct data_site *before)
{
	s->block = in_below(in, p->nblock, "a block");
	s->insn = in->bad ? 0 : in_below(in, p->block[s->block].ninsn, "an instruction");
	s->what = in_below(in, CHORD_DATA_SUM + 8, "what is written down");
	if (before && (before->block > s->block || (before->block == s->block && before->insn > s->insn)))
		in_bad(in, "what is written down is not in order");
}

static void
map(struct in *in, struct proc *p, const struct record *r)
{
	struct proc_data *d = pool_alloc(in->pool, sizeof *d);

	(void)r;
	*d = (struct proc_data){.begins = in_below(in, 2, "whether it begins")};
	d->begins_at = in_signed(in);
	d->n = in_number(in, 3);
	d->site = pool_array(in->pool, d->n + 1, sizeof *d->site);
	d->first = pool_array(in->pool, p->nblock + 1, sizeof *d->first);
	for (uint32_t i = 0; i < d->n && !in->bad; i++)
		read_site(in, p, &d->site[i], i ? &d->site[i - 1] : NULL);
	if (d->begins && !d->n)
		in_bad(in, "nothing is written down where it begins");
	for (uint32_t b = 0, i = 0; b <= p->nblock && !in->bad; b++) {
		while (i < d->n && d->site[i].block < b)
			i++;
		d->first[b] = i;
	}
	if (!in->bad)
		p->data = d;
}

const struct profile_measure profile_measure_data = {.map = map};
