# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# A headless Chromium, driven through chromedriver by curl and jq (W3C WebDriver). To be sourced; needs $w, a folder for what it
# leaves.

# browser_start [DARK]: with an empty profile of its own. Status 1: $browser_why says why there is none.
browser_start() {
	local port answer options
	browser_stop
	command -v chromium >/dev/null && command -v chromedriver >/dev/null || { browser_why="no chromium or no chromedriver"; return 1; }
	rm -rf "$w/browser"
	mkdir -p "$w/browser"
	chromedriver --port=0 >"$w/browser/driver.log" 2>&1 &
	driver=$!
	for _ in $(seq 100); do
		port=$(sed -nE 's/.*started successfully on port ([0-9]+).*/\1/p' "$w/browser/driver.log")
		[ -z "$port" ] || break
		sleep 0.1
	done
	[ -n "$port" ] || { browser_why="chromedriver does not start"; return 1; }
	options=$(jq -n --arg profile "$w/browser/profile" '["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--window-size=1400,900", "--user-data-dir=" + $profile]')
	answer=$(jq -n --argjson args "$options" '{capabilities: {alwaysMatch: {browserName: "chrome",
		"goog:chromeOptions": {args: $args}, "goog:loggingPrefs": {browser: "ALL"}}}}' |
		curl -s --max-time 60 -d @- "http://127.0.0.1:$port/session")
	session=$(echo "$answer" | jq -r '.value.sessionId // empty')
	[ -n "$session" ] || { browser_why="chromium does not start: $(echo "$answer" | jq -r .value.message | head -n 1)"; return 1; }
	session=http://127.0.0.1:$port/session/$session
}

browser_stop() {
	[ -z "${session-}" ] || curl -s --max-time 10 -X DELETE "$session" >/dev/null
	[ -z "${driver-}" ] || { kill "$driver"; wait "$driver"; } 2>/dev/null
	session= driver=
}

# ask METHOD PATH [JSON]: the answer's value; an error ends the test.
ask() {
	local answer
	answer=$(curl -s --max-time 60 -X "$1" ${3+-d "$3"} "$session/$2")
	[ "$(echo "$answer" | jq -r '.value | if type == "object" then .error // "" else "" end')" = "" ] ||
		no "$2: $(echo "$answer" | jq -r .value.message | head -n 3)"
	echo "$answer" | jq -c .value
}

open_page() { ask POST url "$(jq -n --arg url "$1" '{url: $url}')" >/dev/null; }

# js EXPRESSION: its value as JSON; of a promise what it comes to.
js() {
	ask POST execute/async "$(jq -n --arg code "const done = arguments[0]; Promise.resolve().then(() => ($1)).then(
		v => done(v === undefined ? null : v), e => done('error: ' + e));" '{script: $code, args: []}')"
}

# text EXPRESSION: the same, a string as it is
text() { js "$1" | jq -r 'if type == "string" then . else tojson end'; }

# is EXPRESSION VALUE: waits up to five seconds for it to be that
is() {
	local got
	for _ in $(seq 25); do
		got=$(text "$1")
		[ "$got" = "$2" ] && return
		sleep 0.2
	done
	no "$1 is $got, not $2"
}

# press KEY...: real keys, one after the other; ENTER, ESC, DOWN, UP, LEFT, RIGHT, TAB by name
press() {
	local key actions=
	for key in "$@"; do
		case $key in
		ENTER) key='\uE007' ;;
		ESC) key='\uE00C' ;;
		DOWN) key='\uE015' ;;
		UP) key='\uE013' ;;
		LEFT) key='\uE012' ;;
		RIGHT) key='\uE014' ;;
		TAB) key='\uE004' ;;
		END) key='\uE010' ;;
		esac
		actions="$actions${actions:+,}{\"type\":\"keyDown\",\"value\":\"$key\"},{\"type\":\"keyUp\",\"value\":\"$key\"}"
	done
	ask POST actions "{\"actions\":[{\"type\":\"key\",\"id\":\"k\",\"actions\":[$actions]}]}" >/dev/null
}

# click SELECTOR: with a real pointer
click() {
	local id
	id=$(ask POST element "$(jq -n --arg s "$1" '{using: "css selector", value: $s}')" | jq -r '.[]')
	[ -n "$id" ] || no "there is no $1"
	ask POST "element/$id/click" '{}' >/dev/null
}

screenshot() { ask GET screenshot | jq -r . | base64 -d >"$1"; }

# What the pages wrote to the console since the last time, and errors of scripts.
console() { ask POST se/log '{"type": "browser"}' | jq -r '.[] | .level + " " + .message'; }
