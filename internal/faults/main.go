// Command faults exposes a city to random faults and checks gcity's guarantees after each fault. At the same time,
// several programs write events and beads.
//
//	go run ./internal/faults -gcity bin/gcity -minutes 60
//
// -seed repeats a run as far as the machine's timing allows. Exit code 1 means that a guarantee was broken.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	o := options{out: os.Stdout}
	minutes := flag.Float64("minutes", 5, "how long to inject faults")
	flag.StringVar(&o.gcity, "gcity", "bin/gcity", "the program under test")
	flag.Uint64Var(&o.seed, "seed", 0, "seed for the random choices; 0 = use the clock")
	flag.IntVar(&o.agents, "agents", 12, "number of agents that the city declares")
	flag.StringVar(&o.only, "only", "", "inject only faults with a name that starts with this")
	flag.Parse()
	if status, ok := withOwnMounts(); ok {
		os.Exit(status)
	}
	o.duration = time.Duration(*minutes * float64(time.Minute))
	os.Exit(run(o))
}

func run(o options) int {
	gcity, err := filepath.Abs(o.gcity)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 2
	}
	o.gcity = gcity
	if o.seed == 0 {
		o.seed = uint64(time.Now().UnixNano())
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupt)
	o.interrupt = interrupt
	breaches, err := campaign(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		return 2
	}
	if len(breaches) > 0 {
		fmt.Fprintf(o.out, "%d broken guarantees, seed %d:\n", len(breaches), o.seed)
		for _, b := range breaches {
			fmt.Fprintln(o.out, "  "+b)
		}
		return 1
	}
	return 0
}
