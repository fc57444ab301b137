/* SPDX-License-Identifier: ISC */
/*
 * ws_cases: the cases of the Autobahn test suite, sections 1 to 7, 9 and 10,
 * against a WebSocket echo server.
 *
 *	ws_cases [-m BYTES] PORT [PREFIX ...]
 *
 * runs the cases whose number begins with one of the prefixes (default: all)
 * and prints those that fail, then the number that passed.  -m skips longer
 * messages.  Notation of a case:
 *
 *	81:text		a frame: its first byte, in hexadecimal; its payload,
 *			with %XX; a suffix *N repeats the last byte N times
 *	81#N:text	the same, but its header declares the length N
 *	=1000		the server closes with this code (1005: without a code)
 *
 * The client finally closes with 1000, unless it has sent a close frame or
 * expects another code.  Its output is split into parts of the given size (0:
 * not split).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "lib/http.h"
#include "lib/ws.h"

enum { DEADLINE_MS = 60000, SHOWN = 300 };

struct wscase {
	const char *nr;
	size_t cut;
	const char *say, *want;
};

#define HELLO "Hello-%c2%b5@%c3%9f%c3%b6%c3%a4%c3%bc%c3%a0%c3%a1-UTF-8!!"
#define KOSME "%ce%ba%e1%bd%b9%cf%83%ce%bc%ce%b5"

static const struct wscase cases[] = {
	/* 1: framing */
	{ "1.1.1", 0, "81:", "81:" },
	{ "1.1.2", 0, "81:**125", "81:**125" },
	{ "1.1.3", 0, "81:**126", "81:**126" },
	{ "1.1.4", 0, "81:**127", "81:**127" },
	{ "1.1.5", 0, "81:**128", "81:**128" },
	{ "1.1.6", 0, "81:**65535", "81:**65535" },
	{ "1.1.7", 0, "81:**65536", "81:**65536" },
	{ "1.1.8", 997, "81:**65536", "81:**65536" },
	{ "1.2.1", 0, "82:", "82:" },
	{ "1.2.2", 0, "82:%fe*125", "82:%fe*125" },
	{ "1.2.3", 0, "82:%fe*126", "82:%fe*126" },
	{ "1.2.4", 0, "82:%fe*127", "82:%fe*127" },
	{ "1.2.5", 0, "82:%fe*128", "82:%fe*128" },
	{ "1.2.6", 0, "82:%fe*65535", "82:%fe*65535" },
	{ "1.2.7", 0, "82:%fe*65536", "82:%fe*65536" },
	{ "1.2.8", 997, "82:%fe*65536", "82:%fe*65536" },
	/* 2: pings and pongs */
	{ "2.1", 0, "89:", "8a:" },
	{ "2.2", 0, "89:Hello", "8a:Hello" },
	{ "2.3", 0, "89:%00%ff%fe%fd%fc%fb%00%ff", "8a:%00%ff%fe%fd%fc%fb%00%ff" },
	{ "2.4", 0, "89:%fe*125", "8a:%fe*125" },
	{ "2.5", 0, "89:%fe*126", "=1002" },
	{ "2.6", 1, "89:%fe*125", "8a:%fe*125" },
	{ "2.7", 0, "8a:", "" },
	{ "2.8", 0, "8a:unsolicited", "" },
	{ "2.9", 0, "8a:unsolicited 89:ping", "8a:ping" },
	{ "2.10", 0, "89:p0 89:p1 89:p2 89:p3 89:p4 89:p5 89:p6 89:p7 89:p8 89:p9",
	    "8a:p0 8a:p1 8a:p2 8a:p3 8a:p4 8a:p5 8a:p6 8a:p7 8a:p8 8a:p9" },
	{ "2.11", 1, "89:p0 89:p1 89:p2 89:p3 89:p4 89:p5 89:p6 89:p7 89:p8 89:p9",
	    "8a:p0 8a:p1 8a:p2 8a:p3 8a:p4 8a:p5 8a:p6 8a:p7 8a:p8 8a:p9" },
	/* 3: reserved bits */
	{ "3.1", 0, "c1:Hello", "=1002" },
	{ "3.2", 0, "81:Hello a1:Hello 89:", "81:Hello =1002" },
	{ "3.3", 7, "81:Hello b1:Hello 89:", "81:Hello =1002" },
	{ "3.4", 1, "81:Hello c1:Hello 89:", "81:Hello =1002" },
	{ "3.5", 0, "d2:%00%ff%fe%fd%fc%fb%00%ff", "=1002" },
	{ "3.6", 0, "e9:Hello", "=1002" },
	{ "3.7", 0, "f8:", "=1002" },
	/* 4: undefined opcodes */
	{ "4.1.1", 0, "83:", "=1002" },
	{ "4.1.2", 0, "84:reserved", "=1002" },
	{ "4.1.3", 0, "81:Hello 85: 89:", "81:Hello =1002" },
	{ "4.1.4", 0, "81:Hello 86:reserved 89:", "81:Hello =1002" },
	{ "4.1.5", 1, "81:Hello 87:reserved 89:", "81:Hello =1002" },
	{ "4.2.1", 0, "8b:", "=1002" },
	{ "4.2.2", 0, "8c:reserved", "=1002" },
	{ "4.2.3", 0, "81:Hello 8d: 89:", "81:Hello =1002" },
	{ "4.2.4", 0, "81:Hello 8e:reserved 89:", "81:Hello =1002" },
	{ "4.2.5", 1, "81:Hello 8f:reserved 89:", "81:Hello =1002" },
	/* 5: fragments */
	{ "5.1", 0, "09:one 80:two", "=1002" },
	{ "5.2", 0, "0a:one 80:two", "=1002" },
	{ "5.3", 0, "01:one 80:two", "81:onetwo" },
	{ "5.4", 9, "01:one 80:two", "81:onetwo" },
	{ "5.5", 1, "01:one 80:two", "81:onetwo" },
	{ "5.6", 0, "01:one 89:ping 80:two", "8a:ping 81:onetwo" },
	{ "5.7", 10, "01:one 89:ping 80:two", "8a:ping 81:onetwo" },
	{ "5.8", 1, "01:one 89:ping 80:two", "8a:ping 81:onetwo" },
	{ "5.9", 0, "80:none 81:Hello", "=1002" },
	{ "5.10", 10, "80:none 81:Hello", "=1002" },
	{ "5.11", 1, "80:none 81:Hello", "=1002" },
	{ "5.12", 0, "00:none 81:Hello", "=1002" },
	{ "5.13", 10, "00:none 81:Hello", "=1002" },
	{ "5.14", 1, "00:none 81:Hello", "=1002" },
	{ "5.15", 0, "01:one 80:two 00:three 81:four", "81:onetwo =1002" },
	{ "5.16", 0, "00:a 01:b 80:c 00:d 01:e 80:f", "=1002" },
	{ "5.17", 0, "80:a 01:b 80:c 80:d 01:e 80:f", "=1002" },
	{ "5.18", 0, "01:one 81:two", "=1002" },
	{ "5.19", 0, "01:f1 00:f2 89:p1 00:f3 00:f4 89:p2 80:f5", "8a:p1 8a:p2 81:f1f2f3f4f5" },
	{ "5.20", 6, "01:f1 00:f2 89:p1 00:f3 00:f4 89:p2 80:f5", "8a:p1 8a:p2 81:f1f2f3f4f5" },
	/* 6: UTF-8 */
	{ "6.1.1", 0, "81:", "81:" },
	{ "6.1.2", 0, "01: 00: 80:", "81:" },
	{ "6.1.3", 0, "01: 00:middle 80:", "81:middle" },
	{ "6.2.1", 0, "81:" HELLO, "81:" HELLO },
	{ "6.2.2", 0, "01:Hello-%c2%b5@%c3%9f%c3%b6%c3%a4 80:%c3%bc%c3%a0%c3%a1-UTF-8!!",
	    "81:" HELLO },
	{ "6.2.3", 0, "01:H 00:%c2 00:%b5 00:%c3 00:%9f 80:!", "81:H%c2%b5%c3%9f!" },
	{ "6.2.4", 0, "01:%ce 00:%ba 00:%e1 00:%bd 00:%b9 00:%cf 00:%83 00:%ce 00:%bc 00:%ce 80:%b5",
	    "81:" KOSME },
	{ "6.3.1", 0, "81:" KOSME "%ed%a0%80edited", "=1007" },
	{ "6.3.2", 0, "01:%ce 00:%ba 00:%ed 00:%a0 00:%80 80:e", "=1007" },
	{ "6.4.1", 0, "01:" KOSME " 00:%f4%90%80%80", "=1007" },
	{ "6.4.2", 0, "01:" KOSME "%f4 00:%90", "=1007" },
	{ "6.4.3", 0, "81#26:" KOSME "%f4%90%80%80", "=1007" },
	{ "6.4.4", 0, "81#26:" KOSME "%f4%90", "=1007" },
	{ "6.5.1", 0, "81:" KOSME, "81:" KOSME },
	{ "6.5.2", 1, "81:" KOSME, "81:" KOSME },
	{ "6.5.3", 0, "81:%f0%90%80%80a", "81:%f0%90%80%80a" },
	{ "6.5.4", 0, "81:%f4%8f%bf%bf", "81:%f4%8f%bf%bf" },
	{ "6.5.5", 1, "81:%f4%8f%bf%bf", "81:%f4%8f%bf%bf" },
	{ "6.6.1", 0, "81:%ce", "=1007" },
	{ "6.6.2", 0, "81:%ce%ba", "81:%ce%ba" },
	{ "6.6.3", 0, "81:%ce%ba%e1", "=1007" },
	{ "6.6.4", 0, "81:%ce%ba%e1%bd", "=1007" },
	{ "6.6.5", 0, "81:%ce%ba%e1%bd%b9", "81:%ce%ba%e1%bd%b9" },
	{ "6.6.6", 0, "81:%ce%ba%e1%bd%b9%cf", "=1007" },
	{ "6.6.7", 0, "81:%ce%ba%e1%bd%b9%cf%83", "81:%ce%ba%e1%bd%b9%cf%83" },
	{ "6.6.8", 0, "81:%ce%ba%e1%bd%b9%cf%83%ce", "=1007" },
	{ "6.6.9", 0, "81:%ce%ba%e1%bd%b9%cf%83%ce%bc", "81:%ce%ba%e1%bd%b9%cf%83%ce%bc" },
	{ "6.6.10", 0, "81:%ce%ba%e1%bd%b9%cf%83%ce%bc%ce", "=1007" },
	{ "6.6.11", 0, "81:" KOSME, "81:" KOSME },
	{ "6.7.1", 0, "81:%00", "81:%00" },
	{ "6.7.2", 0, "81:%c2%80", "81:%c2%80" },
	{ "6.7.3", 0, "81:%e0%a0%80", "81:%e0%a0%80" },
	{ "6.7.4", 0, "81:%f0%90%80%80", "81:%f0%90%80%80" },
	{ "6.8.1", 0, "81:%f8%88%80%80%80", "=1007" },
	{ "6.8.2", 0, "81:%fc%84%80%80%80%80", "=1007" },
	{ "6.9.1", 0, "81:%7f", "81:%7f" },
	{ "6.9.2", 0, "81:%df%bf", "81:%df%bf" },
	{ "6.9.3", 0, "81:%ef%bf%bf", "81:%ef%bf%bf" },
	{ "6.9.4", 0, "81:%f4%8f%bf%bf", "81:%f4%8f%bf%bf" },
	{ "6.10.1", 0, "81:%f7%bf%bf%bf", "=1007" },
	{ "6.10.2", 0, "81:%fb%bf%bf%bf%bf", "=1007" },
	{ "6.10.3", 0, "81:%fd%bf%bf%bf%bf%bf", "=1007" },
	{ "6.11.1", 0, "81:%ed%9f%bf", "81:%ed%9f%bf" },
	{ "6.11.2", 0, "81:%ee%80%80", "81:%ee%80%80" },
	{ "6.11.3", 0, "81:%ef%bf%bd", "81:%ef%bf%bd" },
	{ "6.11.4", 0, "81:%f4%8f%bf%bf", "81:%f4%8f%bf%bf" },
	{ "6.11.5", 0, "81:%f4%90%80%80", "=1007" },
	{ "6.12.1", 0, "81:%80", "=1007" },
	{ "6.12.2", 0, "81:%bf", "=1007" },
	{ "6.12.3", 0, "81:%80%bf", "=1007" },
	{ "6.12.4", 0, "81:%80%bf%80", "=1007" },
	{ "6.12.5", 0, "81:%80%bf%80%bf", "=1007" },
	{ "6.12.6", 0, "81:%80%bf%80%bf%80", "=1007" },
	{ "6.12.7", 0, "81:%80%bf%80%bf%80%bf", "=1007" },
	{ "6.12.8", 0, "81:%80%81%82%83%bc%bd%be%bf", "=1007" },
	{ "6.13.1", 0, "81:%c0 %20", "=1007" },
	{ "6.13.2", 0, "81:%e0%20%ef%20", "=1007" },
	{ "6.13.3", 0, "81:%f0%20%f7%20", "=1007" },
	{ "6.13.4", 0, "81:%f8%20%fb%20", "=1007" },
	{ "6.13.5", 0, "81:%fc%20", "=1007" },
	{ "6.14.1", 0, "81:%c0", "=1007" },
	{ "6.14.2", 0, "81:%e0%80", "=1007" },
	{ "6.14.3", 0, "81:%f0%80%80", "=1007" },
	{ "6.14.4", 0, "81:%f8%80%80%80", "=1007" },
	{ "6.14.5", 0, "81:%fc%80%80%80%80", "=1007" },
	{ "6.14.6", 0, "81:%df", "=1007" },
	{ "6.14.7", 0, "81:%ef%bf", "=1007" },
	{ "6.14.8", 0, "81:%f7%bf%bf", "=1007" },
	{ "6.14.9", 0, "81:%fb%bf%bf%bf", "=1007" },
	{ "6.14.10", 0, "81:%fd%bf%bf%bf%bf", "=1007" },
	{ "6.15.1", 0, "81:%c0%e0%80%f0%80%80%f8%80%80%80", "=1007" },
	{ "6.16.1", 0, "81:%fe", "=1007" },
	{ "6.16.2", 0, "81:%ff", "=1007" },
	{ "6.16.3", 0, "81:%fe%fe%ff%ff", "=1007" },
	{ "6.17.1", 0, "81:%c0%af", "=1007" },
	{ "6.17.2", 0, "81:%e0%80%af", "=1007" },
	{ "6.17.3", 0, "81:%f0%80%80%af", "=1007" },
	{ "6.17.4", 0, "81:%f8%80%80%80%af", "=1007" },
	{ "6.17.5", 0, "81:%fc%80%80%80%80%af", "=1007" },
	{ "6.18.1", 0, "81:%c1%bf", "=1007" },
	{ "6.18.2", 0, "81:%e0%9f%bf", "=1007" },
	{ "6.18.3", 0, "81:%f0%8f%bf%bf", "=1007" },
	{ "6.18.4", 0, "81:%f8%87%bf%bf%bf", "=1007" },
	{ "6.18.5", 0, "81:%fc%83%bf%bf%bf%bf", "=1007" },
	{ "6.19.1", 0, "81:%c0%80", "=1007" },
	{ "6.19.2", 0, "81:%e0%80%80", "=1007" },
	{ "6.19.3", 0, "81:%f0%80%80%80", "=1007" },
	{ "6.19.4", 0, "81:%f8%80%80%80%80", "=1007" },
	{ "6.19.5", 0, "81:%fc%80%80%80%80%80", "=1007" },
	{ "6.20.1", 0, "81:%ed%a0%80", "=1007" },
	{ "6.20.2", 0, "81:%ed%ad%bf", "=1007" },
	{ "6.20.3", 0, "81:%ed%ae%80", "=1007" },
	{ "6.20.4", 0, "81:%ed%af%bf", "=1007" },
	{ "6.20.5", 0, "81:%ed%b0%80", "=1007" },
	{ "6.20.6", 0, "81:%ed%be%80", "=1007" },
	{ "6.20.7", 0, "81:%ed%bf%bf", "=1007" },
	{ "6.21.1", 0, "81:%ed%a0%80%ed%b0%80", "=1007" },
	{ "6.21.2", 0, "81:%ed%a0%80%ed%bf%bf", "=1007" },
	{ "6.21.3", 0, "81:%ed%ad%bf%ed%b0%80", "=1007" },
	{ "6.21.4", 0, "81:%ed%ad%bf%ed%bf%bf", "=1007" },
	{ "6.21.5", 0, "81:%ed%ae%80%ed%b0%80", "=1007" },
	{ "6.21.6", 0, "81:%ed%ae%80%ed%bf%bf", "=1007" },
	{ "6.21.7", 0, "81:%ed%af%bf%ed%b0%80", "=1007" },
	{ "6.21.8", 0, "81:%ed%af%bf%ed%bf%bf", "=1007" },
	{ "6.22.1", 0, "81:%ef%bf%be", "81:%ef%bf%be" },
	{ "6.22.2", 0, "81:%ef%bf%bf", "81:%ef%bf%bf" },
	{ "6.23.1", 0, "81:%ef%bf%b9", "81:%ef%bf%b9" },
	{ "6.23.2", 0, "81:%ef%bf%ba", "81:%ef%bf%ba" },
	{ "6.23.3", 0, "81:%ef%bf%bb", "81:%ef%bf%bb" },
	{ "6.23.4", 0, "81:%ef%bf%bc", "81:%ef%bf%bc" },
	{ "6.23.5", 0, "81:%ef%bf%bd", "81:%ef%bf%bd" },
	{ "6.23.6", 0, "81:%ef%bf%be", "81:%ef%bf%be" },
	{ "6.23.7", 0, "81:%ef%bf%bf", "81:%ef%bf%bf" },
	/* 7: the end */
	{ "7.1.1", 0, "81:Hello 88:%03%e8", "81:Hello =1000" },
	{ "7.1.2", 0, "88:%03%e8 88:%03%e8", "=1000" },
	{ "7.1.3", 0, "88:%03%e8 89:", "=1000" },
	{ "7.1.4", 0, "88:%03%e8 81:Hello", "=1000" },
	{ "7.1.5", 0, "01:one 88:%03%e8 80:two", "=1000" },
	{ "7.1.6", 0, "81:BAsd7&jh23*26214 81:Hello 88:%03%e8 89:",
	    "81:BAsd7&jh23*26214 81:Hello =1000" },
	{ "7.3.1", 0, "88:", "=1005" },
	{ "7.3.2", 0, "88:a", "=1002" },
	{ "7.3.3", 0, "88:%03%e8", "=1000" },
	{ "7.3.4", 0, "88:%03%e8Hello", "=1000" },
	{ "7.3.5", 0, "88:%03%e8***************************************************************"
	    "************************************************************", "=1000" },
	{ "7.3.6", 0, "88:%03%e8****************************************************************"
	    "************************************************************", "=1002" },
	{ "7.5.1", 0, "88:%03%e8" KOSME "%ed%a0%80edited", "=1007" },
	{ "7.7.1", 0, "88:%03%e8", "=1000" },
	{ "7.7.2", 0, "88:%03%e9", "=1001" },
	{ "7.7.3", 0, "88:%03%ea", "=1002" },
	{ "7.7.4", 0, "88:%03%eb", "=1003" },
	{ "7.7.5", 0, "88:%03%ef", "=1007" },
	{ "7.7.6", 0, "88:%03%f0", "=1008" },
	{ "7.7.7", 0, "88:%03%f1", "=1009" },
	{ "7.7.8", 0, "88:%03%f2", "=1010" },
	{ "7.7.9", 0, "88:%03%f3", "=1011" },
	{ "7.7.10", 0, "88:%0b%b8", "=3000" },
	{ "7.7.11", 0, "88:%0f%9f", "=3999" },
	{ "7.7.12", 0, "88:%0f%a0", "=4000" },
	{ "7.7.13", 0, "88:%13%87", "=4999" },
	{ "7.9.1", 0, "88:%00%00", "=1002" },
	{ "7.9.2", 0, "88:%03%e7", "=1002" },
	{ "7.9.3", 0, "88:%03%ec", "=1002" },
	{ "7.9.4", 0, "88:%03%ed", "=1002" },
	{ "7.9.5", 0, "88:%03%ee", "=1002" },
	{ "7.9.6", 0, "88:%03%f8", "=1002" },
	{ "7.9.7", 0, "88:%04%4c", "=1002" },
	{ "7.9.8", 0, "88:%07%d0", "=1002" },
	{ "7.9.9", 0, "88:%0b%b7", "=1002" },
	{ "7.13.1", 0, "88:%13%88", "=1002" },
	{ "7.13.2", 0, "88:%ff%ff", "=1002" },
};

