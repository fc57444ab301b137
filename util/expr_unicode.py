# expr_unicode.py: writes expr_unicode.c from what Pythons do with code points.
#
#	python3 util/expr_unicode.py PYTHON3.9 ... PYTHON3.13 > expr_unicode.c
#
# Each interpreter is asked what it makes of every code point; what they do
# not agree on becomes unsure, and expr declines it.
import subprocess
import sys

PROPS = 'ALPHA DECIMAL DIGIT NUMERIC LOWER UPPER TITLE PRINT CASED IGNORED'.split()
UNSURE = 1 << len(PROPS)


def props(c):
    tests = (c.isalpha(), c.isdecimal(), c.isdigit(), c.isnumeric(), c.islower(),
             c.isupper(), c.istitle() and not c.isupper(), c.isprintable(),
             (c + 'a').title()[-1] == 'a',
             ('a' + c + '\u03a3').lower()[-1] == '\u03c2' and
             (' ' + c + '\u03a3').lower()[-1] == '\u03c3')
    return sum(bit << i for i, bit in enumerate(tests))


def dump():
    for i in range(0x110000):
        c = chr(i)
        if 0xD800 <= i <= 0xDFFF:
            print('0 x x x x')
        else:
            maps = [c.lower(), c.upper(), c.title(), c.casefold()]
            print(props(c), *('.'.join('%X' % ord(x) for x in m) for m in maps))


def read(interpreters):
    all = [subprocess.run([p, sys.argv[0]], stdout=subprocess.PIPE, check=True)
           .stdout.decode().split('\n')[:-1] for p in interpreters]
    for i, lines in enumerate(zip(*all)):
        rows = [line.split() for line in lines]
        agreed = [r if len(set(r)) == 1 else None
                  for r in ([row[k] for row in rows] for k in range(5))]
        yield i, [a[0] if a else None for a in agreed]


def steps(cps):
    """Rows lo hi step stride for [(cp, to)], in order."""
    rows = []
    for cp, to in cps:
        step = to if to is None else to - cp
        if rows:
            r = rows[-1]
            gap = cp - r[1]
            if r[2] == step and gap in (1, 2) and (r[3] == gap or r[0] == r[1]):
                r[1], r[3] = cp, gap
                continue
        rows.append([cp, cp, step, 1])
    return rows


def put_rows(name, rows):
    print('\nconst struct expr_case_row expr_case_%s[] = {' % name)
    line = ''
    for lo, hi, step, stride in rows:
        s = '{ 0x%X, 0x%X, %s, %d },' % (lo, hi, 'EXPR_CASE_UNSURE' if step is None else step, stride)
        if len(line) + len(s) > 86:
            print('\t' + line.strip())
            line = ''
        line += s + ' '
    print('\t' + line.strip())
    print('};')
    print('const size_t expr_case_n%s = COUNTOF(expr_case_%s);' % (name, name))


def utf8(text):
    cps = [int(x, 16) for x in text.split('.')]
    return ''.join('\\%03o' % b for b in ''.join(map(chr, cps)).encode())


def varint(n):
    out = []
    while n >= 128:
        out.append(n % 128 + 128)
        n //= 128
    return out + [n]


def put_props(masks):
    kinds, runs, i = [], [], 0
    while i < len(masks):
        a = masks[i]
        j = i
        while j < len(masks) and masks[j] == a:
            j += 1
        if j - i == 1 and i + 3 < len(masks):    # a pair that repeats?
            b = masks[i + 1]
            k = i
            while k + 1 < len(masks) and masks[k] == a and masks[k + 1] == b:
                k += 2
            if k - i >= 4:
                kind = (a, b)
                j = k
            else:
                kind = (a, a)
        else:
            kind = (a, a)
        if kind not in kinds:
            kinds.append(kind)
        runs.append((kinds.index(kind), j - i))
        i = j
    print('\nconst struct expr_uni_kind expr_uni_kinds[] = {')
    line = ''
    for a, b in kinds:
        s = "{ { 0x%X, 0x%X } }," % (a, b)
        if len(line) + len(s) > 84:
            print('\t' + line.strip())
            line = ''
        line += s + ' '
    print('\t' + line.strip() + '\n};')
    print('\nconst size_t expr_uni_nruns = %d;' % len(runs))
    print('const uint8_t expr_uni_runs[] = {')
    line = ''
    for kind, n in runs:
        for b in [kind] + varint(n):
            s = '%d,' % b
            if len(line) + len(s) > 90:
                print('\t' + line)
                line = ''
            line += s
    print('\t' + line + '\n};')
    assert len(kinds) < 256


def main():
    maps, special, masks = [[], [], [], []], [], []
    for cp, (mask, *to) in read(sys.argv[1:]):
        masks.append(UNSURE if mask is None else int(mask))
        if cp < 0x80 or to[0] == 'x':
            continue
        for k in range(4):
            base = to[0] if k == 3 else to[1] if k == 2 else '%X' % cp
            if to[k] is None:
                maps[k].append((cp, None))
            elif '.' in to[k]:
                special.append((k, cp, to[k]))
            elif to[k] != base:
                maps[k].append((cp, int(to[k], 16)))
    print('''/* SPDX-License-Identifier: ISC */
/*
 * Made by util/expr_unicode.py from Python %s; do not edit.
 * To remake: see the head of that script.  The data is (c) Unicode, Inc.,
 * under the Unicode licence (Unicode-DFS-2016).
 */
#include "expr_unicode.h"

#include "base.h"''' % versions(sys.argv[1:]))
    for k, name in enumerate(('lower', 'upper', 'title', 'fold')):
        put_rows(name, steps(maps[k]))
    print('\nconst struct expr_case_long expr_case_longs[] = {')
    line = ''
    for k, cp, to in sorted(special):
        s = '{ %d, 0x%X, "%s" },' % (k, cp, utf8(to))
        if len(line) + len(s) > 86:
            print('\t' + line.strip())
            line = ''
        line += s + ' '
    print('\t' + line.strip() + '\n};')
    print('const size_t expr_case_nlongs = COUNTOF(expr_case_longs);')
    put_props(masks)


def versions(interpreters):
    v = [subprocess.run([p, '-c', 'import sys; print("%d.%d" % sys.version_info[:2])'],
                        stdout=subprocess.PIPE, check=True).stdout.decode().strip()
         for p in interpreters]
    return v[0] + ' to ' + v[-1]


if len(sys.argv) == 1:
    dump()
else:
    main()
