package pod

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/pty"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(pty.Hold())
	}
	os.Exit(m.Run())
}

// A session that gcity-pod stops because the pod is terminating is lost. It counts as stopped on request if the helper
// has requested a stop.
func TestTermination(t *testing.T) {
	city := t.TempDir()
	holders, err := pty.New(pty.Options{City: city, Binary: os.Args[0]})
	if err != nil {
		t.Fatal(err)
	}
	defer holders.Close()
	p := newProvider(holders)
	for _, name := range []string{"terminated", "requested"} {
		s := session.Spec{Name: name, Agent: name, City: city, Dir: city, ID: name, Command: "exec cat",
			Cols: 80, Rows: 24}
		if _, err := p.Start(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Stop(t.Context(), "requested", time.Minute); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"terminated", "requested"} {
		if err := p.terminate(t.Context(), name, time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	check := func(x session.Exit) {
		t.Helper()
		if lost := x.Name == "terminated"; x.Lost != lost || x.Asked == lost || lost != (x.Reason == "its pod was terminated") {
			t.Errorf("%+v", x)
		}
	}
	for range 2 {
		check(eventually.Receive(t, "an exit", p.Exits()))
	}
	all, err := p.List(t.Context())
	if err != nil || len(all) != 2 {
		t.Fatalf("got %+v, %v", all, err)
	}
	for _, st := range all {
		check(*st.Exit)
	}
}

// Configured variables override the container's environment.
func TestEnviron(t *testing.T) {
	got := environ(
		[]string{"PATH=/opt/tools", "HOME=/home/agent", "LANG=C"},
		[]string{"GC_AGENT=a", "LANG=en_GB.UTF-8", "TERM=dumb"},
	)
	want := []string{
		"GC_AGENT=a", "HOME=/home/agent", "LANG=en_GB.UTF-8", "PATH=/gcity/bin:/opt/tools", "TERM=dumb",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := environ(nil, nil); !slices.Contains(got, "TERM=xterm-256color") {
		t.Errorf("want TERM in %q", got)
	}
}

// An agent that is killed because memory ran out has not crashed.
func TestOOM(t *testing.T) {
	v1 := "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"
	v2 := "low 0\nhigh 0\nmax 31\noom 1\noom_kill 1\noom_group_kill 0\n"
	if a, b, c := oomKillsIn(v1), oomKillsIn(v2), oomKillsIn(""); a != 2 || b != 1 || c != 0 {
		t.Errorf("%d, %d, %d kills, want 2, 1, 0", a, b, c)
	}
	killed := session.Exit{Code: -1, Signal: "SIGKILL"}
	if x := explained(killed, 1); !x.Lost || !strings.Contains(x.Reason, "OOMKilled") {
		t.Errorf("%+v", x)
	}
	asked := session.Exit{Code: -1, Signal: "SIGKILL", Asked: true}
	if x := explained(killed, 0); x != killed {
		t.Errorf("without a kill: got %+v", x)
	}
	if x := explained(asked, 1); x != asked {
		t.Errorf("asked: %+v", x)
	}
}
