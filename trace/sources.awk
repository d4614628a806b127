# Sources of profiles, from start/features.list and profiles.list:
#
#   awk -v of=NAME -v with='FEATURE...' -f sources.awk features.list profiles.list SOURCE...
#
# Prints NAME:SOURCE for each of the SOURCEs, paths trace/..., that the profile NAME has, and NAME.defaults:SOURCE for its
# defaults. Without a NAME it prints that of all, then profiles:NAME for each profile, then features:FEATURE for each feature
# that can be left out. without_FEATURE is a profile, too: `full` without that one, or
# without_FEATURE+FEATURE without several. The features of `with`, and those that
# they need, are never left out. With -v mode=list it prints features.list instead, as the profile has it; with -v mode=check the words of the
# tables that mean nothing.

BEGIN {
	for (i = 3; i < ARGC; i++)
		sources[++nr_sources] = ARGV[i]
	ARGC = 3
}

# ---- features.list: rows of several lines, up to the bracket ----

FILENAME == ARGV[1] && /^TRACE_(FEATURE|PART)\(/ {
	row = ""
	is_row = 1
}
FILENAME == ARGV[1] && is_row {
	row = row " " $0
	if (!/\)$/)
		next
	is_row = 0
	gsub(/[()]/, ",", row)
	split(row, column, ",")
	name = column[2]
	names[++nr_names] = name
	needs[name] = column[3]
	owns[name] = column[4]
}

# ---- profiles.list ----

$1 == "profile" || $1 == "defaults" {
	what = $1 " " $2
	if ($1 == "profile")
		profiles[++nr_profiles] = $2
	sub(/^[a-z]+ +[a-z]+ +/, "")
	if (match($0, / without /))
		lacks[what] = substr($0, RSTART + RLENGTH)
	sub(/ without .*/, "")
	has[what] = $0
}

# ---- Sources and features that words mean ----

# Does a word of a table mean that source: as its path, or as the beginning of its path, like `folder/` or `folder/name*`?
function means(word, source,    path) {
	path = "trace/" word
	sub(/[*]$/, "", path)
	return word ~ /[*\/]$/ ? index(source, path) == 1 : source == path
}

# Do the words mean it? The last one that does decides. In a line of profiles.list of that kind there are names of others, too.
function are_meant(words, source, kind,    list, nr, i, is_in) {
	nr = split(words, list, " ")
	for (i = 1; i <= nr; i++) {
		if (list[i] ~ /^-/)
			is_in = is_in && !means(substr(list[i], 2), source)
		else if ((kind " " list[i]) in has)
			is_in = is_in || are_meant(has[kind " " list[i]], source, kind)
		else
			is_in = is_in || means((kind == "defaults" ? "default/" : "") list[i], source)
	}
	return is_in
}

# Mark in `set` the features, and all that need one of them; or all that one of them needs.
function add_with_users(list, set,    part, nr, i, other) {
	nr = split(list, part, " ")
	for (i = 1; i <= nr; i++) {
		set[part[i]] = 1
		for (other in needs) {
			if (!(other in set) && index(" " needs[other] " ", " " part[i] " "))
				add_with_users(other, set)
		}
	}
}
function add_with_needs(list, set,    part, nr, i) {
	nr = split(list, part, " ")
	for (i = 1; i <= nr; i++) {
		set[part[i]] = 1
		if (part[i] in needs)
			add_with_needs(needs[part[i]], set)
	}
}

# The features that are out of the profile are in out[].
function find_out(profile,    kept, name) {
	split("", out)
	split("", kept)
	add_with_users(lacks["profile " profile], out)
	add_with_needs(with, kept)
	for (name in kept)
		delete out[name]
}

function is_left_out(source,    name) {
	for (name in out) {
		if (are_meant(owns[name], source))
			return 1
	}
	return 0
}

# ---- Printing ----

function complain(text) {
	print text > "/dev/stderr"
	failed = 1
	exit 1
}

function print_list(    line, is_out, name) {
	while ((getline line < ARGV[1]) > 0) {
		if (match(line, /^TRACE_(FEATURE|PART)\([a-z_]+/)) {
			name = substr(line, 1, RLENGTH)
			sub(/.*\(/, "", name)
			is_out = name in out
		}
		if (!is_out)
			print line
		if (line ~ /\)$/)
			is_out = 0
	}
}

function print_sources(profile,    i) {
	find_out(profile)
	for (i = 1; i <= nr_sources; i++) {
		if (are_meant(has["profile " profile], sources[i], "profile") && !is_left_out(sources[i]))
			print profile ":" sources[i]
		if (are_meant(has["defaults " profile], sources[i], "defaults"))
			print profile ".defaults:" sources[i]
	}
}

function check_words(table, words, kind,    list, nr, i, k) {
	nr = split(words, list, " ")
	for (i = 1; i <= nr; i++) {
		if ((kind " " list[i]) in has)
			continue
		sub(/^-/, "", list[i])
		for (k = 1; k <= nr_sources && !are_meant(list[i], sources[k], kind); k++)
			continue
		if (k > nr_sources)
			print table ": there is no " list[i]
	}
}

function check_names(table, words,    list, nr, i) {
	nr = split(words, list, " ")
	for (i = 1; i <= nr; i++) {
		if (!(list[i] in needs))
			print table ": there is no feature " list[i]
	}
}

function check(    i, what) {
	for (i = 1; i <= nr_names; i++) {
		check_words(ARGV[1], owns[names[i]])
		check_names(ARGV[1], needs[names[i]])
	}
	for (what in has) {
		check_words(ARGV[2], has[what], substr(what, 1, index(what, " ") - 1))
		check_names(ARGV[2], lacks[what])
	}
}

function print_all(    i) {
	for (i = 1; i <= nr_profiles; i++) {
		print "profiles:" profiles[i]
		print_sources(profiles[i])
	}
	for (i = 1; i <= nr_features; i++) {
		print "features:" features[i]
		print_sources("without_" features[i])
	}
}

END {
	if (failed)
		exit 1
	for (i = 1; i <= nr_names; i++) {
		if (owns[names[i]] ~ /[a-z]/)
			features[++nr_features] = names[i]
	}
	for (i = 1; i <= nr_features; i++) {
		has["profile without_" features[i]] = "full"
		lacks["profile without_" features[i]] = features[i]
	}
	nr = split(with, list, " ")
	for (i = 1; i <= nr; i++) {
		if (!(list[i] in needs))
			complain("there is no feature " list[i])
	}
	if (of ~ /^without_.*[+]/) {
		lacks["profile " of] = substr(of, 9)
		gsub(/[+]/, " ", lacks["profile " of])
		check_names(of, lacks["profile " of])
		has["profile " of] = "full"
	}
	if (of && !(("profile " of) in has))
		complain("there is no profile " of)
	if (mode == "check") {
		check()
	} else if (mode == "list") {
		find_out(of)
		print_list()
	} else if (of) {
		print_sources(of)
	} else {
		print_all()
	}
}
