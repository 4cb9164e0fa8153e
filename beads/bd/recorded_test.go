package bd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gcity/beads"
	"gcity/beads/bd"
	"gcity/internal/shell"
)

var update = flag.Bool("update", false, "rewrite the parsed recordings")

// recording is one recorded call of bd 1.1.0. The calls are in order.
type recording struct {
	Args           []string
	Stdin          string
	Code           int
	Stdout, Stderr string
}

func recordings(t *testing.T) []recording {
	t.Helper()
	data, err := os.ReadFile("testdata/recorded.json")
	var all []recording
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil || len(all) < 20 {
		t.Fatalf("%d recordings, %v", len(all), err)
	}
	return all
}

func (r *recording) what() string {
	return strings.Join(r.Args[:min(3, len(r.Args))], " ")
}

func understood(t *testing.T, r *recording) string {
	t.Helper()
	all, err := bd.Understand(r.Args, shell.CallResult{Code: r.Code, Stdout: []byte(r.Stdout), Stderr: r.Stderr})
	switch {
	case errors.Is(err, beads.ErrNotFound):
		return "not found"
	case errors.Is(err, beads.ErrConflict):
		return "conflict"
	case err != nil:
		_, why, _ := strings.Cut(err.Error(), ": ")
		return "failed: " + why
	}
	var lines []string
	for _, b := range all {
		line := fmt.Sprintf("%s %s %s p%d %q", b.ID, b.Type, b.Status, b.Priority.Level(), b.Title)
		add := func(name, value string) {
			if value != "" {
				line += " " + name + "=" + value
			}
		}
		add("for", b.Assignee)
		add("in", b.ParentID)
		add("labels", strings.Join(b.Labels, ","))
		add("needs", strings.Join(b.Needs, ","))
		add("ref", b.Ref)
		for _, k := range slices.Sorted(func(yield func(string) bool) {
			for k := range b.Metadata {
				if !yield(k) {
					return
				}
			}
		}) {
			add(k, b.Metadata[k])
		}
		if b.Description != "" {
			line += fmt.Sprintf(" %q", b.Description)
		}
		if b.ClosedAt != nil {
			line += " closed"
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// The store can parse all recorded output of bd.
func TestRecordings(t *testing.T) {
	var got strings.Builder
	for _, r := range recordings(t) {
		if op := r.Args[0]; op == "init" || op == "config" || op == "dep" || op == "delete" {
			continue
		}
		fmt.Fprintf(&got, "== %s (exit %d)\n%s\n", r.what(), r.Code, understood(t, &r))
	}
	const golden = "testdata/understood.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// For the same calls, the simulated tool behaves like bd.
func TestSimulatedToolMatchesBd(t *testing.T) {
	with(t, "")
	city := t.TempDir()
	t.Setenv("SECRET", "")
	t.Setenv("BEADS_DIR", filepath.Join(city, ".beads"))
	t.Setenv("BD_JSON_ENVELOPE", "1")
	ids := strings.NewReplacer()
	var known []string
	for _, r := range recordings(t) {
		if r.Args[0] == "ready" { // the store computes the ready beads itself
			continue
		}
		args := make([]string, len(r.Args))
		for i, a := range r.Args {
			args[i] = ids.Replace(a)
		}
		cmd := exec.Command("bd", args...)
		var out, complaint bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(r.Stdin), &out, &complaint
		if err := cmd.Run(); cmd.ProcessState == nil {
			t.Fatal(err)
		}
		played := recording{Args: args, Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: complaint.String()}
		if played.Code != r.Code {
			t.Errorf("%s: got exit %d, bd %d: %s%s", r.what(), played.Code, r.Code, played.Stdout, played.Stderr)
			continue
		}
		if op := r.Args[0]; op == "init" || op == "config" || op == "dep" || op == "delete" {
			continue
		}
		if r.Args[0] == "create" && r.Code == 0 { // replace longer IDs first, because they can contain shorter IDs
			known = append(known, made(t, &r), made(t, &played))
			for i := len(known) - 2; i > 0 && len(known[i]) > len(known[i-2]); i -= 2 {
				known[i], known[i+1], known[i-2], known[i-1] = known[i-2], known[i-1], known[i], known[i+1]
			}
			ids = strings.NewReplacer(known...)
		}
		want, got := ids.Replace(understood(t, &r)), understood(t, &played)
		if strings.HasPrefix(want, "failed: ") && strings.HasPrefix(got, "failed: ") {
			continue // error texts can differ
		}
		if diff := cmp.Diff(sortedLines(want), sortedLines(got)); diff != "" {
			t.Errorf("%s: the simulated tool differs from bd:\n%s", r.what(), diff)
		}
	}
}

func sortedLines(text string) []string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return lines
}

func made(t *testing.T, r *recording) string {
	t.Helper()
	all, err := bd.Understand(r.Args, shell.CallResult{Stdout: []byte(r.Stdout), Stderr: r.Stderr})
	if err != nil || len(all) != 1 {
		t.Fatalf("%s: %+v, %v", r.what(), all, err)
	}
	return all[0].ID
}
