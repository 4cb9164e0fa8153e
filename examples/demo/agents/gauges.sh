#!/bin/sh
# A full-screen program in plain shell. It shows the load of this machine, uses the alternate screen and cursor addressing,
# redraws every second, and adapts to the size of its terminal.
set -u

put() { printf '\033[%d;%dH%s' "$1" "$2" "$3"; } # put ROW COLUMN TEXT

measure() {
	size=$(stty size 2>/dev/null) || size='24 80'
	rows=${size% *} cols=${size#* }
	[ "$rows" -gt 0 ] 2>/dev/null || rows=24
	[ "$cols" -gt 0 ] 2>/dev/null || cols=80
	printf '\033[2J'
}

leave() {
	printf '\033[?25h\033[0m\033[?1049l'
	exit 0
}

bar() { # bar ROW LABEL PERCENT
	width=$((cols - 26)) i=0 text=''
	[ "$width" -gt 60 ] && width=60
	[ "$width" -lt 5 ] && width=5
	full=$(($3 * width / 100))
	tint=32
	[ "$3" -ge 60 ] && tint=33
	[ "$3" -ge 85 ] && tint=31
	while [ "$i" -lt "$full" ]; do text="$text=" i=$((i + 1)); done
	printf '\033[%d;3H%-9s \033[%sm%s\033[0m\033[K' "$1" "$2" "$tint" "$text"
	printf '\033[%d;%dH%3d %%' "$1" "$((width + 15))" "$3"
}

memory() { # sets $used, in percent
	total=1 free=0
	while read -r key value _; do
		case $key in
		MemTotal:) total=$value ;;
		MemAvailable:) free=$value ;;
		esac
	done </proc/meminfo
	used=$((100 - free * 100 / total))
}

load() { # sets $load1, and $percent of one core
	read -r load1 load5 load15 running _ </proc/loadavg
	whole=${load1%.*} part=${load1#*.}
	percent=$((whole * 100 + ${part#0}))
	[ "$percent" -gt 100 ] && percent=100
}

history=''
draw() {
	load
	memory
	printf '\033[1;1H\033[7m%-*s\033[0m' "$cols" " gauges   $(date '+%Y-%m-%d %H:%M:%S')   ${cols}x${rows}"
	bar 3 load "$percent"
	bar 4 memory "$used"
	put 6 3 "load      $load1  $load5  $load15"
	printf '\033[K'
	put 7 3 "tasks     $running"
	printf '\033[K'
	level=$((percent * 7 / 100))
	history="$history$level"
	keep=$((cols - 6))
	[ "$keep" -lt 1 ] && keep=1
	while [ "${#history}" -gt "$keep" ]; do history=${history#?}; done
	chart
	put "$rows" 3 'ctrl-c leaves; the city starts it again'
}

chart() { # the load of the last minutes, seven rows high
	[ "$rows" -lt 18 ] && return
	line=7
	while [ "$line" -ge 1 ]; do
		rest=$history text=''
		while [ -n "$rest" ]; do
			now=${rest%"${rest#?}"} rest=${rest#?}
			if [ "$now" -ge "$line" ]; then text="$text|"; elif [ "$line" -eq 1 ]; then text="${text}_"; else text="$text "; fi
		done
		printf '\033[%d;3H\033[36m%s\033[0m\033[K' "$((16 - line))" "$text"
		line=$((line - 1))
	done
}

trap leave INT TERM HUP
trap measure WINCH
printf '\033[?1049h\033[?25l'
measure
while :; do
	draw
	sleep 1
done
