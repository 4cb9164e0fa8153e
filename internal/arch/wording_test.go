package arch

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	wordingFile = "testdata/wording.txt"
	wordingHead = `# Comments and strings with a marked expression (wording_test.go): PACKAGE COMMENTS STRINGS. A figure may only shrink.
# "make budgets" rewrites this file after a change. It refuses a list whose sums have grown.
`
	// maxMarked is the maximum number of marks per 1,000 comments or strings in an unlisted package.
	maxMarked = 5
	// A string with fewer words is not checked as a sentence.
	minWords = 5
)

// marked matches expressions that STYLE.md rules out. It finds only symptoms of unclear text.
var marked = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\b(who|whom|whoever|whose|nobody|somebody|anybody|everybody)\b`,
	`\b(told|tells?|hears? of|looks? on)\b`,
	`\b(anew|begun|just now|once more|all the same|whatever it|as it is so)\b`,
	`\b(is|are|that is) none\b|\bis no [a-z]+`,
	`\bbeside\b`,
	`^\s*(of|from|to|at) an? [^,]{0,60}\b(nobody|who|is|are)\b`,
}, "|"))

// legitimate matches correct uses of marked expressions.
var legitimate = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`\bis no longer\b`,
	`\b(users?|persons?|people|operators?|engineers?|readers?) (who|whom|whose)\b`,
	`\bwho (am i|is speaking)\b`,
	`\b(user|account|uid|owner) nobody\b|\bnobody:`, // the Unix account
}, "|"))

func isMarked(text string) bool { return marked.MatchString(legitimate.ReplaceAllString(text, " ")) }

type wording struct {
	comments, markedComments int
	strings, markedStrings   int
	sites                    []string // positions and beginnings of marked texts
}

func over(marked, all int) bool { return 1000*marked > maxMarked*all }

func measureWording(files []source) map[string]*wording {
	out := map[string]*wording{}
	for _, f := range files {
		dir := cmp.Or(f.dir, ".")
		w := out[dir]
		if w == nil {
			w = &wording{}
			out[dir] = w
		}
		for _, c := range f.tree.Comments {
			w.comments++
			if text := strings.Join(strings.Fields(c.Text()), " "); isMarked(text) {
				w.markedComments++
				w.note(f, c.Pos(), text)
			}
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			text, ok := sentence(n)
			if !ok {
				return true
			}
			if len(strings.Fields(text)) >= minWords {
				w.strings++
				if isMarked(text) {
					w.markedStrings++
					w.note(f, n.Pos(), text)
				}
			}
			return false
		})
	}
	return out
}

// sentence accepts literals that are joined by +.
func sentence(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(n.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := sentence(n.X)
		if !ok || n.Op != token.ADD {
			return "", false
		}
		right, ok := sentence(n.Y)
		return left + right, ok
	}
	return "", false
}

func (w *wording) note(f source, at token.Pos, text string) {
	w.sites = append(w.sites, fmt.Sprintf("%s: %.100s", f.fset.Position(at), text))
}

// TestWording fails if a package has more marked texts than the list allows. With -short, only the sums are compared,
// so that concurrent changes can move code.
func TestWording(t *testing.T) {
	text, err := os.ReadFile(wordingFile)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := parseWording(string(text))
	if err != nil {
		t.Fatal(err)
	}
	all := measureWording(sources(t))
	now := allowances(all)
	if grown := sum(now).minus(sum(listed)); grown.comments > 0 || grown.strings > 0 {
		t.Errorf("%d comments and %d strings more than allowed contain phrases to avoid",
			grown.comments, grown.strings)
		reportWording(t.Error, all, listed, now)
		return
	}
	if *update {
		if err := os.WriteFile(wordingFile, []byte(formatWording(now)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	report := t.Error
	if testing.Short() {
		report = t.Log
	}
	reportWording(report, all, listed, now)
}

func reportWording(report func(...any), all map[string]*wording, listed, now map[string]allowance) {
	for _, dir := range slices.Sorted(maps.Keys(now)) {
		if grown := now[dir].minus(listed[dir]); grown.comments > 0 || grown.strings > 0 {
			report(fmt.Sprintf("%s: %v marked comments and strings, the list allows %v:\n\t%s",
				dir, now[dir], listed[dir], strings.Join(all[dir].sites[:min(10, len(all[dir].sites))], "\n\t")))
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(listed)) {
		if fewer := listed[dir].minus(now[dir]); fewer.comments > 0 || fewer.strings > 0 {
			report(fmt.Sprintf("%s: the list allows more than the code needs; run \"make budgets\"", dir))
		}
	}
}

type allowance struct{ comments, strings int }

func (a allowance) minus(b allowance) allowance {
	return allowance{a.comments - b.comments, a.strings - b.strings}
}

func sum(all map[string]allowance) (s allowance) {
	for _, a := range all {
		s.comments += a.comments
		s.strings += a.strings
	}
	return s
}

func allowances(all map[string]*wording) map[string]allowance {
	out := map[string]allowance{}
	for dir, w := range all {
		var a allowance
		if over(w.markedComments, w.comments) {
			a.comments = w.markedComments
		}
		if over(w.markedStrings, w.strings) {
			a.strings = w.markedStrings
		}
		if a != (allowance{}) {
			out[dir] = a
		}
	}
	return out
}

func formatWording(all map[string]allowance) string {
	var b strings.Builder
	b.WriteString(wordingHead)
	for _, dir := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s %d %d\n", dir, all[dir].comments, all[dir].strings)
	}
	return b.String()
}

// After a merge, the larger of two entries counts.
func parseWording(text string) (map[string]allowance, error) {
	all := map[string]allowance{}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" || strings.ContainsAny(line[:1], "#<=>|") {
			continue
		}
		var dir string
		var a allowance
		if n, err := fmt.Sscan(line, &dir, &a.comments, &a.strings); err != nil || n != 3 {
			return nil, fmt.Errorf("%s: invalid line %q: write PACKAGE COMMENTS STRINGS", wordingFile, line)
		}
		all[dir] = allowance{max(all[dir].comments, a.comments), max(all[dir].strings, a.strings)}
	}
	return all, nil
}

func TestWordingIsMeasured(t *testing.T) {
	text := "// Package p tells nobody.\npackage p\n\n// user nobody\nconst a = `one two ` + \"three whoever five\"\n\n" +
		"const b = \"whoever\" // short\n\nvar c = f(\"this file is no longer read\", \"that is none of those\")\n"
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "x.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	w := measureWording([]source{{path: "p/x.go", dir: "p", fset: fset, tree: tree, text: text}})["p"]
	if w.comments != 3 || w.markedComments != 1 || w.strings != 3 || w.markedStrings != 2 || len(w.sites) != 3 {
		t.Errorf("%+v", *w)
	}
	all := map[string]allowance{"p": {1, 2}, "q/r": {0, 7}}
	again, err := parseWording(formatWording(all) + "<<<<<<< HEAD\np 0 1\n")
	if err != nil || !maps.Equal(again, all) {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := parseWording("p 1\n"); err == nil {
		t.Error("an incomplete line was accepted")
	}
}
