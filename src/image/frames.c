/* SPDX-License-Identifier: MIT */
/* The place of an instruction in its function, in the function into which that was inlined, and so on. */
#include "image/internal.h"

size_t
image_frames(struct image *im, uint64_t addr, struct image_frame *frame, size_t room)
{
	struct image_place at = {NULL, 0};
	unsigned discriminator = image_discriminator(im, addr);
	size_t n = 0;

	image_place(im, addr, &at);
	for (uint32_t s = image_scope_at(im, addr); s != IMAGE_NO_SCOPE && n < room; n++) {
		const struct image_scope *scope = image_scope(im, s);

		frame[n] = (struct image_frame){scope->name, scope->at.file, scope->at.line, at, discriminator};
		at = scope->call;
		discriminator = scope->call_discriminator;
		s = scope->in;
	}
	return n;
}
