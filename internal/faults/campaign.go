package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type options struct {
	gcity     string
	seed      uint64
	duration  time.Duration
	rounds    int // 0 = no limit
	agents    int
	only      string
	out       io.Writer
	interrupt <-chan os.Signal
}

type state struct {
	options
	*target
	rnd      *rand.Rand
	writers  *writers
	injected map[string]int
	breaches []string
}

const settleLimit = 60 * time.Second

// mostBreaches is the number of breaches that ends a campaign. Later ones are often consequences of earlier ones.
const mostBreaches = 5

func campaign(o options) ([]string, error) {
	dir, err := os.MkdirTemp("", "gcity-faults-")
	if err != nil {
		return nil, err
	}
	c := &state{
		options: o, target: newTarget(o.gcity, dir, o.agents),
		rnd: rand.New(rand.NewPCG(o.seed, 0)), injected: map[string]int{},
	}
	fmt.Fprintf(o.out, "faults: seed %d, %s, %d agents, in %s\n", o.seed, o.duration, o.agents, dir)
	defer c.target.destroy()
	if err := c.target.write(); err != nil {
		return nil, err
	}
	if err := c.target.begin(); err != nil {
		return nil, err
	}
	c.settled("the start")
	c.writers = startWriters(c.target)
	c.inject()
	c.writers.stop()
	c.finish()
	c.report()
	if len(c.breaches) == 0 {
		os.RemoveAll(filepath.Dir(c.target.dir))
	} else {
		fmt.Fprintf(o.out, "the city was left in %s\n", dir)
	}
	return c.breaches, nil
}

func (c *state) inject() {
	all := c.choose()
	end := time.Now().Add(c.duration)
	for n := 0; time.Now().Before(end) && (c.rounds == 0 || n < c.rounds) &&
		len(c.breaches) < mostBreaches; n++ {
		select {
		case <-c.interrupt:
			return
		default:
		}
		f := all[c.rnd.IntN(len(all))]
		c.injected[f.name]++
		if err := f.inject(c); err != nil {
			c.breach("%s: %v", f.name, err)
		}
		c.settled(f.name)
	}
}

func (c *state) choose() []fault {
	var all []fault
	for _, f := range faults() {
		if strings.HasPrefix(f.name, c.only) {
			all = append(all, f)
		}
	}
	if len(all) == 0 {
		c.breach("no fault name starts with %q", c.only)
		all = faults()
	}
	return all
}

func (c *state) finish() {
	if out, err := c.target.command("stop"); err != nil {
		c.breach("gcity stop: %v: %s", err, out)
	}
	c.target.wait()
	for _, p := range c.target.processes() {
		c.breach("after the stop, process %d of %s is still running", p.pid, p.agent)
	}
	log, err := readLog(c.target.dir)
	if err != nil {
		c.breach("cannot read the event log: %v", err)
		return
	}
	c.breaches = append(c.breaches, log.check()...)
	c.breaches = append(c.breaches, c.writers.check(c.target, log)...)
}

func (c *state) breach(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	c.breaches = append(c.breaches, text)
	fmt.Fprintln(c.out, "broken: "+text)
}

func (c *state) report() {
	total := 0
	for _, f := range faults() {
		if n := c.injected[f.name]; n > 0 {
			fmt.Fprintf(c.out, "%6d  %s\n", n, f.name)
			total += n
		}
	}
	events, beads := c.writers.counts()
	fmt.Fprintf(c.out, "%6d faults, %d events and %d beads written meanwhile, %d broken "+
		"guarantees\n",
		total, events, beads, len(c.breaches))
}

func (c *state) pause(most time.Duration) { time.Sleep(time.Duration(c.rnd.Int64N(int64(most)))) }
