package guide

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gcity/city"
	"gcity/cli/exit"
)

// pages are the pages in docs that `gcity help` does not show: the index, and a page for contributors.
var pages = map[string]bool{"README": true, "changing": true}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTopics(t *testing.T) {
	index := read(t, "../../docs/README.md")
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 20 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		if pages[name] {
			continue
		}
		topic, ok := Find(name)
		if !ok || !strings.Contains(index, "("+name+".md)") {
			t.Errorf("docs/%s.md is not a topic or not in docs/README.md", name)
			continue
		}
		if blocks := parse(topic.Text()); len(blocks) < 3 || topic.Title() == "" ||
			blocks[1].kind != paragraph {
			t.Errorf("docs/%s.md does not begin with a title and a paragraph", name)
		}
	}
	for _, topic := range Topics() {
		if topic.Text() == "" {
			t.Errorf("the topic %s has no page", topic.Name)
		}
	}
}

func TestLinks(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../README.md", "../../HACKING.md",
		"../../ARCHITECTURE.md") {
		text := read(t, file)
		for _, m := range regexp.MustCompile(`\]\(([^):]*\.md)?(#[^)]*)?\)`).
			FindAllStringSubmatch(text, -1) {
			target := text
			if m[1] != "" {
				path := filepath.Join(filepath.Dir(file), m[1])
				if _, err := os.Stat(path); err != nil {
					t.Errorf("%s: %v", file, err)
					continue
				}
				target = read(t, path)
			}
			if m[2] != "" && !anchors(target)[m[2]] {
				t.Errorf("%s: no heading matches %s%s", file, m[1], m[2])
			}
		}
	}
}

func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all["#"+strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}

func TestReferencesAreComplete(t *testing.T) {
	states, events := read(t, "../../docs/states.md"), read(t, "../../docs/events.md")
	for _, s := range []city.State{
		city.Waiting, city.Starting, city.Running, city.Draining, city.Stopping, city.Backoff,
		city.Quarantined,
		city.Suspended, city.Exited, city.Failed, city.Unknown,
	} {
		if !strings.Contains(states, "| `"+string(s)+"` |") {
			t.Errorf("docs/states.md does not name the state %s", s)
		}
	}
	for _, code := range []string{"0", "1", "2", "3", "4", "78"} {
		if !strings.Contains(states, "\n| "+code+" |") {
			t.Errorf("docs/states.md does not name the exit code %s", code)
		}
	}
	if exit.CodeConfig != 78 || exit.CodeConflict != 4 {
		t.Error("the exit codes in docs/states.md are out of date")
	}
	types := regexp.MustCompile(`(?m)^\s+[A-Z]\w+\s*= "([a-z]+\.[a-z_]+)"`).
		FindAllStringSubmatch(read(t, "../../events/event.go"), -1)
	if len(types) < 50 {
		t.Fatalf("found only %d event types", len(types))
	}
	for _, m := range types {
		if !strings.Contains(events, "`"+m[1]+"`") {
			t.Errorf("docs/events.md does not name %s", m[1])
		}
	}
}

// A page fits the terminal, contains no Markdown link syntax, and names the topics that it links to.
func TestTerminal(t *testing.T) {
	same := func(s string) string { return s }
	for _, topic := range Topics() {
		text := topic.Terminal(Style{Title: same, Code: func(s string) string {
			return "`" + s + "`"
		}, Block: func(s string) string { return "`" + s + "`" }, Width: 60})
		for line := range strings.Lines(text) {
			if strings.Contains(line, "](") && strings.Contains(line, ".md") {
				t.Errorf("%s: the link was not replaced in %q", topic.Name, line)
			}
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 60 &&
				!strings.Contains(line, "`") {
				t.Errorf("%s: %d columns: %q", topic.Name, n, line)
			}
		}
	}
	pools, _ := Find("pools")
	text := pools.Terminal(Style{Title: same, Code: same, Block: same, Width: 100})
	for _, want := range []string{"Pools\n\nA pool is a group", "    gcity pool list\n",
		"\n  0\n      the agent has been asked to finish\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("want %q in:\n%s", want, text)
		}
	}
}

func TestMan(t *testing.T) {
	pools, _ := Find("pools")
	page := pools.Man("1.2", func(s string) string { return s })
	for _, want := range []string{`.TH "GCITY\-POOLS" "7"`, "\n.SH DESCRIPTION\n.PP\nA pool is",
		"\n.SH Declare a pool\n.PP\n.EX\ngcity init\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("want %q in:\n%s", want, page)
		}
	}
}

// A link on words in mid-sentence does not interrupt the sentence.
func TestReferences(t *testing.T) {
	for text, want := range map[string]string{
		"See [pools.md](pools.md#x).":                   "See `gcity help pools`.",
		"gcity [holds](pools.md#x) it":                  "gcity holds it (see `gcity help pools`)",
		"gcity [holds](pools.md) it, or not. More.":     "gcity holds it (see `gcity help pools`), or not. More.",
		"It [holds](pools.md) (a, b) `x, y` it; or not": "It holds (a, b) `x, y` it (see `gcity help pools`); or not",
		"(a [pool](pools.md#x)) more":                   "(a pool; see `gcity help pools`) more",
		"a [pool](pools.md), [mail](mail.md) and [pools](pools.md) of [mail](mail.md).": "a pool (see `gcity help pools`), " +
			"mail and pools of mail (see `gcity help mail` and `gcity help pools`).",
		"[here](#there), [SECURITY](../SECURITY.md) and [a site](https://a.b/)": "here, SECURITY and a site (https://a.b/)",
		"`[not](pools.md)` a link": "`[not](pools.md)` a link",
	} {
		if got := inline(text); got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}
