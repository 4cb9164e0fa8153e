package e2e

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/internal/eventually"
)

var (
	rounds = flag.Int("rounds", 0, "number of rounds of TestFaults; 0 skips it")
	crew   = flag.Int("agents", 20, "number of agents of TestFaults")
	which  = flag.String("parts", "controller,helper,kubelet,apiserver,containerd,etcd",
		"parts that TestFaults kills in turn")
	seed = flag.Uint64("seed", 0, "seed of TestFaults; 0 = a new one")
)

// Faults of the controller, the helper and the cluster affect no other agent. The event log contains each killed agent
// exactly once.
func TestFaults(t *testing.T) {
	if *rounds == 0 {
		t.Skip("damages the cluster: run make faults-k8s")
	}
	if os.Getenv("GCITY_TEST_CLUSTER") == "" && os.Getenv("GCITY_TEST_KUBECONFIG") != "" {
		t.Skip("requires a cluster of testcluster, whose parts can be killed")
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d", *seed)
	c := newCity(t, manyAgents(*crew))
	c.start()
	f := &faults{city: c, random: rand.New(rand.NewPCG(*seed, 0)), killed: map[string]bool{}}
	eventually.True(t, "all agents run", func() bool { return c.running() == *crew }, c.state)
	f.known = f.sample()
	if len(f.known) != *crew {
		t.Fatalf("got %d processes of %d agents", len(f.known), *crew)
	}
	stop := f.observe()
	parts := strings.Split(*which, ",")
	for n := range *rounds {
		began := time.Now()
		f.round(parts[n%len(parts)], n)
		t.Logf("round %d: %s, %s", n+1, parts[n%len(parts)], time.Since(began).Round(time.Second/10))
		if t.Failed() {
			break
		}
	}
	stop()
	f.checkLog()
}

func manyAgents(n int) string {
	var b strings.Builder
	b.WriteString("[workspace]\nname = \"faults\"\n[session]\nprovider = \"k8s\"\n[daemon]\n" +
		"patrol_interval = \"2s\"\nmax_restarts = 0\nrestart_backoff = \"100ms\"\n")
	for i := range n {
		fmt.Fprintf(&b, "[[agents]]\nname = \"a-%d\"\nstart_command = \"exec cat\"\n", i)
	}
	return b.String()
}

type faults struct {
	*city
	random *rand.Rand
	known  map[string]process // expected process of each agent
	killed map[string]bool    // sessions with an agent that the test has killed

	mu    sync.Mutex
	twice []string // agents that had two processes at the same time
}

func (f *faults) sample() map[string]process {
	out := map[string]process{}
	for _, p := range f.processes("cat") {
		if q, ok := out[p.agent]; ok {
			f.mu.Lock()
			f.twice = append(f.twice, fmt.Sprintf("%s: %+v and %+v", p.agent, p, q))
			f.mu.Unlock()
		}
		out[p.agent] = p
	}
	return out
}

func (f *faults) observe() func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			f.sample()
			select {
			case <-time.After(100 * time.Millisecond):
			case <-ctx.Done():
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}

func (f *faults) round(part string, n int) {
	f.Helper()
	victim := f.known[fmt.Sprintf("a-%d", f.random.IntN(len(f.known)))]
	f.killPart(part)
	early := n%4 != 3 // in one of four rounds, the agent is killed after the part has been restarted
	f.pause()
	if early {
		kill9(f, victim.pid)
		f.pause()
	}
	f.startPart(part)
	if !early {
		kill9(f, victim.pid)
	}
	f.killed[victim.session] = true
	var now map[string]process
	eventually.True(f, "the killed agent has been replaced and all agents run", func() bool {
		now = f.sample()
		p, ok := now[victim.agent]
		return ok && p.session != victim.session && f.recovered(now)
	}, func() string { return fmt.Sprintf("round %d: %s, %+v", n, part, victim) }, f.state)
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		if name != victim.agent && now[name] != f.known[name] {
			f.Errorf("round %d: %s: the process of %s changed from %+v to %+v", n, part, name,
				f.known[name], now[name])
		}
	}
	f.known = now
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.twice) > 0 {
		f.Errorf("round %d: %s: two processes at the same time: %s", n, part, f.twice)
	}
}

// pause sleeps for a random time, so that the other parts notice the fault only in some rounds.
func (f *faults) pause() {
	time.Sleep(time.Duration(f.random.IntN(2000)) * time.Millisecond) // the time of the fault is random; this is not a wait
}

func (f *faults) recovered(now map[string]process) bool {
	all := f.agents()
	if len(all) != len(f.known) || len(now) != len(f.known) {
		return false
	}
	for name, a := range all {
		if a.State != "running" || a.Session == nil || a.Session.ID != now[name].session {
			return false
		}
	}
	_, err := f.gcity("agent", "peek", "a-0")
	return err == nil
}

func (f *faults) killPart(part string) {
	f.Helper()
	switch part {
	case "controller":
		f.kill()
	case "helper":
		kill9(f, f.city.helper())
	default:
		f.cluster("kill", part)
	}
}

func (f *faults) startPart(part string) {
	f.Helper()
	switch part {
	case "controller":
		f.start()
	case "helper": // the controller restarts the helper
	default:
		f.cluster("start", part)
	}
}

func (f *faults) cluster(verb, part string) {
	f.Helper()
	cmd := exec.Command(os.Getenv("GCITY_TEST_CLUSTER"), verb, os.Getenv("GCITY_TEST_CLUSTER_DIR"), part)
	if out, err := cmd.CombinedOutput(); err != nil {
		f.Fatalf("testcluster %s %s: %v: %s", verb, part, err, out)
	}
}

// The log has no gaps, each killed session has exactly one crash, and no other session has ended.
func (f *faults) checkLog() {
	f.Helper()
	starts, ends := map[string]int{}, map[string][]string{}
	for i, e := range f.events() {
		if e.Seq != i+1 {
			f.Errorf("event %d: got seq %d", i+1, e.Seq)
		}
		switch e.Type {
		case "agent.started":
			starts[e.Payload.Session]++
		case "agent.crashed", "agent.stopped":
			ends[e.Payload.Session] = append(ends[e.Payload.Session], e.Type+": "+e.Message)
		case "events.gap":
			f.Errorf("event %d: %s", e.Seq, e.Message)
		}
	}
	for id := range f.killed {
		if len(ends[id]) != 1 || !strings.HasPrefix(ends[id][0], "agent.crashed") {
			f.Errorf("the killed session %s has the ends %q, want one crash", id, ends[id])
		}
	}
	for id, all := range ends {
		if !f.killed[id] {
			f.Errorf("session %s was not killed: got the ends %q", id, all)
		}
	}
	for id, n := range starts {
		if n != 1 {
			f.Errorf("session %s: got %d starts, want 1", id, n)
		}
	}
	if want := len(f.known) + len(f.killed); len(starts) != want {
		f.Errorf("%d sessions started, want %d", len(starts), want)
	}
	f.Logf("got %d events for %d killed agents", len(f.events()), len(f.killed))
}