static const unsigned char mask[WS_MASK] = { 0x37, 0xFA, 0x21, 0x3D };

static void
die(const char *what)
{
	fprintf(stderr, "ws_cases: %s: %s\n", what, strerror(errno));
	exit(2);
}

/*
 * Converts the notation of a case to bytes.
 */
static int
hex(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* The payload at p, up to a blank. */
static const char *
read_payload(const char *p, struct buf *b)
{
	size_t n, times = 1;
	char *end;
	const char *star;

	star = p + strcspn(p, " ");
	while (star > p && star[-1] >= '0' && star[-1] <= '9')
		star--;
	if (star > p + 1 && star[-1] == '*' && *star >= '0' && *star <= '9')
		times = strtoul(star--, &end, 10);
	else
		star = end = (char *)(uintptr_t)(p + strcspn(p, " "));
	while (p < star) {
		if (*p == '%') {
			buf_putc(b, (char)(hex(p[1]) << 4 | hex(p[2])));
			p += 3;
		} else
			buf_putc(b, *p++);
	}
	for (n = b->n; times > 1; times--)
		buf_put(b, (struct str){ buf_room(b, n) - b->n, n });
	return end;
}

static void
put_frame(struct buf *out, unsigned first, struct str payload, size_t said)
{
	size_t from = out->n, i;

	ws_put_part(out, (enum ws_op)(first & 15), (first & 0x80) != 0,
	    STR(""), NULL);
	out->n = from;
	buf_putc(out, (char)first);
	if (said < 126)
		buf_putc(out, (char)(0x80 | said));
	else if (said < 65536) {
		buf_putc(out, (char)(0x80 | 126));
		buf_putc(out, (char)(said >> 8));
		buf_putc(out, (char)said);
	} else {
		buf_putc(out, (char)(0x80 | 127));
		for (i = 8; i > 0; i--)
			buf_putc(out, (char)((uint64_t)said >> 8 * (i - 1)));
	}
	buf_put(out, (struct str){ (const char *)mask, WS_MASK });
	for (i = 0; i < payload.n; i++)
		buf_putc(out, (char)((unsigned char)payload.p[i] ^
		    mask[i % WS_MASK]));
}

static void
build(const char *say, struct buf *out)
{
	struct buf payload = { 0 };
	char *end;

	while (*say != '\0') {
		unsigned first = (unsigned)strtoul(say, &end, 16);
		size_t said = SIZE_MAX;

		if (*end == '#')
			said = strtoul(end + 1, &end, 10);
		payload.n = 0;
		say = read_payload(end + 1, &payload);
		put_frame(out, first, buf_str(&payload),
		    said != SIZE_MAX ? said : payload.n);
		say += *say == ' ';
	}
	buf_free(&payload);
}

/*
 * Converts received frames to the notation: "81:text", and "=code" at the end.
 */
static void
tell(struct buf *log, unsigned first, struct str s)
{
	uint64_t sum = 14695981039346656037u;
	size_t i;

	if (log->n > 0)
		buf_putc(log, ' ');
	if (s.n > SHOWN) {
		for (i = 0; i < s.n; i++)
			sum = (sum ^ (unsigned char)s.p[i]) * 1099511628211u;
		buf_fmt(log, "%02x:(%zu bytes, %llx)", first, s.n,
		    (unsigned long long)sum);
		return;
	}
	buf_fmt(log, "%02x:", first);
	for (i = 0; i < s.n; i++)
		if (s.p[i] > ' ' && s.p[i] < 127 && s.p[i] != '%')
			buf_putc(log, s.p[i]);
		else
			buf_fmt(log, "%%%02x", (unsigned char)s.p[i]);
}

static void
tell_want(struct buf *log, const char *want)
{
	struct buf payload = { 0 };
	char *end;

	while (*want != '\0' && *want != '=') {
		unsigned first = (unsigned)strtoul(want, &end, 16);

		payload.n = 0;
		want = read_payload(end + 1, &payload);
		tell(log, first, buf_str(&payload));
		want += *want == ' ';
	}
	buf_fmt(log, "%s%s", log->n > 0 ? " " : "", *want == '=' ? want :
	    "=1000");
	buf_free(&payload);
}

/*
 * Connections.
 */
static int
dial(int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	in.sin_port = htons((unsigned short)port);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd == -1 || connect(fd, (struct sockaddr *)&in, sizeof(in)) == -1)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

struct talk {
	int fd;
	struct str say;		/* still to be sent */
	size_t cut;
	struct ws ws;
	struct buf in;
	struct buf log;
	bool upgraded, over;
	char accept[WS_ACCEPT];
};

static void
hear(struct talk *t)
{
	struct ws_event ev;
	struct http_head h;
	struct err e = { 0 };
	size_t used, seen = 0;
	int rc;

	if (!t->upgraded) {
		if (http_head_read(&h, HTTP_RESPONSE, buf_str(&t->in), &seen,
		    &used, &e) != 1)
			return;
		if (ws_check_answer(&h, t->accept, &e) == -1) {
			fprintf(stderr, "ws_cases: %s\n", e.msg);
			exit(2);
		}
		t->upgraded = true;
		buf_eat(&t->in, used);
	}
	while ((rc = ws_next(&t->ws, buf_str(&t->in), &used, &ev, &e)) == 1) {
		if (ev.op == WS_CLOSE)
			buf_fmt(&t->log, "%s=%d", t->log.n > 0 ? " " : "",
			    ev.code);
		else
			tell(&t->log, 0x80u | (unsigned)ev.op, ev.data);
		buf_eat(&t->in, used);
	}
	buf_eat(&t->in, used);
	if (rc == -1) {
		buf_fmt(&t->log, " (%s)", e.msg);
		t->over = true;
	}
}

static void
turn(struct talk *t)
{
	struct pollfd p = { .fd = t->fd, .events = POLLIN };
	static char block[65536];
	ssize_t n;
	size_t some;

	if (t->upgraded && t->say.n > 0)
		p.events |= POLLOUT;
	if (poll(&p, 1, DEADLINE_MS) != 1) {
		buf_puts(&t->log, " (and then nothing)");
		t->over = true;
		return;
	}
	if (p.revents & POLLOUT) {
		some = t->cut > 0 && t->cut < t->say.n ? t->cut : t->say.n;
		n = write(t->fd, t->say.p, some);
		if (n > 0) {
			t->say.p += n;
			t->say.n -= (size_t)n;
		} else if (n == -1 && errno != EAGAIN)
			t->say.n = 0;
	}
	if (p.revents & (POLLIN | POLLHUP | POLLERR)) {
		n = read(t->fd, block, sizeof(block));
		if (n > 0) {
			buf_put(&t->in, (struct str){ block, (size_t)n });
			hear(t);
		} else if (n == 0 || errno != EAGAIN)
			t->over = true;
	}
}

static void
talk(int port, struct str say, size_t cut, struct buf *log)
{
	static const unsigned char nonce[WS_NONCE] = "the sample nonce";
	struct talk t = { .fd = dial(port), .say = say, .cut = cut,
		.ws = { .client = true }, .log = *log };
	struct http_url u;
	struct buf b = { 0 };
	struct err e;
	char url[64];

	snprintf(url, sizeof(url), "ws://127.0.0.1:%d/", port);
	ws_url_read(str_of(url), &u, &e);
	ws_put_request(&b, &u, STR(""), nonce, t.accept);
	if (write(t.fd, b.p, b.n) != (ssize_t)b.n)
		die("write");
	while (!t.over)
		turn(&t);
	close(t.fd);
	buf_free(&b);
	buf_free(&t.in);
	ws_free(&t.ws);
	*log = t.log;
}

/* Sends the bytes; returns 1 if the answer is as expected. */
static int
play(int port, const char *nr, struct str say, size_t cut, struct str want)
{
	struct buf log = { 0 };
	int good;

	talk(port, say, cut, &log);
	good = str_eq(buf_str(&log), want);
	if (!good)
		printf("%s: want %.*s\n%s: got  %.*s\n", nr, STRF(want), nr,
		    STRF(buf_str(&log)));
	buf_free(&log);
	return good;
}

static int
play_row(int port, const struct wscase *c)
{
	struct buf say = { 0 }, want = { 0 };
	int good;

	build(c->say, &say);
	if (strchr(c->want, '=') == NULL && strstr(c->say, "88:") == NULL)
		build("88:%03%e8", &say);
	tell_want(&want, c->want);
	good = play(port, c->nr, buf_str(&say), c->cut, buf_str(&want));
	buf_free(&say);
	buf_free(&want);
	return good;
}

/*
 * Sections 9 and 10, and other generated cases.
 */
struct bulk {
	const char *nr;
	unsigned op;
	size_t bytes;		/* of a message */
	size_t part;		/* of a fragment; 0: it is whole */
	size_t cut, times;
};

#define K (1u << 10)
#define M (1u << 20)
static const struct bulk bulks[] = {
	{ "9.1.1", 1, 64 * K, 0, 0, 1 }, { "9.1.2", 1, 256 * K, 0, 0, 1 },
	{ "9.1.3", 1, 1 * M, 0, 0, 1 }, { "9.1.4", 1, 4 * M, 0, 0, 1 },
	{ "9.1.5", 1, 8 * M, 0, 0, 1 }, { "9.1.6", 1, 16 * M, 0, 0, 1 },
	{ "9.2.1", 2, 64 * K, 0, 0, 1 }, { "9.2.2", 2, 256 * K, 0, 0, 1 },
	{ "9.2.3", 2, 1 * M, 0, 0, 1 }, { "9.2.4", 2, 4 * M, 0, 0, 1 },
	{ "9.2.5", 2, 8 * M, 0, 0, 1 }, { "9.2.6", 2, 16 * M, 0, 0, 1 },
	{ "9.3.1", 1, 4 * M, 64, 0, 1 }, { "9.3.2", 1, 4 * M, 256, 0, 1 },
	{ "9.3.3", 1, 4 * M, 1 * K, 0, 1 }, { "9.3.4", 1, 4 * M, 4 * K, 0, 1 },
	{ "9.3.5", 1, 4 * M, 16 * K, 0, 1 }, { "9.3.6", 1, 4 * M, 64 * K, 0, 1 },
	{ "9.3.7", 1, 4 * M, 256 * K, 0, 1 }, { "9.3.8", 1, 4 * M, 1 * M, 0, 1 },
	{ "9.3.9", 1, 4 * M, 4 * M, 0, 1 },
	{ "9.4.1", 2, 4 * M, 64, 0, 1 }, { "9.4.2", 2, 4 * M, 256, 0, 1 },
	{ "9.4.3", 2, 4 * M, 1 * K, 0, 1 }, { "9.4.4", 2, 4 * M, 4 * K, 0, 1 },
	{ "9.4.5", 2, 4 * M, 16 * K, 0, 1 }, { "9.4.6", 2, 4 * M, 64 * K, 0, 1 },
	{ "9.4.7", 2, 4 * M, 256 * K, 0, 1 }, { "9.4.8", 2, 4 * M, 1 * M, 0, 1 },
	{ "9.4.9", 2, 4 * M, 4 * M, 0, 1 },
	{ "9.5.1", 1, 1 * M, 0, 64, 1 }, { "9.5.2", 1, 1 * M, 0, 128, 1 },
	{ "9.5.3", 1, 1 * M, 0, 256, 1 }, { "9.5.4", 1, 1 * M, 0, 512, 1 },
	{ "9.5.5", 1, 1 * M, 0, 1 * K, 1 }, { "9.5.6", 1, 1 * M, 0, 2 * K, 1 },
	{ "9.6.1", 2, 1 * M, 0, 64, 1 }, { "9.6.2", 2, 1 * M, 0, 128, 1 },
	{ "9.6.3", 2, 1 * M, 0, 256, 1 }, { "9.6.4", 2, 1 * M, 0, 512, 1 },
	{ "9.6.5", 2, 1 * M, 0, 1 * K, 1 }, { "9.6.6", 2, 1 * M, 0, 2 * K, 1 },
	{ "9.7.1", 1, 0, 0, 0, 1000 }, { "9.7.2", 1, 16, 0, 0, 1000 },
	{ "9.7.3", 1, 64, 0, 0, 1000 }, { "9.7.4", 1, 256, 0, 0, 1000 },
	{ "9.7.5", 1, 1 * K, 0, 0, 1000 }, { "9.7.6", 1, 4 * K, 0, 0, 1000 },
	{ "9.8.1", 2, 0, 0, 0, 1000 }, { "9.8.2", 2, 16, 0, 0, 1000 },
	{ "9.8.3", 2, 64, 0, 0, 1000 }, { "9.8.4", 2, 256, 0, 0, 1000 },
	{ "9.8.5", 2, 1 * K, 0, 0, 1000 }, { "9.8.6", 2, 4 * K, 0, 0, 1000 },
	{ "10.1.1", 1, 65536, 1300, 0, 1 },
};

static void
fill(struct buf *b, const struct bulk *c, size_t nth)
{
	size_t i;

	b->n = 0;
	for (i = 0; i < c->bytes; i++)
		buf_putc(b, c->op == 1 ? (char)('a' + (i + i / 251 + nth) % 26) :
		    (char)(i * 7 + nth));
}

static void
put_parts(struct buf *out, const struct bulk *c, struct str s)
{
	struct str part;
	unsigned first = c->op;

	do {
		part = s;
		if (c->part > 0 && part.n > c->part)
			part.n = c->part;
		s.p += part.n;
		s.n -= part.n;
		put_frame(out, first | (s.n == 0 ? 0x80u : 0), part, part.n);
		first = 0;
	} while (s.n > 0);
}

static int
play_bulk(int port, const struct bulk *c)
{
	struct buf say = { 0 }, want = { 0 }, payload = { 0 };
	size_t i;
	int good;

	for (i = 0; i < c->times; i++) {
		fill(&payload, c, i);
		put_parts(&say, c, payload.n > 0 ? buf_str(&payload) :
		    STR(""));
		tell(&want, 0x80 | c->op, buf_str(&payload));
	}
	build("88:%03%e8", &say);
	buf_puts(&want, " =1000");
	good = play(port, c->nr, buf_str(&say), c->cut, buf_str(&want));
	buf_free(&say);
	buf_free(&want);
	buf_free(&payload);
	return good;
}

/* 6.22: the last two code points of each plane are noncharacters, but valid. */
static int
play_planes(int port)
{
	char say[32], nr[32];
	char utf8[4];
	unsigned plane, k, i;
	size_t n, at;
	int good = 0;

	for (plane = 1; plane <= 16; plane++)
		for (k = 0; k < 2; k++) {
			n = utf8_put(utf8, plane << 16 | (0xFFFE + k));
			at = (size_t)snprintf(say, sizeof(say), "81:");
			for (i = 0; i < n; i++)
				at += (size_t)snprintf(say + at, sizeof(say) -
				    at, "%%%02x", (unsigned char)utf8[i]);
			snprintf(nr, sizeof(nr), "6.22.%u", plane * 2 + k + 1);
			good += play_row(port, &(struct wscase){ nr, 0, say,
			    say });
		}
	return good;
}

static bool
is_wanted(const char *nr, char **prefixes)
{
	if (*prefixes == NULL)
		return true;
	for (; *prefixes != NULL; prefixes++)
		if (strncmp(nr, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

int
main(int argc, char **argv)
{
	size_t i, max = SIZE_MAX;
	int good = 0, all = 0, port;

	signal(SIGPIPE, SIG_IGN);
	if (argc > 2 && strcmp(argv[1], "-m") == 0) {
		max = strtoul(argv[2], NULL, 10);
		argv += 2;
		argc -= 2;
	}
	if (argc < 2) {
		fprintf(stderr, "usage: ws_cases [-m BYTES] PORT "
		    "[PREFIX ...]\n");
		return 2;
	}
	port = atoi(argv[1]);
	argv += 2;
	for (i = 0; i < COUNTOF(cases); i++)
		if (is_wanted(cases[i].nr, argv)) {
			all++;
			good += play_row(port, &cases[i]);
		}
	if (is_wanted("6.22.3", argv)) {
		all += 32;
		good += play_planes(port);
	}
	for (i = 0; i < COUNTOF(bulks); i++)
		if (is_wanted(bulks[i].nr, argv) &&
		    bulks[i].bytes * bulks[i].times <= max) {
			all++;
			good += play_bulk(port, &bulks[i]);
		}
	printf("%d of %d\n", good, all);
	return good != all;
}
