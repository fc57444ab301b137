# expr.py N [SEED]: prints N random expressions and their results in this Python,
# one JSON object per line: expr, names, want ("T", "F", "R text of the
# exception"), and whole, an expression that is true if the repr is the same.
import json
import random
import re
import sys

R = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
TEXTS = [
    '', 'a', 'Hello World', 'The file was deployed.\nAll 3 tests passed\n', 'x' * 40,
    'ERROR: code 42\r\nline two\n\nline four', '  padded\t text \n', "it's \"quoted\" \\ here",
    '自然语言 处理 test', 'Straße GROSS ẞ', 'ΑΣ ΣΑΣ ΟΔΥΣΣΕΥΣ. Σ', 'İstanbul ıŞIK', 'naïve café ÉCOLE',
    'Привет Мир 123', '🎉 done ✓ – “ok”…', 'a\u00a0b\u2003c\u3000d', 'l1\x0bl2\x0cl3\x1cl4\u2028l5\u0085l6',
    'ǅ ǆ Ǆ ﬁ ŉ ᾳ ΐ', '٣٤ ² ½ Ⅷ ⓐ', 'e\u0301 \u200b z', '1,2,3;4', '{"k": [1, 2]}', 'null\x00byte',
    '-12.5e3', ' 42 ', '0x1f', 'A_b-C d', 'foo(bar) [baz]', '\U0001fae0 new \u2c2f', 'kK\u212a sſ', 'abcabcabc', 'aXbXc',
    '# Title\n\n- item one\n- item two\n', 'µ ᲀ ꭰ Ꭰ', 'tab\tsep\tcols', 'CamelCase snake_case', '100%', 'a\n', '\n', ' ']
WORDS = ['a', 'b', '', 'test', 'ERROR', 'l', 'X', ' ', '\n', 'é', 'É', 'σ', 'ß', 'ss', '语言', 'ab', 'abc', '.', ',', 'o', '3',
         'passed', 'Hello', 'x' * 5, 'i', 'İ', '🎉', '-', '\\', "'", '"', 'file', 'deploy', 'line', 'K']
PATTERNS = [r'\d+', r'\w+', r'\s', r'[A-Z]\w*', r'^\w', r'\w$', r'\.$', r'(?i)error', r'(\w+) (\w+)', r'a|b|ab', r'\bline\b',
            r'[^a-z ]+', r'(?P<x>\d)(?P<y>\d)?', r'.', r'.*', r'.+?', r'x{2,4}', r'x{3}', r'x{,2}y?', r'(a)(b)?(c)', r'\S+',
            r'[\s\S]', r'[\w.-]+', r'(?:ab|abc)+', r'$', r'^', r'\Z', r'^$', r'(?m)^- (.*)$', r'(?s).+', r'\W', r'\D\d', r'[语言]',
            r'[一-龥]+', r'é', r'(?i)É', r'\u00e9', r'\x41', r'l.n', r'a{', r'{a}', r'a{,', r'x*', r'(x|y)*', r'(x)*', r'(?=a)a',
            r'(a)\1', r'\B', r'[]a]', r'[^]a]', r'[a\-z]', r'[\d,]+', r'[.]', r'a\b', r'\bto?', r'\(.*?\)', r'\[', r'\t', r'[\t ]+',
            r'^#\s', r'(\d+),(\d+)', r'items?|lines?', r'(?i:hello) world', r'(a|b)c?$', r'\n$', r'e\b', r'a$|b$', r'(?:a$)', r'k', r's+',
            r'[k-s]', r'(?i)k', r'(?i)[^a-k]', r'\w\W\w', r'\AHe', r'[+-]?\d+', r'(', r')', r'*', r'a**', r'[z-a]', r'\q', r'(?P<n>a)(?P<n>b)',
            r'((a)|b)+', r'(a|ab)(c|bcd)(d*)', r'(?:(\w)|(\s))', r'[a-c]{2}', r'(?u)x', r'(?i)É|ñ', r'(?i)[éσ]+', r'(?i)ς', r'(?i)привет', r'(?i)[^é]', r'(?i)µ', r'(?i)ß', r'(?i)[а-я]+', r'', r'a|', r'(|a)b', r'\\', r"it's", r'"[^"]*"']
KEYS = ['status', 'type', 'name', 'k', 'missing', 'n']


def lit(s):
    kind = R.random()
    if kind < .7:
        return repr(s)
    if kind < .8 and '\\' not in s and '\n' not in s and '"' not in s and not set(s) & set('\r\x0b\x0c\x00\x1c\x85\u2028'):
        return R.choice(['r', 'u', 'R', 'rf' if '{' not in s and '}' not in s else '', 'f' if '{' not in s and '}' not in s else '']) + '"' + s + '"'
    if kind < .9:
        return ascii(s)
    h = len(s) // 2
    return '(' + repr(s[:h]) + ' ' + repr(s[h:]) + ')'


