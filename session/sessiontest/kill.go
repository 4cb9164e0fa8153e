package sessiontest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
)

// KillAgents is the number of agents that MiniController runs.
const KillAgents = 8

// MiniController is the child process of ControllerKilled. It keeps its agents running, like a controller.
func MiniController(p session.Provider, city string) error {
	ctx := context.Background()
	for {
		list, err := p.List(ctx)
		if err != nil {
			return err
		}
		alive := map[string]bool{}
		for _, st := range list {
			alive[st.Name] = st.Alive
			if !st.Alive { // the next round repeats a failed call
				_ = p.(session.Acknowledger).Acknowledge(ctx, st.Name, st.ID)
			}
		}
		for i := range KillAgents {
			name := "w-" + strconv.Itoa(i)
			if alive[name] {
				continue
			}
			id := fmt.Sprintf("%s-%d-%d", name, os.Getpid(), time.Now().UnixNano())
			_, _ = p.Start(ctx, session.Spec{ // the next round repeats a failed call
				Name: name, Agent: name, City: city, ID: id, Dir: city, Command: "exec sleep 1000",
				Env: []string{"PATH=/usr/bin:/bin", "GC_SESSION_ID=" + id,
					"GC_TEST=" + city + "/" + name},
			})
		}
		select {
		case <-p.(session.Notifier).Exits():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Census returns the PIDs of a city's running agents by name. An agent's environment contains GC_TEST=CITY/NAME.
func Census(t testing.TB, city string) map[string][]int {
	t.Helper()
	pids, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]int{}
	for _, pid := range pids {
		for kv := range strings.SplitSeq(string(proc.Environ(pid)), "\x00") {
			name, ok := strings.CutPrefix(kv, "GC_TEST="+city+"/")
			if !ok {
				continue
			}
			if st, err := proc.ReadStat(pid); err == nil && !st.Exited() {
				found[name] = append(found[name], pid)
			}
		}
	}
	return found
}

// Kills configures ControllerKilled.
type Kills struct {
	// Open opens a provider for a city, and registers a cleanup that stops the city's sessions.
	Open    func(t *testing.T, city string) session.Provider
	N       int
	Seed    uint64        // seed of the random times; 0 = a new seed
	Longest time.Duration // maximum lifetime of a controller
}

// ControllerKilled kills a controller at random times. It checks that no agent ever has two live processes (L11), and
// that the next controller adopts the running agents. The test binary must call MiniController if its first argument is
// "mini-controller"; the second argument is the city.
func ControllerKilled(t *testing.T, k Kills) {
	if k.Seed == 0 {
		k.Seed = rand.Uint64()
	}
	t.Logf("-seed %d -kills %d", k.Seed, k.N)
	random := rand.New(rand.NewPCG(k.Seed, 0))
	city := t.TempDir()
	t.Cleanup(func() { k.Open(t, city) }) // stops the sessions if the test fails early
	first := map[string]int{}
	const patience = 5 * time.Second
	for n := 0; n < k.N || len(first) == 0 && k.Longest < patience; n++ {
		killOnce(t, random, city, k.Longest, first)
		now := Census(t, city)
		for name, pids := range now {
			if len(pids) > 1 {
				t.Fatalf("%s: got %d processes: %v", name, len(pids), pids)
			}
		}
		for name, pid := range first {
			if len(now[name]) != 1 || now[name][0] != pid {
				t.Fatalf("%s: want pid %d, got %v", name, pid, now[name])
			}
		}
		for name, pids := range now {
			first[name] = pids[0]
		}
		if len(first) == 0 { // the machine is busy, so the controllers were killed too early
			k.Longest = min(2*k.Longest, patience)
		}
	}
	p := k.Open(t, city)
	seen := map[string]int{}
	for _, st := range list(t, p) {
		if st.Alive {
			seen[st.Name] = st.PID
		}
	}
	for name, pid := range first {
		if seen[name] != pid {
			t.Errorf("%s: want pid %d, listed as %d", name, pid, seen[name])
		}
	}
	t.Logf("%d of %d agents were running", len(seen), KillAgents)
	if len(seen) == 0 {
		t.Error("no agent started, so nothing was tested")
	}
	for name := range seen {
		if err := p.Stop(t.Context(), name, 0); err != nil {
			t.Error(err)
		}
	}
	if left := Census(t, city); len(left) > 0 {
		t.Errorf("remaining processes: %v", left)
	}
}

func killOnce(t *testing.T, random *rand.Rand, city string, longest time.Duration,
	first map[string]int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "mini-controller", city)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if random.IntN(2) == 0 { // the controller must restart this agent
		for name, pid := range first {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil ||
				!proc.WaitPid(pid, eventually.Timeout) {
				t.Fatalf("killing %d: %v", pid, err)
			}
			delete(first, name)
			break
		}
	}
	// this sleep does not wait for a condition
	time.Sleep(time.Duration(random.Int64N(int64(longest))))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// Start starts a session. If that fails, the test fails.
func Start(t testing.TB, p session.Provider, s session.Spec) session.Status {
	t.Helper()
	st, err := p.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// NextExit waits for the next exit that a provider reports.
func NextExit(t testing.TB, p session.Provider) session.Exit {
	t.Helper()
	return eventually.Receive(t, "the report of an exit", p.(session.Notifier).Exits())
}

// Shows waits until a session's output contains text.
func Shows(t testing.TB, p session.Provider, name, text string) {
	t.Helper()
	var last string
	eventually.True(t, fmt.Sprintf("%s shows %q", name, text), func() bool {
		var err error
		if last, err = p.Output(t.Context(), name, 0); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(last, text)
	}, func() string { return last })
}
