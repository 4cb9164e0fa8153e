package sqlite

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"
	"time"

	"gcity/beads"
)

// The test binary also acts as another process. GCITY_BEADS_CHILD selects the task.
func TestMain(m *testing.M) {
	switch os.Getenv("GCITY_BEADS_CHILD") {
	case "":
		if err := flag.Set("rapid.checks", "30"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	case "create":
		childCreate(os.Args[1], os.Args[2], os.Args[3])
	case "batch":
		childBatch(os.Args[1], os.Args[2])
	case "edit":
		childEdit(os.Args[1], os.Args[2], os.Args[3])
	case "lock":
		childLock(os.Args[1], os.Args[2])
	}
}

func child(t testing.TB, what string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "GCITY_BEADS_CHILD="+what)
	c.Stderr = os.Stderr
	return c
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func childCreate(dir, name, n string) {
	count, err := strconv.Atoi(n)
	must(err)
	s, err := Open(dir, "gc")
	must(err)
	for i := range count {
		b, err := s.Create(context.Background(), beads.Bead{Title: fmt.Sprint(name, " ", i), Labels: []string{"by:" + name}})
		must(err)
		fmt.Println(b.ID)
	}
	must(s.Close())
}

func childBatch(dir, name string) {
	s, err := Open(dir, "gc")
	must(err)
	for {
		batch := []beads.Bead{{ID: "$root", Title: "root", Type: beads.TypeMolecule, Labels: []string{"by:" + name}}}
		for i := range 9 {
			batch = append(batch, beads.Bead{Title: fmt.Sprint("step ", i), ParentID: "$root", Description: strings.Repeat("x", 2000)})
		}
		made, err := s.CreateAll(context.Background(), batch)
		must(err)
		fmt.Println("made", made[0].ID)
		_, err = s.Update(context.Background(), made[0].ID, beads.Closing())
		must(err)
		fmt.Println("closed", made[0].ID)
	}
}

func childLock(dir, begin string) {
	s, err := Open(dir, "gc")
	must(err)
	db, err := pool(s.path, 1, "")
	must(err)
	_, err = db.Exec(begin)
	must(err)
	fmt.Println("locked")
	// Without cgo, the runtime would report an empty select as a deadlock.
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt)
	<-end
}

// Four processes never use an ID twice.
func TestSeveralProcesses(t *testing.T) {
	t.Parallel()
	const writers = 4
	each := 1000
	if testing.Short() {
		each = 100
	}
	at := t.TempDir()
	var children []*exec.Cmd
	said := make([]strings.Builder, writers)
	for w := range writers {
		c := child(t, "create", at, fmt.Sprint("w", w), strconv.Itoa(each))
		c.Stdout = &said[w]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, at)
	all, err := s.List(t.Context(), beads.Query{Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]string{}
	for _, b := range all {
		by[b.ID] = b.Labels[0]
	}
	if len(by) != writers*each || len(all) != writers*each {
		t.Errorf("%d beads of %d ids, want %d", len(all), len(by), writers*each)
	}
	for w := range writers {
		for id := range strings.FieldsSeq(said[w].String()) {
			if by[id] != fmt.Sprint("by:w", w) {
				t.Errorf("%s: created by writer %d, got the label %q", id, w, by[id])
			}
		}
	}
	for i := range writers * each {
		if id := fmt.Sprint("gc-", i+1); by[id] == "" {
			t.Errorf("no bead has the ID %s", id)
		}
	}
}

// Writers are killed at random times. All acknowledged writes are in the store, and all molecules are complete.
func TestKilledWriters(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	at := t.TempDir()
	made, closed := map[string]bool{}, map[string]bool{}
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		c := child(t, "batch", at, fmt.Sprint("w", round))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 2 + random.IntN(12); lines.Scan(); left-- {
			what, id, _ := strings.Cut(lines.Text(), " ")
			map[string]map[string]bool{"made": made, "closed": closed}[what][id] = true
			if left == 0 {
				if err := c.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = c.Wait()
	}
	s := open(t, at)
	if len(made) < rounds {
		t.Fatalf("too few beads were written: %v", made)
	}
	for id := range made {
		root, err := s.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if closed[id] && root.Status != beads.StatusClosed {
			t.Errorf("%s: closed, but got status %s", id, root.Status)
		}
	}
	roots, err := s.List(t.Context(), beads.Query{Type: beads.TypeMolecule, Limit: -1})
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for _, root := range roots {
		n, err := s.Count(t.Context(), beads.Query{Parent: root.ID})
		if err != nil || n != 9 {
			t.Errorf("%s: got %d steps, %v", root.ID, n, err)
		}
		steps += n
	}
	if n, err := s.Count(t.Context(), beads.Query{}); err != nil || n != steps+len(roots) {
		t.Errorf("got %d beads, %d of them in molecules, %v", n, steps+len(roots), err)
	}
}

func locked(t *testing.T, at, begin string) (release func()) {
	t.Helper()
	c := child(t, "lock", at, begin)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "locked\n" {
		t.Fatal(line, err)
	}
	return func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}
}
