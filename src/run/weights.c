/* SPDX-License-Identifier: MIT */
/* How often edges ran; the weaver uses this in place of its guess. */
#include "run/run.h"

bool
weights_known(const struct proc *p, const struct counts *c)
{
	uint32_t known = 0;

	if (p->refused || c->why)
		return false;
	for (uint32_t e = 0; e < p->narc; e++)
		known += c->arc_known[e];
	return known == p->narc;
}

void
weights_add(const struct proc *p, const struct counts *c, uint64_t *ran)
{
	for (uint32_t e = 0; e < p->narc; e++)
		ran[e] = saturating_add(ran[e], c->arc[e]);
}

/* Several objects may have the same procedure. */
static void
add_proc(struct selection *in, const struct proc *p, const struct counts *c)
{
	struct selection_proc *ip = selection_add(in, pool_strdup(in->pool, p->name), pool_strdup(in->pool, p->file), proc_hash(p));

	if (!ip->nran)
		ip->ran = pool_array(in->pool, p->narc, sizeof *ip->ran);
	ip->nran = p->narc;
	weights_add(p, c, ip->ran);
}

void
run_weights(const struct run *r, struct selection *in)
{
	for (size_t i = 0; i < r->binary.n; i++) {
		const struct binary *bin = &r->binary.at[i];

		for (uint32_t k = 0; k < bin->map.nproc; k++)
			if (weights_known(&bin->map.proc[k], &bin->counts[k]) && bin->counts[k].activations)
				add_proc(in, &bin->map.proc[k], &bin->counts[k]);
	}
}
