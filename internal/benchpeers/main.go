// Command benchpeers compares gcity with the process managers runit, tmux, supervisord and process-compose. It also
// compares gcity with "floor", a minimal manager.
//
//	make bench-peers                # 100 and 500 agents, three runs
//	make bench-peers N=100 RUNS=1 PEERS=gcity,floor,tmux
//
// Every manager runs in its own control group. This needs a cgroup2 file system: run the program as root, or with
// `systemd-run --user --scope -p Delegate=yes make bench-peers`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type options struct {
	gcity   string
	sizes   []int
	runs    int
	peers   []string // empty = all
	kills   int
	killFor time.Duration // stop killing a manager's agents after this time
	idle    time.Duration
	noisy   int
	hurry   bool // do not wait until the managers are idle; for tests
	limit   time.Duration
	out     io.Writer
	log     io.Writer
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "floor" {
		os.Exit(report(floor(os.Args[2])))
	}
	if len(os.Args) > 1 && os.Args[1] == "noise" {
		os.Exit(report(noise(os.Stdout)))
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		os.Exit(report(err))
	}
	late := fmt.Errorf("not finished within -limit %s", o.limit)
	ctx, cancel := context.WithTimeoutCause(context.Background(), o.limit, late)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	status := report(bench(ctx, o))
	os.Exit(status)
}

func report(err error) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(os.Stderr, "benchpeers:", err)
	return 1
}

// parse treats empty values as the default, so that make can pass its variables unchanged.
func parse(args []string) (options, error) {
	o := options{out: os.Stdout, log: os.Stderr}
	f := flag.NewFlagSet("benchpeers", flag.ContinueOnError)
	f.StringVar(&o.gcity, "gcity", "bin/gcity", "path of the gcity binary to measure")
	sizes := f.String("n", "", "numbers of agents, separated by commas (default 100,500)")
	runs := f.String("runs", "", "number of runs of each manager at each size (default 3)")
	peers := f.String("peers", "", "measure only these managers, separated by commas")
	f.IntVar(&o.kills, "kills", 100, "number of agents to kill for the replacement times")
	f.DurationVar(&o.killFor, "kill-for", 12*time.Second, "stop killing after this time")
	f.DurationVar(&o.idle, "idle", 30*time.Second, "length of an idle window")
	f.IntVar(&o.noisy, "noisy", 20, "number of agents that print while peeks are "+
		"measured; 0 = none")
	f.DurationVar(&o.limit, "limit", 25*time.Minute, "give up after this time")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	for size := range strings.SplitSeq(orElse(*sizes, "100,500"), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil || n < 1 {
			return o, fmt.Errorf("invalid number of agents %q: use -n 100,500", size)
		}
		o.sizes = append(o.sizes, n)
	}
	n, err := strconv.Atoi(orElse(*runs, "3"))
	if err != nil || n < 1 {
		return o, fmt.Errorf("invalid number of runs %q: use -runs 3", *runs)
	}
	o.runs = n
	if *peers != "" {
		o.peers = strings.Split(*peers, ",")
	}
	o.gcity, err = filepath.Abs(o.gcity)
	return o, err
}

func orElse(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}
