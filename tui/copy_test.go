package tui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/state"
)

// copied copies the first menu row that matches a search, and returns the clipboard text.
func (s *stage) copied(search string) string {
	s.t.Helper()
	s.press("y")
	s.typeIn(search)
	s.press("enter")
	e, ok := effectOf[feed.Copy](s)
	if !ok {
		s.t.Fatalf("%q copies nothing:\n%s", search, s.text())
	}
	return e.Text
}

func TestCopyFromAnAgent(t *testing.T) {
	s := demo(t, 120, 40)
	s.change(func(n *city.Snapshot) { n.Path = "/srv/bright lights" })
	s.choose("builder")
	for search, want := range map[string]string{
		"":        "builder",
		"pid":     "4117",
		"session": "builder-1",
		"folder":  "/srv/bright-lights",
		"attach":  "gcity agent attach builder --city '/srv/bright lights'",
	} {
		if got := s.copied(search); got != want {
			t.Errorf("%q copies %q, want %q", search, got, want)
		}
	}
	s.shows("copied: ")
	s.press("space", "space")
	if got := s.copied(""); got != "builder\nchatty" {
		t.Errorf("copied from several agents: %q, want their names", got)
	}
}

func TestCopyFromOtherThings(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(withAutomations)
	s.pick("triage")
	if got := s.copied("output"); !strings.Contains(got, "giving up\n") && !strings.HasSuffix(got, "giving up") {
		t.Errorf("copied from a pool's check: %q", got)
	}
	s.point("prune-branches")
	if got := s.copied("file"); got == "" {
		t.Error("the file of an automation is not copied")
	}
	s.press("5", "G")
	var e struct{ Type string }
	if err := json.Unmarshal([]byte(s.copied("json")), &e); err != nil || e.Type == "" {
		t.Errorf("an event's JSON: %v", err)
	}
	s.press("b")
	s.find(someWork(), "")
	if got := s.copied("id"); got != someWork()[0].ID && !strings.HasPrefix(got, "gc-") {
		t.Errorf("a bead's id is %q", got)
	}
}

// Copied text must not contain control characters, because users paste it into a terminal (L12).
func TestCopiesAreSafe(t *testing.T) {
	s := demo(t, 120, 40)
	s.agent("builder", func(a *city.Agent) { a.Command = "echo \x1b[201~\x03\u202erm -rf ~\nline two" })
	s.choose("builder")
	for _, c := range state.Copies(s.m) {
		if c.What == "command" && c.Text != "echo rm -rf ~\nline two" {
			t.Errorf("the command is copied as %q", c.Text)
		}
		if strings.ContainsAny(strings.ReplaceAll(c.Text, "\n", ""), "\x1b\x03\u202e") {
			t.Errorf("%s is copied with control characters: %q", c.What, c.Text)
		}
	}
	s.agent("builder", func(a *city.Agent) { a.Dir = "/" + strings.Repeat("x", actions.MaxCopy) })
	s.press("y")
	s.typeIn("folder")
	s.press("enter")
	if _, ok := effectOf[feed.Copy](s); ok {
		t.Error("more text is copied than a terminal accepts")
	}
	s.shows("too long for a terminal's clipboard: 74 KB, but the limit is 73 KB")
	s.press("y")
	s.typeIn("copy again")
	s.press("enter")
	if e, ok := effectOf[feed.Copy](s); !ok || !e.Program || len(e.Text) != actions.MaxCopy+1 {
		t.Error("a clipboard program does not get text that is too long for a terminal")
	}
}

// Over SSH no clipboard program runs, because it would set another machine's clipboard.
func TestNoProgramOverSSH(t *testing.T) {
	s := newStage(t, Options{OverSSH: true})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	s.copied("")
	s.press("y")
	s.typeIn("copy again")
	s.shows("not on yours")
	s.press("enter")
	if _, ok := effectOf[feed.Copy](s); ok {
		t.Error("the clipboard program runs over SSH")
	}
}

