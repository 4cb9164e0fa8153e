package formula

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gcity/internal/toml"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestProblems(t *testing.T) {
	const path = "testdata/problems.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, cases, _ := strings.Cut(string(data), "=== ")
	out := head
	for story := range strings.SplitSeq(cases, "=== ") {
		name, rest, _ := strings.Cut(story, "\n")
		text, want, _ := strings.Cut(rest, "---\n")
		got := said(text)
		if !*update && got != want {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
		}
		out += "=== " + name + "\n" + text + "---\n" + got
	}
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func said(text string) string {
	f, err := Parse("f.formula.toml", []byte(text))
	if err != nil {
		return err.Error() + "\n"
	}
	out := "ok\n"
	for _, w := range f.Warnings {
		out += "warning: " + w.String() + "\n"
	}
	return out
}

func TestTheFileIsAskedForByItsName(t *testing.T) {
	f, err := Parse("/x/other.formula.toml", []byte("formula = 'f'\n[[steps]]\nid='a'\ntitle='a'\n"))
	if err != nil || len(f.Warnings) != 1 || f.Warnings[0].Line != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestLimits(t *testing.T) {
	var steps, vars, chain strings.Builder
	steps.WriteString("formula='f'\n")
	vars.WriteString("formula='f'\n")
	chain.WriteString("formula='f'\n")
	for i := range MaxSteps + 1 {
		fmt.Fprintf(&steps, "[[steps]]\nid='s%d'\ntitle='x'\n", i)
	}
	for i := range MaxVars + 1 {
		fmt.Fprintf(&vars, "[vars.v%d]\n", i)
	}
	for i := range MaxSteps { // each step needs the next step, and the last step needs the first
		fmt.Fprintf(&chain, "[[steps]]\nid='s%d'\ntitle='x'\nneeds=['s%d']\n", i, (i+1)%MaxSteps)
	}
	for name, c := range map[string]struct{ text, want string }{
		"steps": {steps.String(), "f:3002:1: steps: is one step too many; the limit is 1000"},
		"vars":  {vars.String() + "[[steps]]\nid='a'\ntitle='a'\n", "f:102:1: vars.v100: is one variable too many; the limit is 100"},
		"chain": {chain.String(), "f:5:8: steps.needs: these steps wait for each other: s0 → s1 → s2"},
		"size":  {strings.Repeat("#", MaxSize+1), "f: the file is larger than 256 kB; is this the right file?"},
	} {
		if _, err := Parse("f", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %.120v, want %s", name, err, c.want)
		}
	}
}

const recipe = `formula = "mol"
description = "About {{what}} and {{other}}"
[vars.what]
required = true
description = "the thing"
[vars.how]
default = "slowly"
[vars.note]
[[steps]]
id = "a"
title = "Do {{what}} {{how}}{{note}}"
[[steps]]
id = "b"
title = "{{ what }}"
description = "{{what}} {{other}} {{ {{how}} }} {{how"
needs = ["a"]
`

func TestCook(t *testing.T) {
	f, err := Parse("mol.formula.toml", []byte(recipe))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Cook(f, map[string]string{"what": "the {{how}}\nwork"})
	if err != nil {
		t.Fatal(err)
	}
	want := Molecule{
		Root: Item{Ref: "mol", Title: "About the {{how}}", Description: "About the {{how}}\nwork and {{other}}"},
		Steps: []Item{
			{Ref: "a", Title: "Do the {{how}} work slowly"},
			{Ref: "b", Title: "the {{how}} work", Description: "the {{how}}\nwork {{other}} {{ slowly }} {{how", Needs: []string{"a"}},
		},
	}
	if fmt.Sprintf("%q", m) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", m, want)
	}
	m.Steps[1].Needs[0] = "changed"
	if f.Steps[1].Needs[0] != "a" {
		t.Error("the molecule shares memory with its formula")
	}
	if got := f.RequiredVars(); !slices.Equal(got, []string{"what"}) {
		t.Errorf("unmet: %v", got)
	}
}

