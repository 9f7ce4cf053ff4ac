#!/usr/bin/env bash
# dccp-lab tfrc and run: what an interrupt and a kill leave, --resume, an emulator that dies,
# virtual time beside real time, plans in files, bad input.
source "$(dirname "$0")/lib.sh"
lab=$UDCCP_BIN/dccp-lab

# start_lab [option...]: in the background, until its programs run.
start_lab() {
  "$lab" tfrc -4 --sizes 256 --paths 20ms/1% --seconds 6 --omit 0 "$@" >"$work/lab.out" \
    2>"$work/lab.err" &
  pid=$!
  started+=("$pid")
  for ((i = 0; i < 600; ++i)); do
    grep -q 'left$' "$work/lab.err" && break
    sleep 0.05
  done
  mapfile -t programs < <(pgrep -P "$pid")
}
# gone PID...: waits until none is there.
gone() {
  for ((i = 0; i < 200; ++i)); do
    kill -0 "$@" 2>/dev/null || return 0
    sleep 0.05
  done
  return 1
}

# Interrupted: what was measured is kept, no program is left, and the plan can go on.
start_lab --repeat 2 --out "$work/a"
[[ ${#programs[@]} == 4 ]] || fail "${#programs[@]} programs, not 4"
sleep 3
kill -INT "$pid"
code=0
wait "$pid" || code=$?
expect "interrupted" 1 'interrupted; --resume' "$work/lab.err" dccp-lab
json "$work/a/results.json" "all(r['partial'] and r['sent']['packets'] > 0 for r in d['cells'][0]['runs'])"
for program in "${programs[@]}"; do gone "$program" || fail "the lab left a program behind"; done

# A path that dies costs a run, which is made up for.
start_lab --repeat 1 --out "$work/a" --resume
emulator=$(pgrep -P "$pid" -f 'dccp-netem')
kill -9 "$emulator"
wait "$pid" || fail "with a killed emulator: $(cat "$work/lab.err")"
grep -q 'relay-v4-256-20ms-1%: the emulator ended' "$work/lab.err" || fail "no word of the emulator"
json "$work/a/results.json" "(len(d['cells']) == 1 and len(d['cells'][0]['runs']) == 1
  and 'partial' not in d['cells'][0]['runs'][0] and d['cells'][0]['mean_bps'] > 0
  and d['cells'][0]['cpu']['emulator'] > 0 and d['cells'][0]['cpu']['receiver'] > 0
  and 20 <= d['cells'][0]['measured_rtt_ms'] and d['summary']['cells'] == 1)"

# Killed: nothing is left running.
start_lab --repeat 1 --out "$work/b"
disown "$pid"
kill -9 "$pid"
for program in "${programs[@]}"; do gone "$program" || fail "a killed lab left a program behind"; done

# Virtual time, from a plan in a file; beside itself it does not differ.
cat >"$work/plan.json" <<JSON
{"command": "tfrc", "simulate": true, "seconds": 20, "omit": "2s", "repeat": 3,
 "paths": [{"rtt": "40ms", "loss": "1%"}, "150ms/10%"], "sizes": [256], "out": "$work/c"}
JSON
"$lab" run "$work/plan.json" >"$work/lab.out" 2>"$work/lab.err" || fail "run: $(cat "$work/lab.err")"
json "$work/c/results.json" "([c['id'] for c in d['cells']] == ['relay-v6-256-40ms-1%',
  'relay-v4-256-40ms-1%', 'relay-v6-256-150ms-10%', 'relay-v4-256-150ms-10%']
  and all(len(c['runs']) == 3 and c['ci95_bps'] > 0 and c['published'] for c in d['cells']))"
"$lab" compare "$work/c/results.json" "$work/c/results.json" --json >"$work/compare.json" ||
  fail "compare fails"
json "$work/compare.json" "len(d['rows']) == 4 and all(
  r['verdict'] == 'no significant difference' for r in d['rows'])"

# Bad plans: one line, which names the field.
bad_plan() {
  printf '%s' "$2" >"$work/bad.json"
  code=0
  "$lab" run "$work/bad.json" >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "plan $2" 2 "$1" "$work/usage.err" dccp-lab
}
bad_plan 'line 2, column 1: this is no JSON' $'{"command": "tfrc",\n}'
bad_plan 'command: "dance" is none of tfrc' '{"command": "dance"}'
bad_plan 'command: what is missing' '{}'
bad_plan 'a plan is an object' '7'
bad_plan 'speed: no field' '{"command": "tfrc", "speed": 7}'
bad_plan 'repeat: ' '{"command": "tfrc", "repeat": 0}'
bad_plan 'repeat: .*one value' '{"command": "tfrc", "repeat": [1]}'
bad_plan 'simulate: 1 is neither' '{"command": "tfrc", "simulate": 1}'
bad_plan 'paths\[0\].loss: is missing' '{"command": "tfrc", "paths": [{"rtt": "1ms"}]}'
bad_plan "paths: '40ms/99%'" '{"command": "tfrc", "paths": [{"rtt": "40ms", "loss": "99%"}]}'
bad_plan 'sizes\[1\]: null' '{"command": "sizes", "sizes": [32, null]}'
bad_plan '\[1\].out: ' '[{"command": "tfrc"}, {"command": "tfrc"}]'
code=0
"$lab" run "$work/none.json" 2>"$work/lab.err" || code=$?
expect "no such plan" 1 'cannot read' "$work/lab.err" dccp-lab
for arguments in 'tfrc --topology moon' 'tfrc --paths 40ms' 'tfrc --sizes 5' 'tfrc --seconds 0' \
  'tfrc --repeat 0' 'tfrc -4 -6' 'tfrc --only nosuch' 'tfrc --extended --paths 40ms/1%' run; do
  code=0
  # shellcheck disable=SC2086  # the arguments are words
  "$lab" $arguments >"$work/usage.out" 2>"$work/usage.err" || code=$?
  expect "usage '$arguments'" 2 '.' "$work/usage.err" dccp-lab
done
finish
