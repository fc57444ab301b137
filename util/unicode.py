# unicode.py: rewrites the tables of lib/unicode.c.
#
#	python3.12 util/unicode.py Scripts.txt PYTHON3.9 ... PYTHON3.13
#
# The interpreter that runs the script provides categories and case mappings;
# its Unicode version has to be that of Scripts.txt, 15.0.  The others report
# which code points changed between the Unicode versions of Python 3.9 to
# 3.13; lib/py declines those.
import string
import subprocess
import sys
import unicodedata

FILE = 'lib/unicode.c'
BEGIN, END = '/* Begin of generated tables. */\n', '/* End of generated tables. */\n'
ALL = range(0x110000)


def dump():
    """One line for each code point: what has to be the same in all Pythons."""
    for cp in ALL:
        c = chr(cp)
        maps = [] if 0xD800 <= cp < 0xE000 else [c.lower(), c.upper(), c.title(), c.casefold()]
        print(unicodedata.category(c), *map(ascii, maps))


def changed(interpreters):
    dumps = [subprocess.run([p, sys.argv[0]], stdout=subprocess.PIPE, check=True)
             .stdout.decode().split('\n') for p in interpreters]
    return [cp for cp in ALL if len({d[cp] for d in dumps}) > 1]


def runs(values):
    """[first, length, value] for each run of equal values."""
    out = []
    for i, v in enumerate(values):
        if out and out[-1][2] == v:
            out[-1][1] += 1
        else:
            out.append([i, 1, v])
    return out


def joined_pairs(all):
    """Runs, with neighbours Lu, Ll, Lu, Ll joined to one run of pairs."""
    out = []
    for first, n, v in all:
        if v == 'Ll' and n == 1 and out and out[-1][1:] == [1, 'Lu']:
            out.pop()
            if out and out[-1][2] == 'pairs':
                out[-1][1] += 2
            else:
                out.append([first - 1, 2, 'pairs'])
        else:
            out.append([first, n, v])
    return out


def put_rows(head, rows):
    lines, line = [], ''
    for r in rows:
        if len(line) + len(r) > 92:
            lines.append(line.rstrip())
            line = ''
        line += r + ' '
    return '%s\n\t%s\n};\n' % (head, '\n\t'.join(lines + [line.rstrip()]))


def put_runs(name, all, code):
    lines, text, first = [], '', 0
    for lo, n, v in all:
        r = code[v] + (str(n) if n > 1 else '')
        if len(text) + len(r) > 74:
            lines.append('\t{ 0x%05X, "%s" },' % (first, text))
            text, first = '', lo
        text += r
    lines.append('\t{ 0x%05X, "%s" },' % (first, text))
    return 'static const struct runs %s[] = {\n%s\n};\n' % (name, '\n'.join(lines))


def put_names(name, names):
    rows, line = [], ''
    for n in names:
        if len(line) + len(n) > 84:
            rows.append('\t"%s"' % line)
            line = ''
        line += n + ' '
    return 'static const char %s[] =\n%s\n\t"%s";\n' % (name, '\n'.join(rows), line) if rows \
        else 'static const char %s[] =\n\t"%s";\n' % (name, line)


def categories():
    cats = [unicodedata.category(chr(cp)) for cp in ALL]
    names = sorted(set(cats), key=lambda n: (n != 'Cn', cats.index(n)))
    code = dict(zip(names, string.ascii_letters), pairs='=')
    return put_names('category_names', names) + '\n' + \
        put_runs('categories', joined_pairs(runs(cats)), code)


def scripts(path):
    of, names = ['-'] * 0x110000, []
    for line in open(path):
        f = line.split('#')[0].replace(' ', '').strip().split(';')
        if len(f) < 2:
            continue
        if f[1] not in names:
            names.append(f[1])
        lo, hi = (f[0].split('..') * 2)[:2]
        for cp in range(int(lo, 16), int(hi, 16) + 1):
            of[cp] = f[1]
    code = {n: chr(65 + i // 26) + chr(97 + i % 26) for i, n in enumerate(names)}
    return put_names('script_names', names) + '\n' + put_runs('scripts', runs(of), dict(code, **{'-': '-'}))


def simple(text, cp):
    return ord(text) if len(text) == 1 else cp


def case_maps():
    lower, upper = list(ALL), list(ALL)
    for cp in ALL:
        if cp >= 0x80 and not 0xD800 <= cp < 0xE000:
            lower[cp], upper[cp] = simple(chr(cp).lower(), cp), simple(chr(cp).upper(), cp)
    lower[0x130] = ord('i')
    for cp in ALL:       # letters whose full upper case is longer
        if lower[cp] != cp and upper[lower[cp]] == lower[cp] and lower[cp] >= 0x80 and cp != 0x1E9E:
            upper[lower[cp]] = cp
    return lower, upper


def case_rows(lower, upper):
    rows, cp = [], 0        # lo, hi, step to lower case, step to upper case
    while cp < len(ALL):
        step = (lower[cp] - cp, upper[cp] - cp)
        n = 1
        if step == (1, 0) and upper[cp + 1] == cp and lower[cp + 1] == cp + 1:
            step, n = ('P', 0), 2
        if step == (0, 0) and cp != 0xDF:       # which is lower case to U+1E9E only
            pass
        elif rows and rows[-1][1] == cp - 1 and rows[-1][2] == step:
            rows[-1][1] = cp + n - 1
        else:
            rows.append([cp, cp + n - 1, step])
        cp += n
    return put_rows('static const struct case_row case_rows[] = {',
                    ['{0x%X,%d,%s,%d},' % (lo, hi - lo + 1, *step) for lo, hi, step in rows])


def orbits(lower, upper):
    """Cyclic steps through letters that match each other, where the case maps do not lead around."""
    def ascii_or(maps, cp, change):
        return ord(change(chr(cp))) if cp < 0x80 else maps[cp]

    members = {}
    for cp in ALL:
        key = ascii_or(lower, ascii_or(upper, cp, str.upper), str.lower)
        members.setdefault(cp if cp in (0x130, 0x131) else key, []).append(cp)
    rows = []
    for m in members.values():
        steps = list(zip(m, m[1:] + m[:1]))
        if any(b != (ascii_or(lower, a, str.lower) if ascii_or(lower, a, str.lower) != a else
                     ascii_or(upper, a, str.upper)) for a, b in steps):
            rows += steps
    return put_rows('static const struct orbit orbits[] = {', ['{0x%X,0x%X},' % r for r in sorted(rows)])


def main():
    lower, upper = case_maps()
    new = set(changed(sys.argv[2:]))
    tables = [
        '/*\n * Written by util/unicode.py from the Unicode Character Database %s,\n'
        ' * (c) Unicode, Inc., under the Unicode licence (Unicode-DFS-2016).\n */\n' % unicodedata.unidata_version,
        categories(), scripts(sys.argv[1]), case_rows(lower, upper), orbits(lower, upper),
        put_rows('static const struct range changed[] = {', ['{0x%X,0x%X},' % (lo, lo + n - 1)
                 for lo, n, v in runs([cp in new for cp in ALL]) if v])]
    text = open(FILE).read()
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    open(FILE, 'w').write(head + BEGIN + '\n'.join(tables) + END + tail)


if len(sys.argv) == 1:
    dump()
else:
    main()
