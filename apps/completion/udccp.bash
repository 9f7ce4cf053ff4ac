# bash completion for dccp-send, dccp-recv, dccp-netem, dccp-lab and dccp-dump

_udccp() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local tool=${COMP_WORDS[0]##*/}
  local common='-4 -6 --encap --tun --udp-port -p --port --service --ccid --pacing --timeout --ecn --path-mtu
    --trace --events -i --interval --bind --json --json-stream --help --version'
  local own=''
  case $tool in
    dccp-send)
      own="$common -s --size -t --time -n --packets --input --framed --hashes -b --rate -R --reverse
        -P --parallel --omit --expect-rtt --expect-loss"
      ;;
    dccp-recv)
      own="$common -1 --one-off -o --output --framed --hashes --echo --max-connections --reverse-ok
        --cookies"
      ;;
    dccp-netem)
      local name
      own='udp bridge router --listen --to --max-clients --idle --seed --seconds -i --interval
        --grain --memory --realtime --json --json-stream --help --version'
      for name in delay loss rate queue red red-ecn reorder duplicate corrupt ecn-mark mtu \
        jitter-reorders; do
        own+=" --$name --fwd-$name --rev-$name"
      done
      ;;
    dccp-lab)
      own='tfrc sizes forward run compare report --topology --paths --extended --at-once --seed
        --simulate --sizes --ccid --encap -4 -6 --only --seconds --omit --repeat --out --resume --json
        --firewall --rules --traffic --max-loss --output --trace --udp-port --plotly --help --version'
      ;;
    dccp-dump) own='--fields --json --check --stats --udp-port --help --version' ;;
  esac
  COMPREPLY=()
  case $prev in
    --encap) mapfile -t COMPREPLY < <(compgen -W 'udp native' -- "$cur") ;;
    --tun) mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/net)" -- "$cur") ;;
    --ecn) mapfile -t COMPREPLY < <(compgen -W 'on off nonce' -- "$cur") ;;
    --path-mtu) mapfile -t COMPREPLY < <(compgen -W 'probe icmp fragment' -- "$cur") ;;
    --cookies) mapfile -t COMPREPLY < <(compgen -W 'auto always never' -- "$cur") ;;
    --ccid) mapfile -t COMPREPLY < <(compgen -W '2 3 4 2,3 3,2 4,3,2' -- "$cur") ;;
    --fields)
      mapfile -t COMPREPLY < <(compgen -W 'number time src dst src_port dst_port type x seq ack
        ccval cscov checksum service_code reset.code options payload_bytes ecn encap' -- "$cur")
      ;;
    --trace | --plotly | --events | --input | -o | --output | --hashes)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      ;;
    *)
      if [[ $cur == -* || ($tool == dccp-@(netem|lab) && $COMP_CWORD == 1) ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$own" -- "$cur")
      elif [[ $tool == dccp-netem && ${COMP_WORDS[1]} == @(bridge|router) ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/net)" -- "$cur")
      elif [[ $tool == dccp-dump || $tool == dccp-lab ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      elif [[ $tool == dccp-send ]]; then
        mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
      fi
      ;;
  esac
}
complete -F _udccp dccp-send dccp-recv dccp-netem dccp-lab dccp-dump
