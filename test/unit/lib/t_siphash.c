/* SPDX-License-Identifier: ISC */
/*
 * SipHash: values of its paper and reference implementation.
 */
#include "lib/siphash.h"

#include "test/tool/tap.h"

int
main(void)
{
	unsigned char key[SIPHASH_KEY];
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(key); i++)
		key[i] = (unsigned char)i;
	for (i = 0; i < sizeof(text); i++)
		text[i] = (char)i;
	OK(siphash_sum(key, STR("")) == UINT64_C(0x726fdb47dd0e0e31));
	OK(siphash_sum(key, (struct str){ text, 8 }) ==
	    UINT64_C(0x93f5f5799a932462));
	OK(siphash_sum(key, (struct str){ text, 15 }) ==
	    UINT64_C(0xa129ca6149be45e5));
	key[0] ^= 1;
	OK(siphash_sum(key, (struct str){ text, 15 }) !=
	    UINT64_C(0xa129ca6149be45e5));
	return tap_done();
}
