package pty

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session"
)

var (
	kills = flag.Int("kills", 15, "how often TestControllerKilled kills its controller")
	seed  = flag.Uint64("seed", 0, "replays TestControllerKilled; 0 = a new one, logged")
)

const killAgents = 8

// miniController is the child process of TestControllerKilled. It keeps its agents running, like a controller.
func miniController(city string) int {
	p, err := New(Options{City: city, Binary: os.Args[0]})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p.launcher.env = append(p.launcher.env, "GORACE=atexit_sleep_ms=0")
	ctx := context.Background()
	for {
		list, err := p.List(ctx)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		alive := map[string]bool{}
		for _, st := range list {
			alive[st.Name] = st.Alive
			if !st.Alive {
				p.Acknowledge(ctx, st.Name, st.ID)
			}
		}
		for i := range killAgents {
			name := "w-" + strconv.Itoa(i)
			if alive[name] {
				continue
			}
			id := fmt.Sprintf("%s-%d-%d", name, os.Getpid(), time.Now().UnixNano())
			p.Start(ctx, session.Spec{
				Name: name, Agent: name, City: city, ID: id, Dir: city, Command: "exec sleep 1000",
				Env: []string{"PATH=/usr/bin:/bin", "GC_SESSION_ID=" + id, "GC_TEST=" + city + "/" + name},
			})
		}
		select {
		case <-p.Exits():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// census returns the PIDs of a city's running agents by name.
func census(t *testing.T, city string) map[string][]int {
	t.Helper()
	pids, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][]int{}
	for i := range killAgents {
		name := "w-" + strconv.Itoa(i)
		for _, pid := range pids {
			if proc.HasEnv(proc.Environ(pid), "GC_TEST="+city+"/"+name, false) {
				if st, err := proc.ReadStat(pid); err == nil && st.State != 'Z' {
					found[name] = append(found[name], pid)
				}
			}
		}
		if len(found[name]) > 1 {
			t.Errorf("%s runs %d times: %v", name, len(found[name]), found[name])
		}
	}
	return found
}

// A controller is killed at any time, even during its starts. No agent ever runs twice (L11). The next controller
// adopts the running agents, with the same PIDs.
func TestControllerKilled(t *testing.T) {
	t.Parallel()
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-seed %d -kills %d", *seed, *kills)
	random := rand.New(rand.NewPCG(*seed, 0))
	city := t.TempDir()
	t.Cleanup(func() { endAll(t, newProvider(t, city)) }) // if the test fails before it stops them
	first := map[string]int{}
	longest := 60 * time.Millisecond // maximum lifetime of a controller
	for range *kills {
		cmd := exec.Command(os.Args[0], "mini-controller", city)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if random.IntN(2) == 0 { // then an agent must be restarted
			for name, pid := range first {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || !proc.WaitPid(pid, eventually.Timeout) {
					t.Fatalf("killing %d: %v", pid, err)
				}
				delete(first, name)
				break
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(longest)))) // the time of the kill is random; this is not a wait
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		now := census(t, city)
		for name, pid := range first {
			if len(now[name]) != 1 || now[name][0] != pid {
				t.Fatalf("%s was %d and is %v", name, pid, now[name])
			}
		}
		for name, pids := range now {
			first[name] = pids[0]
		}
		if len(first) == 0 { // on a busy machine the controllers were killed too early
			longest = min(2*longest, 5*time.Second)
		}
	}
	p := newProvider(t, city)
	list, err := p.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, st := range list {
		if st.Alive {
			seen[st.Name] = st.PID
		}
	}
	for name, pid := range first {
		if seen[name] != pid {
			t.Errorf("%s is %d and listed as %d", name, pid, seen[name])
		}
	}
	t.Logf("%d of %d agents were up", len(seen), killAgents)
	if len(seen) == 0 {
		t.Error("no agent ever came up: the test tried nothing")
	}
	endAll(t, p)
	if left := census(t, city); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