class Gen:
    def __init__(self):
        self.locals = []
        self.n = 0

    def text(self, d):
        r = R.random()
        if d <= 0 or r < .25:
            return R.choice(['output', 'output', 's', 't', lit(R.choice(WORDS)), lit(R.choice(WORDS)), lit(R.choice(TEXTS))] +
                            [v for v, k in self.locals if k == 'text'] * 2)
        d -= 1
        T = lambda: self.text(d)
        I = lambda: self.int(0)
        return R.choice([
            lambda: T() + '.' + R.choice('lower upper strip title capitalize casefold lstrip rstrip'.split()) + '()',
            lambda: T() + '.' + R.choice(['strip', 'lstrip', 'rstrip']) + '(' + R.choice([T(), 'None']) + ')',
            lambda: T() + '.replace(' + T() + ', ' + T() + R.choice(['', '', ', ' + I()]) + ')',
            lambda: T() + '[' + R.choice(['', I()]) + ':' + R.choice(['', I()]) + ']',
            lambda: T() + '[' + I() + ']',
            lambda: T() + ' + ' + T(),
            lambda: '(' + T() + ' * ' + R.choice(['2', '3', '0', '-1', 'True']) + ')',
            lambda: T() + '.join(' + self.texts(d) + ')',
            lambda: 'str(' + self.any(d) + ')',
            lambda: self.texts(d) + '[' + I() + ']',
            lambda: '(' + T() + ' if ' + self.bool(d) + ' else ' + T() + ')',
            lambda: self.declined(d) if R.random() < .2 else T() + '.lower()',
            lambda: 're.sub(' + self.pattern() + ', ' + T() + ', ' + T() + ')',
            lambda: 're.' + R.choice(['search', 'match']) + '(' + self.pattern() + ', ' + T() + ').' +
            R.choice(['group()', 'group(0)', 'group(1)', 'group(2)', 'group("x")']),
            lambda: self.dict(d) + '.get(' + repr(R.choice(KEYS)) + R.choice(['', ', ' + T()]) + ')',
            lambda: self.dict(d) + '[' + repr(R.choice(KEYS)) + ']',
        ])()

    def regex(self, d):
        r = R.random()
        if d <= 0 or r < .35:
            return R.choice(['a', 'b', 'c', 'x', 'l', 'e', ' ', '.', r'\w', r'\d', r'\s', r'\S', r'\W', '[ab]', '[^a]', '[a-z]', '[A-Z0-9]', 'é', '语', r'\.', r'\n',
                             'i', 'E', '^', '$', r'\b', r'[\w-]', '', 'σ', ','])
        if r < .55:
            return self.regex(d - 1) + self.regex(d - 1)
        if r < .75:
            return '(' + R.choice(['?:', '?:', '', '', '?P<x>', '?i:']) + self.regex(d - 1) + R.choice(['', '', '|' + self.regex(d - 1)]) + ')'
        if r < .95:
            return self.regex(d - 1) + R.choice(['*', '+', '?', '{2}', '{1,2}', '{,2}', '{2,}', '*?', '+?', '??', '{1,3}?'])
        return self.regex(d - 1) + '|' + self.regex(d - 1)

    def pattern(self):
        p = R.choice(PATTERNS) if R.random() < .6 else R.choice(['', '', '(?i)', '(?m)', '(?s)', '(?im)']) + self.regex(R.randrange(1, 5))
        if R.random() < .15:
            p += R.choice(PATTERNS)
        return ('r' + repr(p).replace('\\\\', '\\') if '\\' in p and "'" not in p and '"' not in p else repr(p))

    def fstring(self, d):
        inner = self.any(d)
        q = R.choice(['"', "'"])
        if '\\' in inner or q in inner or '{' in inner or '#' in inner or 'f"' in inner or "f'" in inner or '\n' in inner or '"' in inner and "'" in inner:
            inner = R.choice(['x', 'y', 'output', 'l'])
        return 'f' + q + R.choice(['', 'a', '{{']) + '{' + inner + R.choice(['', '', '!r', '!s', ':>8', ':.2f', ':05d', ':,', ':<6s', ':d', ':^9', ':x', ':+d', ':.1%', ':,.2f', ':*^7']) + '}' + R.choice(['', ' z']) + q

    def declined(self, d):
        """Python that expr declines, or evaluates only in simple cases."""
        T = lambda: self.text(d)
        I = lambda: self.int(0)
        return R.choice([
            lambda: T() + '.' + R.choice(['center', 'ljust', 'rjust']) + '(' + R.choice(['3', '10', '11', I()]) + R.choice(['', ', "*"', ', "é"', ', "ab"']) + ')',
            lambda: T() + '.' + R.choice(['zfill', 'removeprefix', 'rsplit', 'partition', 'rfind', 'rindex']) + '(' + R.choice([T, I])() + ')',
            lambda: T() + '.' + R.choice(['swapcase', 'istitle', 'isnumeric', 'isdecimal', 'isprintable', 'isascii', 'copy']) + '()',
            lambda: T() + '.' + R.choice(['find', 'index', 'count', 'startswith']) + '(' + T() + ', ' + I() + R.choice(['', ', ' + I()]) + ')',
            lambda: T() + '.split(' + R.choice(['maxsplit=1', 'sep=' + T()]) + ')',
            lambda: T() + '.splitlines(' + R.choice(['True', 'keepends=True']) + ')',
            lambda: T() + '[' + R.choice(['', I()]) + ':' + R.choice(['', I()]) + ':' + R.choice(['', I()]) + ']',
            lambda: self.fstring(d),
            lambda: R.choice([repr('%s-%s'), repr('%d'), repr('%s'), T()]) + ' % ' + R.choice([self.any(d), '(' + self.any(d) + ', ' + self.any(d) + ')']),
            lambda: repr(R.choice(['{}', '{0}-{1}', '{:>5}', '{x}', '{{}}'])) + '.format(' + self.any(d) + R.choice(['', ', ' + self.any(d), ', x=1']) + ')',
            lambda: 're.escape(' + T() + ')',
            lambda: 're.search(' + self.pattern() + ', ' + T() + ').' + R.choice(['start()', 'end()', 'end(1)', 'span()', 'group(0, 1)']),
            lambda: '(' + R.choice(['1_0', '0x1F', '0b11', '0o17', I()]) + ' ' + R.choice('& | ^ << >> **'.split()) + ' ' + R.choice(['2', '0', '3']) + ')',
            lambda: '~' + I(),
            lambda: self.dict(d) + ' | ' + self.dict(d),
            lambda: self.set(d) + R.choice([' & ', ' | ', ' - ', ' ^ ']) + self.set(d),
            lambda: 'dict(' + self.any(d) + ')',
            lambda: '[a for (a, b), c in [((1, 2), 3)]]',
        ])()

    def texts(self, d):
        T = lambda: self.text(d - 1)
        if d <= 0:
            return R.choice(['l', '["a", "b"]', 'output.split()', 'output.splitlines()'])
        return R.choice([
            lambda: T() + '.split(' + R.choice(['', '', T(), 'None', T() + ', ' + self.int(0), 'None, 1']) + ')',
            lambda: T() + '.splitlines()',
            lambda: '[' + ', '.join(T() for _ in range(R.randrange(4))) + ']',
            lambda: '(' + ', '.join(T() for _ in range(2)) + ')',
            lambda: 'list(' + T() + ')',
            lambda: 're.' + R.choice(['findall', 'split']) + '(' + self.pattern() + ', ' + T() + ')',
            lambda: 're.findall(' + self.pattern() + ', ' + T() + ', ' + R.choice(['re.I', 're.M', 're.S', 'flags=re.I | re.M']) + ')',
            lambda: self.comp(d, '[', ']'),
            lambda: self.dict(d) + '.' + R.choice(['keys()', 'values()', 'items()']),
            lambda: 'l', lambda: 'l' + '[' + self.int(0) + ':]', lambda: 'l + ' + self.texts(d - 1),
        ])()

    def comp(self, d, a, b):
        self.n += 1
        v = R.choice(['w', 'c', 'line', 'x'])
        src = self.texts(d - 1) if R.random() < .8 else self.text(d - 1)
        self.locals.append((v, 'text'))
        cond = R.choice(['', '', ' if ' + self.bool(d - 1), ' if ' + v])
        if R.random() < .2:
            cond += ' for u in ' + self.texts(d - 2)
            self.locals.append(('u', 'text'))
            e = R.choice([self.text, self.any])(d - 1)
            self.locals.pop()
        else:
            e = R.choice([self.text, self.text, self.bool, self.any])(d - 1)
        self.locals.pop()
        return a + e + ' for ' + v + ' in ' + src + cond + b

    def dict(self, d):
        if d <= 0 or R.random() < .6:
            return R.choice(['outcome', 'd', 'tool_calls[0]', 'd', '{}'])
        return R.choice([
            lambda: '{' + ', '.join(repr(R.choice(KEYS)) + ': ' + self.any(d - 1) for _ in range(R.randrange(4))) + '}',
            lambda: 'dict(' + self.dict(d - 1) + ')', lambda: '{w: len(w) for w in ' + self.texts(d - 1) + '}',
            lambda: 'dict(k=' + self.any(d - 1) + ')', lambda: '{' + self.any(d - 1) + ': 1}'])()

    def int(self, d):
        if d <= 0:
            return R.choice(['0', '1', '-1', '2', '3', '-2', '10', 'x', 'duration_ms', 'len(output)', '100', '7', 'None' if R.random() < .1 else '5', '9223372036854775807' if R.random() < .1 else '4'])
        d -= 1
        I = lambda: self.int(d)
        return R.choice([
            lambda: 'len(' + R.choice([self.text, self.texts, self.dict, self.any])(d) + ')',
            lambda: '(' + I() + ' ' + R.choice('+ - * // % + - *'.split()) + ' ' + I() + ')',
            lambda: R.choice('-+') + I(),
            lambda: 'int(' + R.choice([self.text, self.num])(d) + ')',
            lambda: self.text(d) + '.' + R.choice(['find', 'index', 'count']) + '(' + self.text(d) + ')',
            lambda: self.texts(d) + '.' + R.choice(['count', 'index']) + '(' + self.text(d) + ')',
        ])()

    def num(self, d):
        if d <= 0:
            return R.choice([self.int(0), 'y', '1.5', '-0.0', '1e16', '1e-5', '.5', '3.', '1e300', '0.1', '123456.789', '2.0', '5e-324', '1e22', '-2.5', '1e15', '0.0001'])
        d -= 1
        N = lambda: self.num(d)
        return R.choice([lambda: '(' + N() + ' ' + R.choice('+ - * /'.split()) + ' ' + N() + ')', lambda: '-' + N(),
                         lambda: 'float(' + R.choice([self.text, self.num])(d) + ')', lambda: self.int(d), N])()

    def bool(self, d):
        if d <= 0:
            return R.choice(['True', 'False', 'b', '"a" in output', 'x > 3', 'output', 'l', 'None'])
        d -= 1
        B = lambda: self.bool(d)
        return R.choice([
            lambda: self.text(d) + R.choice([' in ', ' not in ']) + self.text(d),
            lambda: self.text(d) + R.choice([' in ', ' not in ']) + self.text(d),
            lambda: self.any(d) + R.choice([' in ', ' not in ']) + R.choice([self.texts, self.dict, self.any, self.set])(d),
            lambda: self.text(d) + '.' + R.choice(['startswith', 'endswith']) + '(' + R.choice([self.text(d), '(' + self.text(d) + ', ' + self.text(d) + ')']) + ')',
            lambda: '(' + B() + R.choice([' and ', ' or ']) + B() + ')',
            lambda: B() + R.choice([' and ', ' or ']) + B() + R.choice([' and ', ' or ']) + B(),
            lambda: 'not ' + B(),
            lambda: '(' + self.num(d) + R.choice([' < ', ' <= ', ' == ', ' != ', ' > ', ' >= ']) + self.num(d) + ')',
            lambda: self.num(d) + R.choice([' < ', ' <= ']) + self.num(d) + R.choice([' < ', ' == ', ' > ']) + self.num(d),
            lambda: '(' + self.any(d) + R.choice([' == ', ' != ', ' < ', ' >= ']) + self.any(d) + ')',
            lambda: '(' + self.text(d) + R.choice([' == ', ' < ', ' >= ']) + self.text(d) + ')',
            lambda: R.choice(['any', 'all']) + self.comp(d, '(', ')'),
            lambda: R.choice(['any', 'all']) + '([' + B() + ', ' + B() + '])',
            lambda: 're.' + R.choice(['search', 'search', 'match', 'fullmatch']) + '(' + self.pattern() + ', ' + self.text(d) +
            R.choice(['', '', ', re.IGNORECASE', ', re.I | re.S', ', re.M', ', flags=re.DOTALL']) + ')' + R.choice(['', ' is not None', ' is None']),
            lambda: self.text(d) + '.' + R.choice('isalpha isdigit isalnum isspace islower isupper'.split()) + '()',
            lambda: self.any(d) + R.choice([' is None', ' is not None', ' is True']),
            lambda: 'bool(' + self.any(d) + ')',
            lambda: self.set(d) + R.choice([' <= ', ' == ', ' < ', ' > ']) + self.set(d),
        ])()

    def set(self, d):
        return R.choice([lambda: '{' + ', '.join(self.any(d - 1) for _ in range(R.randrange(1, 4))) + '}',
                         lambda: self.comp(d, '{', '}')])()

    def any(self, d):
        if d <= 0:
            return R.choice(['output', 'x', 'y', 'n', 'b', 'l', 'd', 'outcome', 'errors', 'transcript', '1', '"a"', '[]', '()', '{}', 'None', 'True', '(1, 2)', '[1, "a"]', '2.5', 'nope', 'len', 's'])
        return R.choice([self.text, self.text, self.texts, self.int, self.num, self.bool, self.dict, self.set,
                         lambda k: self.any(0) + ' ' + R.choice('+ - * /'.split()) + ' ' + self.any(0),
                         lambda k: self.any(0) + '[' + R.choice([self.int(0), repr(R.choice(KEYS)), ':2']) + ']',
                         lambda k: self.any(0) + '.' + R.choice(['lower()', 'get("k")', 'foo', 'append(1)', 'keys()', 'count("a")', 'items()', 'group(1)', 'real']),
                         lambda k: self.any(0) + R.choice(['()', '(1)']),
                         lambda k: '[k for k, v in ' + R.choice(['d.items()', self.any(k - 1), '[(1, 2)]']) + ']',
                         lambda k: '-' + self.any(0), lambda k: R.choice(['len', 'list', 'int', 'float', 'str', 'any', 'all', 'dict', 'bool', 'sum', 'sorted']) + '(' + self.any(k - 1) + ')',
                         ])(d - 1)


