# One line for each struct of a pahole-like listing: its members with offset and size (bit-fields
# also their bit), its size, holes and padding. What is only looks (types, columns, advice) is left
# out, and so are holes and padding around bit-fields, which pahole counts in storage units.
function member(line,    name) {
	name = line
	sub(/;.*/, "", name)
	gsub(/ *__attribute__\(\([a-z_]*(\([0-9]*\))?\)\)/, "", name)
	if (match(name, /\(\*+[A-Za-z_0-9]*/)) {
		name = substr(name, RSTART, RLENGTH)
		sub(/^\(\*+/, "", name)
	} else {
		sub(/ *:[0-9]+$/, "", name)
		while (sub(/\[[0-9]*\]$/, "", name))
			;
		sub(/^.*[ \t*}]/, "", name)
	}
	return name
}
/^(struct|union) [A-Za-z_0-9]+ \{$/ {
	text = $1 " " $2 ":"
	next
}
/^\}/ {
	if (text != "")
		print text (bits ? "" : rest)
	text = rest = ""
	bits = 0
	next
}
text == "" { next }
/^\t+(struct|union|enum).* \{$/ {
	before[++depth] = text
	next
}
# pahole shows the types of clang's unnamed members once more; they have no place.
/^\t+\};?$/ {
	text = before[depth--]
	next
}
/^\t+\}/ { depth-- }
match($0, /\/\* +[0-9]+(: *[0-9]+)? +[0-9]+ \*\/$/) {
	place = substr($0, RSTART + 2, RLENGTH - 4)
	gsub(/: +/, ":", place)
	gsub(/^ +| +$/, "", place)
	gsub(/ +/, ",", place)
	text = text " " member($0) "@" place
	bits += place ~ /:/
	next
}
/^\t\/\* size: / {
	text = text " |" $2 $3
}
/^\t\/\* padding: / {
	rest = rest " |" $2 $3
}
/^\t\/\* (sum members|holes): / {
	if (match($0, /holes: [0-9]+, sum holes: [0-9]+/))
		rest = rest " |" substr($0, RSTART, RLENGTH)
}
