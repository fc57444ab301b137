# unicode.awk: writes re_unicode.c from the Unicode Character Database.
#
#	awk -f util/unicode.awk UnicodeData.txt Scripts.txt CaseFolding.txt \
#	    > re_unicode.c
#
# Categories and scripts become one list of runs each that covers all code
# points in order, packed as re_unicode.h says; folding becomes the list of
# runs of equal steps around the orbits.  POSIX awk only.

function hex(s,    i, n) {
	n = 0
	for (i = 1; i <= length(s); i++)
		n = n * 16 + index("0123456789ABCDEF", substr(s, i, 1)) - 1
	return n
}

function span(s,    i) {
	i = index(s, "..")
	lo = hex(i ? substr(s, 1, i - 1) : s)
	hi = hex(i ? substr(s, i + 2) : s)
}

function put(n) {
	line = line n ","
	bytes++
	if (length(line) > 72) {
		print "\t" line
		line = ""
	}
}

function flush() {
	if (line != "")
		print "\t" line
	line = ""
	print "};"
}

# A length below 8 rides in the top bits; else it follows, 7 bits at a time.
function run(kind, n) {
	if (packed && n < 8) {
		put(kind + 32 * n)
		return
	}
	put(kind)
	for (; n >= 128; n = int(n / 128))
		put(n % 128 + 128)
	put(n)
}

function table(name, of,    cp, n, last) {
	printf "\nconst uint8_t %s[] = {\n", name
	last = of[0] + 0
	n = 0
	for (cp = 0; cp <= 1114111; cp++) {
		if (of[cp] + 0 != last) {
			run(last, n)
			last = of[cp] + 0
			n = 0
		}
		n++
	}
	run(last, n)
	flush()
	printf "const size_t %s_size = sizeof(%s);\n", name, name
}

# next[] leads from each member of an orbit to the next larger, then around.
function orbits(    t, i, j, n, member, x) {
	for (t in sources) {
		n = split(t " " sources[t], member, " ")
		for (i = 2; i <= n; i++) {
			x = member[i] + 0
			for (j = i - 1; j > 0 && member[j] + 0 > x; j--)
				member[j + 1] = member[j]
			member[j + 1] = x
		}
		for (i = 1; i <= n; i++)
			nextof[member[i] + 0] = member[i % n + 1] + 0
	}
}

function fold_row(from, to, step) {
	printf "%s{ 0x%04X, 0x%04X, %d },%s", nrow % 3 ? " " : "\t",
	    from, to, step, nrow % 3 == 2 ? "\n" : ""
	nrow++
}

# Asks with "in" first: to read an element of an array makes it.
function is_pair(cp) {
	return cp in nextof && (cp + 1) in nextof && \
	    nextof[cp] == cp + 1 && nextof[cp + 1] == cp
}

function folds(    cp, from, step) {
	print "\nconst struct re_uni_fold re_uni_folds[] = {"
	for (cp = 0; cp <= 1114111; cp++) {
		if (!(cp in nextof))
			continue
		from = cp
		step = nextof[cp] - cp
		if (is_pair(cp)) {
			for (cp++; is_pair(cp + 1); cp += 2)
				;
			fold_row(from, cp, 0)
			continue
		}
		while ((cp + 1) in nextof && nextof[cp + 1] - cp - 1 == step)
			cp++
		fold_row(from, cp, step)
	}
	print nrow % 3 ? "\n};" : "};"
	print "const size_t re_uni_nfolds = COUNTOF(re_uni_folds);"
}

FNR == 1 { file++; FS = ";" ; $0 = $0 }
{ sub(/ *#.*/, "") }
$0 == "" { next }

file == 1 {
	if (!($3 in cat_id)) {
		cat_name[++ncat] = $3
		cat_id[$3] = ncat
	}
	hi = hex($1)
	lo = $2 ~ /Last>$/ ? first : hi
	first = hi
	for (cp = lo; cp <= hi; cp++)
		cat[cp] = cat_id[$3]
}

file == 2 {
	gsub(/ /, "")
	span($1)
	if (!($2 in script_id)) {
		script_name[++nscript] = $2
		script_id[$2] = nscript
	}
	for (cp = lo; cp <= hi; cp++)
		script[cp] = script_id[$2]
}

file == 3 {
	gsub(/ /, "")
	if ($2 == "C" || $2 == "S")
		sources[hex($3)] = sources[hex($3)] " " hex($1)
}

function names(what, list, n,    i) {
	printf "\nconst char %s[] =\n", what
	line = ""
	for (i = 1; i <= n; i++) {
		line = line list[i] " "
		if (length(line) > 52 || i == n) {
			printf "\t\"%s\"%s\n", line, i == n ? ";" : ""
			line = ""
		}
	}
}

END {
	print "/* SPDX-License-Identifier: ISC */"
	print "/*"
	print " * Made by util/unicode.awk from the Unicode Character Database 15.0.0;"
	print " * do not edit.  To remake: see the head of that script.  The data is"
	print " * (c) Unicode, Inc., under the Unicode licence (Unicode-DFS-2016)."
	print " */"
	print "#include \"re_unicode.h\"\n"
	print "#include \"base.h\""
	names("re_uni_cat_names", cat_name, ncat)
	names("re_uni_script_names", script_name, nscript)
	packed = 1
	table("re_uni_cats", cat)
	packed = 0
	table("re_uni_scripts", script)
	orbits()
	folds()
}