def mutate(e):
    i = R.randrange(len(e) + 1)
    k = R.random()
    if k < .4:
        return e[:i] + e[i + 1:]
    if k < .8:
        return e[:i] + R.choice(list('()[]{}\'"\\,.:+-*/%<>=! \t\n01ax_#é') + [' not ', ' if ', ' else ', ' for x in ', ' in ', 'f"', 'r\'', '"""', ' is ', 'lambda ', ':=', '**']) + e[i:]
    j = R.randrange(len(e) + 1)
    return e[:min(i, j)] + e[max(i, j):]


def names():
    o = R.choice(TEXTS)
    if R.random() < .3:
        o += R.choice(TEXTS)
    return {'output': o, 'outcome': {'status': 'completed', 'n': R.choice([1, 2.5, None])}, 'transcript': [{'type': 'assistant.message', 'content': o}],
            'tool_calls': [{'name': 'bash', 'arguments': {'command': 'ls -la'}}], 'errors': [], 'duration_ms': 1234,
            'x': R.choice([0, 1, 5, -3, 12, 9007199254740993]), 'y': R.choice([0.0, 1.5, -2.25, 1e100, 3.0]), 's': R.choice(TEXTS), 't': R.choice(WORDS),
            'l': R.choice([[], ['a', 'b', 'c'], ['x', 'Y', 'é'], ['1', '22']]), 'd': R.choice([{}, {'k': 'v', 'n': 3}, {'type': None, 'name': ['q']}]),
            'n': None, 'b': R.choice([True, False])}