func TestFormulasThatCannotBeCooked(t *testing.T) {
	f, err := Parse("mol.formula.toml", []byte(recipe))
	if err != nil {
		t.Fatal(err)
	}
	blank := &Formula{Name: "blank", Vars: []Var{{Name: "v"}}, Steps: []Step{{ID: "b", Title: "{{ v }}"}}}
	none := &Formula{Name: "none", Steps: []Step{{ID: "a", Title: "x"}}}
	long := strings.Repeat("x", MaxTitle)
	marks := &Formula{Name: "marks", Vars: []Var{{Name: "v"}}, Steps: []Step{{ID: "a", Title: "x", Description: strings.Repeat("{{v}}", 40_000)}}}
	wide := &Formula{Name: "wide", Vars: []Var{{Name: "v"}}}
	for range 30 {
		wide.Steps = append(wide.Steps, Step{ID: "a", Title: "x", Description: "{{v}}"})
	}
	for name, c := range map[string]struct {
		f    *Formula
		vars map[string]string
		want string
	}{
		"missing": {f, nil, "formula mol needs the variable what (the thing); give it a value: --var what=VALUE"},
		"unknown": {f, map[string]string{"what": "x", "waht": "y"}, `formula mol has no variable "waht"; did you mean "what"?`},
		"far off": {f, map[string]string{"what": "x", "zzzzzz": "y"}, `formula mol has no variable "zzzzzz"; its variables are what, how, note`},
		"no vars": {none, map[string]string{"a": "x"}, `formula none has no variables, so "a" cannot be set`},
		"empty":   {f, map[string]string{"what": " \n"}, "formula mol needs the variable what (the thing); give it a value: --var what=VALUE"},
		"blank":   {blank, map[string]string{"v": "\n"}, `formula blank: the title of step b, "{{ v }}", is empty with these variables`},
		"long":    {f, map[string]string{"what": long}, "formula mol: the title of step a has 510 bytes with these variables"},
		"NUL":     {f, map[string]string{"what": "x\x00"}, "formula mol: its description contains a NUL character"},
		"marks":   {marks, map[string]string{"v": strings.Repeat("x", 1000)}, "formula marks: the description of step a has 4"},
		"wide":    {wide, map[string]string{"v": strings.Repeat("x", 200<<10)}, "formula wide expands to more than 4 MB"},
	} {
		m, err := Cook(c.f, c.vars)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || len(m.Steps) > 0 {
			t.Errorf("%s: %d steps, %v; want %s", name, len(m.Steps), err, c.want)
		}
	}
}

// Arbitrary bytes cause no panic. A valid formula can be cooked, and the needs of its steps have no cycle.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/problems.txt")
	if err != nil {
		f.Fatal(err)
	}
	for story := range strings.SplitSeq(string(data), "=== ") {
		_, text, _ := strings.Cut(story, "\n")
		text, _, _ = strings.Cut(text, "---\n")
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Parse("f", data)
		if err != nil {
			var p toml.Problems
			if !errors.As(err, &p) || len(p) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		vars := map[string]string{}
		for _, v := range got.Vars {
			vars[v.Name] = "v"
		}
		m, err := Cook(got, vars)
		if err != nil {
			if !strings.Contains(err.Error(), "bytes with these") {
				t.Fatal(err)
			}
			return
		}
		done := map[string]bool{}
		for len(done) < len(m.Steps) {
			next := slices.IndexFunc(m.Steps, func(s Item) bool {
				return !done[s.Ref] && !slices.ContainsFunc(s.Needs, func(need string) bool { return !done[need] })
			})
			if next < 0 {
				t.Fatalf("only %d of %d steps can be done", len(done), len(m.Steps))
			}
			done[m.Steps[next].Ref] = true
		}
	})
}
