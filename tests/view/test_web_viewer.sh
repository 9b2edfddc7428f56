#!/bin/bash
# view/test_web_viewer.sh - the page of `export --format html` as a student uses it, in a browser.
#
# Proves that scrubbing, stepping, playing, every key of its list and every button do what they
# say; that the page shows the moment it was made for; that a lab's answers wait to be asked for;
# that it asks nobody for anything and could not; and that nothing goes wrong on its console.
# Steps are strings.
# shellcheck disable=SC2016,SC2034
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/view/webdriver.sh
. "$(dirname "$0")/webdriver.sh"

missing=$(web_missing)
[ -z "$missing" ] || skip_all "no ${missing//$'\n'/, no } here"
trap web_stop EXIT

ops='read 4k 100; pread 4m 64k; pwrite 1m 64k'
where='return String(window.foliolab.scene.pos)'

# at EVENT: the page stands there.
at()
{
	local is

	is=$(web_js "$where")
	[ "$is" = "$1" ] && return
	printf 'the page stands at %s, expected %s\n' "$is" "$1" >&4
	return 1
}

# The number, from 1 on, of the N-th event of a kind; header and lines of the CSV are as many.
nth()
{
	awk -F, -v kind="$1" -v n="$2" '$0 ~ kind && ++seen == n { print NR - 1 }' events.csv
}

# Everything the page drew, as one number.
look='let h = 0;
for (const c of document.querySelectorAll("canvas"))
	for (const x of c.toDataURL()) h = (h * 31 + x.charCodeAt(0)) | 0;