def run(expr, ns):
    g = {'len': len, 'any': any, 'all': all, 'str': str, 'int': int, 'float': float, 'bool': bool, 'list': list, 'dict': dict, 're': re}
    g.update(ns)
    g['__builtins__'] = {}
    try:
        v = eval(expr, g)
        ok = bool(v)
    except SyntaxError:
        return 'S', None
    except BaseException as e:
        return 'R ' + str(e), None
    try:
        w = str([v])
    except BaseException:
        w = None
    if w is not None and (' at 0x' in w or '<' in w and 're.' in w or 'RegexFlag' in w or len(w) > 20000):
        w = None
    return 'T' if ok else 'F', w


def good(s):
    return not any(0xD800 <= ord(c) <= 0xDFFF for c in s)


def main():
    for _ in range(int(sys.argv[1])):
        g = Gen()
        e = R.choice([g.bool, g.bool, g.bool, g.text, g.texts, g.int, g.num, g.dict, g.any])(R.randrange(1, 4))
        if R.random() < .12:
            e = mutate(e)
        if not good(e) or e.count('**') + e.count('<<') + e.count('9223372036854775807') > 1:
            continue
        ns = names()
        want, w = run(e, ns)
        row = {'expr': e, 'names': ns, 'want': want}
        if w is not None and '#' not in e and '\n' not in e and good(w):
            row['whole'] = 'str([' + e + ']) == ' + ascii(w)
            if run(row['whole'], ns)[0] != 'T':
                del row['whole']
        print(json.dumps(row))


main()
