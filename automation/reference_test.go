package automation

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The table of keys in docs is up to date with the table in the code.
func TestReferenceIsUpToDate(t *testing.T) {
	const path = "../docs/automations.md"
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(have), " -->\n")
	_, tail, ended := strings.Cut(rest, "<!-- end of keys -->")
	if !ok || !ended {
		t.Fatalf("%s has no markers for the table of keys", path)
	}
	want := head + " -->\n" + reference() + "<!-- end of keys -->" + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(have) != want {
		t.Errorf("%s is out of date; run: go test ./automation -update", path)
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString("| key | type | gate | default | meaning |\n|---|---|---|---|---|\n")
	for _, k := range table() {
		def, gate := k.def, string(k.gate)
		if def == "" {
			def = "–"
		}
		if gate == "" {
			gate = "all"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.name, k.kind, gate, def, k.doc)
	}
	return b.String()
}

// The examples on the page are valid automations.
func TestReferenceExamples(t *testing.T) {
	page, err := os.ReadFile("../docs/automations.md")
	if err != nil {
		t.Fatal(err)
	}
	gates := regexp.MustCompile(`(?m)^    gate = .*\n(    .*\n)*`).FindAllString(string(page), -1)
	if len(gates) != 5 {
		t.Errorf("got %d gates in the examples, want 5", len(gates))
	}
	for _, g := range gates {
		parse(t, "x", g+"exec = 'x'")
	}
	files := regexp.MustCompile(`(?s)\[automation\]\n.*?(?:    END|`+"```"+`)`).
		FindAllString(string(page), -1)
	if len(files) != 2 {
		t.Errorf("got %d files on the page, want 2", len(files))
	}
	for _, text := range files {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "    END"), "```")
		if _, err := Parse("/x/automation.toml", []byte(text), time.UTC); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}
