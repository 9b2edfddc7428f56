#!/bin/bash
# view/browse.sh PAGE SCRIPT - open PAGE in a headless browser, print what SCRIPT's text returns.
set -eu
# shellcheck source=tests/view/webdriver.sh
. "$(dirname "$0")/webdriver.sh"

missing=$(web_missing)
[ -z "$missing" ] || exit 77
trap web_stop EXIT
web_start
web_open "$1"
web_js "$(<"$2")"
