# shellcheck shell=bash
#
# tests/view/webdriver.sh - a headless Chromium, driven through chromedriver with curl.
#
# In     TMPDIR: the browser's folders and the files web.* are made there.
# Owner  web_start's caller calls web_stop, also when it is ended early.
# Errors every function but web_stop fails with a line on standard error.

web_missing()
{
	local p

	for p in chromium chromedriver curl; do
		command -v "$p" >/dev/null || echo "$p"
	done
}

# $1 as a JSON string.
json_string()
{
	local s=$1

	s=${s//\\/\\\\}
	s=${s//\"/\\\"}
	s=${s//$'\n'/\\n}
	s=${s//$'\t'/\\t}
	printf '"%s"' "$s"
}

# web_call METHOD PATH [JSON]: prints the answer; one with an error fails.
web_call()
{
	local url answer

	url=http://127.0.0.1:$(<"$TMPDIR/web.port")/$2
	answer=$(curl -sS --noproxy '*' --max-time 120 -X "$1" \
		-H 'Content-Type: application/json' ${3:+-d "$3"} "$url") || return 1
	case $answer in
	'{"value":{"error":'*)
		echo "webdriver: $2: $answer" >&2
		return 1
		;;
	esac
	printf '%s\n' "$answer"
}

web_session()
{
	web_call "$1" "session/$(<"$TMPDIR/web.session")$2" "${3-}"
}

web_start()
{
	local i args dir=$TMPDIR/web.profile

	mkdir -p "$dir"
	: >"$TMPDIR/web.log"
	HOME=$TMPDIR chromedriver --port=0 >"$TMPDIR/web.log" 2>&1 &
	echo $! >"$TMPDIR/web.pid"
	for ((i = 0; i < 300; i++)); do
		sed -n 's/.*successfully on port \([0-9]*\).*/\1/p' "$TMPDIR/web.log" >"$TMPDIR/web.port"
		[ ! -s "$TMPDIR/web.port" ] || break
		sleep 0.1
	done
	[ -s "$TMPDIR/web.port" ] || {
		echo 'chromedriver does not start' >&2
		return 1
	}
	args=$(printf '"%s",' --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync \
		--disable-dev-shm-usage --window-size=1280,1000 "--user-data-dir=$dir")
	web_call POST session '{"capabilities":{"alwaysMatch":{"browserName":"chrome",
		"goog:loggingPrefs":{"browser":"ALL","performance":"ALL"},
		"goog:chromeOptions":{"args":['"${args%,}"']}}}}' >"$TMPDIR/web.answer" || return 1
	sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p' "$TMPDIR/web.answer" >"$TMPDIR/web.session"
	[ -s "$TMPDIR/web.session" ]
}

web_stop()
{
	[ ! -s "$TMPDIR/web.session" ] || web_session DELETE '' >/dev/null 2>&1 || :
	[ ! -s "$TMPDIR/web.pid" ] || kill "$(<"$TMPDIR/web.pid")" 2>/dev/null || :
	rm -f "$TMPDIR/web.session" "$TMPDIR/web.pid"
}

# web_js CODE: the code's body returns a string without quotes and backslashes, which is printed.
web_js()
{
	local answer

	answer=$(web_session POST /execute/sync "{\"script\":$(json_string "$1"),\"args\":[]}") ||
		return 1
	answer=${answer#'{"value":'}
	answer=${answer%\}}
	answer=${answer#\"}
	printf '%b\n' "${answer%\"}"
}

# web_open FILE: returns once the page's viewer is ready.
web_open()
{
	local i

	web_session POST /url "{\"url\":$(json_string "file://$(realpath "$1")")}" >/dev/null ||
		return 1
	for ((i = 0; i < 300; i++)); do
		[ "$(web_js 'return String(!!window.foliolab)')" != true ] || return 0
		sleep 0.1
	done
	echo 'the page does not get ready' >&2
	return 1
}

# web_keys KEY...: press and release each; a key is what WebDriver calls it (\ue00f: PageDown).
web_keys()
{
	local key all=

	for key; do
		all+="{\"type\":\"keyDown\",\"value\":\"$key\"},{\"type\":\"keyUp\",\"value\":\"$key\"},"
	done
	web_session POST /actions \
		'{"actions":[{"type":"key","id":"keyboard","actions":['"${all%,}"']}]}' >/dev/null
}

# web_click ID [X-PART]: click with the mouse on the element, X-PART per cent from its left.
web_click()
{
	local at

	at=$(web_js "const e = document.getElementById('$1'); e.scrollIntoView({block: 'center'});
		const b = e.getBoundingClientRect();
		return Math.round(b.left + b.width * ${2:-50} / 100) + ',\"y\":' +
			Math.round(b.top + b.height / 2)") || return 1
	web_session POST /actions '{"actions":[{"type":"pointer","id":"mouse",
		"parameters":{"pointerType":"mouse"},"actions":[
		{"type":"pointerMove","duration":0,"x":'"${at//\\/}"'},
		{"type":"pointerDown","button":0},{"type":"pointerUp","button":0}]}]}' >/dev/null
}

# web_log browser|performance: what there is since the last call, an entry a line.
web_log()
{
	web_session POST /se/log "{\"type\":\"$1\"}" | sed 's/},{/},\n{/g'
}