func TestClipboardSequence(t *testing.T) {
	text := base64.StdEncoding.EncodeToString([]byte("größer"))
	if got := feed.ClipboardSequence("größer", feed.EnvLookup(nil)); got != "\x1b]52;c;"+text+"\x07" {
		t.Errorf("%q", got)
	}
	inTmux := feed.EnvLookup([]string{"TMUX=/tmp/tmux-0/default,1,0", "STY=1.pts-0.host"})
	if got := feed.ClipboardSequence("x", inTmux); !strings.HasPrefix(got, "\x1b]52;c;eA==\x07\x1bPtmux;\x1b\x1b]52;c;eA==\x07") {
		t.Errorf("in tmux: %q", got)
	}
	inScreen := feed.EnvLookup([]string{"STY=1.pts-0.host"})
	if got := feed.ClipboardSequence("x", inScreen); got != "\x1bP\x1b]52;c;eA==\x07\x1b\\" {
		t.Errorf("in GNU screen: %q", got)
	}
	for _, part := range strings.Split(feed.ClipboardSequence(strings.Repeat("x", 2000), inScreen), "\x1b\\") {
		if len(part) > 700 {
			t.Errorf("in GNU screen: a string of %d bytes", len(part))
		}
	}
}

// If the clipboard program is missing or fails, a message says so.
func TestClipboardProgram(t *testing.T) {
	dir := t.TempDir()
	got := filepath.Join(dir, "got")
	put := func(script string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "wl-copy"), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":/bin:/usr/bin")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run := func() feed.Result {
		t.Helper()
		r := &feed.Runner{Ctx: ctx, Mailbox: feed.NewMailbox(), Getenv: feed.EnvLookup([]string{"WAYLAND_DISPLAY=wayland-0"}), Fail: cancel}
		r.Start(feed.Copy{ID: 7, What: "name", Text: "builder\nidle"})
		r.Goroutines.Wait()
		n, _ := r.Mailbox.Take(time.Now())
		if len(n.Results) != 1 || n.Results[0].ID != 7 {
			t.Fatalf("results %+v", n.Results)
		}
		return n.Results[0]
	}
	put("cat >" + got + "\n(sleep 300 >&- 2>&- <&-) &") // the program keeps running in the background
	if r := run(); len(r.Receipts) != 1 || r.Receipts[0] != "copied the name with wl-copy" {
		t.Errorf("%+v", r)
	}
	if b, err := os.ReadFile(got); err != nil || string(b) != "builder\nidle" {
		t.Errorf("the program got %q, %v", b, err)
	}
	put("echo no compositor >&2; exit 1")
	if r := run(); len(r.Failures) != 1 || !strings.Contains(r.Failures[0], "cannot copy the name: wl-copy: no compositor") {
		t.Errorf("%+v", r)
	}
	t.Setenv("PATH", t.TempDir())
	if r := run(); len(r.Failures) != 1 || !strings.Contains(r.Failures[0], "wl-copy is not installed") {
		t.Errorf("%+v", r)
	}
}

func TestVerbsMenu(t *testing.T) {
	s := pooled(t, 120, 40)
	s.change(withAutomations)
	s.choose("scout")
	s.press("x")
	s.shows("Actions for scout", "restart the agent", " asks ", "kill or stop", "copy from the selection")
	s.hides("mark the row", "go to Agents", "fire the automation")
	s.typeIn("drain:")
	s.shows("scout is quarantined, so there is nothing to drain")
	s.press("esc", "x")
	s.typeIn("restart")
	s.press("enter")
	s.shows("Restart scout?")
	s.press("esc")
	s.pick("worker")
	s.press("x")
	s.shows("Actions for pool worker", "set the pool's size", "suspend the agent or the pool", "restart the agent or the pool")
	s.hides("kill or stop")
	s.press("esc", "4", "x")
	s.shows("fire the automation now")
	s.press("esc", "5", "x")
	s.shows("show the whole event")
	s.press("esc", "b")
	s.find(someWork(), "")
	s.press("x")
	s.shows("Actions for gc-", "add a bead", "close the bead")
	s.typeIn("close the bead")
	s.press("enter")
	s.shows("Close gc-")
	r := newStage(t, Options{Mode: state.ReadOnly})
	r.size(120, 40)
	r.hear(feed.News{Snap: demoSnapshot(epoch)})
	r.press("x")
	r.hides("restart the agent", "work in the agent's terminal")
	r.shows("show the agent")
}