return h + " " + ["orders", "latency", "sentence", "rule", "where", "events", "windowtext"].map(
	(id) => document.getElementById(id).textContent).join(" ").replace(/["\\\n]/g, " ");'

test_expect_success 'a page opens at its beginning, or where --at says' '
	"$FOLIOLAB" run -e "$ops" --disk nvme --kernel v6.12 --trace t.flt >/dev/null
	"$FOLIOLAB" export t.flt --format html -o page.html
	"$FOLIOLAB" export t.flt --format html --at 123 -o at.html
	"$FOLIOLAB" export t.flt --format csv -o events.csv
	web_start
	web_open at.html
	at 123
	web_log browser >/dev/null
	web_log performance >/dev/null
	web_open page.html
	at 0
	web_js "return document.getElementById(\"facts\").textContent" >facts
	test_grep "kernel v6.12 .* ra 32 pages" facts
	web_js "return window.foliolab.events.length + 1 + \"\"" >lines
	test_line_count "$(cat lines)" events.csv
'

test_expect_success 'keys step, and back is the same picture' '
	web_js "$look" >first
	web_keys . . .
	at 3
	web_js "$look" >third
	web_keys .
	at 4
	web_keys ,
	at 3
	web_js "$look" >again
	test_cmp third again
	web_keys \\ue014 \\ue012 , , , ,
	at 0
	web_js "$look" >again
	test_cmp first again
'

test_expect_success 'keys go to calls and windows, forth and back' '
	web_keys \\ue011 o o
	at "$(nth ",fl_read," 2)"
	web_keys O
	at "$(nth ",fl_read," 1)"
	web_keys \\ue011 w w w
	at "$(nth ",fl_window," 3)"
	web_keys W
	at "$(nth ",fl_window," 2)"
	web_keys \\ue010
	at "$(($(wc -l <events.csv) - 1))"
	web_keys \\ue011
	at 0
'

test_expect_success 'the buttons do what the keys do' '
	web_click last
	at "$(($(wc -l <events.csv) - 1))"
	web_click first
	at 0
	web_click step
	web_click step
	at 2
	web_click back
	at 1
	web_click call
	at "$(nth ",fl_read," 1)"
	web_click first
	web_click next
	at "$(nth ",fl_window," 1)"
	web_click faster
	web_js "return document.getElementById(\"speed\").textContent" >speed
	test "$(cat speed)" = 30/s
	web_click slower
	web_js "$look" >dark
	web_click theme
	web_js "$look" >light
	! cmp -s dark light
	web_keys T
	web_js "$look" >again
	test_cmp dark again
'

test_expect_success 'the scrub bar goes there, the event list too' '
	web_click scrub 50
	now=$(web_js "$where")
	half=$((($(wc -l <events.csv) - 1) / 2))
	test "$now" -gt $((half - 10))
	test "$now" -lt $((half + 10))
	web_js "document.querySelector(\"#events li:nth-child(1)\").id = \"line\"; return \"\""
	web_click line 10
	at $((now - 5 + 1))
'

test_expect_success 'playing goes on by itself until the end' '
	web_keys \\ue011 + + + + + " "
	for ((i = 0; i < 300; i++)); do
		[ "$(web_js "$where")" = "$(($(wc -l <events.csv) - 1))" ] && break
		sleep 0.1
	done
	at "$(($(wc -l <events.csv) - 1))"
	web_js "return String(window.foliolab.playing)" >playing
	test "$(cat playing)" = false
'

test_expect_success 'the events in the page are those of the CSV, in its order' '
	web_js "const v = window.foliolab;
		return v.events.map((e) => words(v.head, e.line).split(\":\")[0]).join(\"\\n\")" >have
	awk -F, "NR == 1 { for (i = 1; i <= NF; i++) if (\$i == \"event\") c = i; next }
		 { print \$c }" events.csv >want
	test_cmp want have
'

test_expect_success 'the page asks for nothing, and nothing goes wrong' '
	web_log performance >requests
	grep -o "requestWillBeSent.*" requests | grep -o "\\\\\"url\\\\\":\\\\\"[^\\\\]*" |
		sort -u >urls || :
	test_no_grep "http|ws:|wss:|ftp:" urls
	test_grep "file:.*/page.html" urls
	test_line_count 1 urls
	web_log browser >console
	test "$(cat console)" = "{\"value\":[]}"
'

test_expect_success 'a lab on the page: its answers are hidden until they are asked for, and right' '
	FOLIOLAB_LABS=$FL_ROOT/labs "$FOLIOLAB" export t.flt --format html --lab 02 --student ada -o lab.html
	size=$(wc -c <lab.html)
	test "$size" -lt 1000000
	web_open lab.html
	web_log browser >/dev/null
	web_js "return document.querySelectorAll(\"#lab .answer\").length + \"\"" >shown
	test "$(cat shown)" = 0
	web_js "return document.querySelector(\"#lab .reveal\").previousElementSibling.textContent" >question
	web_js "document.querySelector(\"#lab .reveal\").click();
		return document.querySelector(\"#lab .answer\").textContent" >answer
	# get_init_ra_size(): the next power of two, four times that up to a 32nd of the most,
	# twice up to a quarter.
	grep -oE "[0-9]+" question | awk "NR == 1 { max = \$1 } NR == 2 {
		n = 1
		while (n < \$1) n *= 2
		print n <= max / 32 ? 4 * n : n <= max / 4 ? 2 * n : max }" >want
	test_line_count 1 want
	grep -oE "^[0-9]+" answer >have
	test_cmp want have
	web_js "return document.querySelectorAll(\"#lab .answer\").length + \"\"" >shown
	test "$(cat shown)" = 1
	web_log browser >console
	test "$(cat console)" = "{\"value\":[]}"
	web_open page.html
'

test_expect_success 'it could ask nobody: the browser refuses by its policy' '
	web_js "return fetch(\"http://127.0.0.1:9/\").then(() => \"sent\", () => \"refused\")" >sent
	test "$(cat sent)" = refused
	web_log browser >console
	test_grep "Content Security Policy" console
	web_log performance >requests
	test_no_grep "requestWillBeSent\\\\.*127.0.0.1:9" requests
'
test_done
