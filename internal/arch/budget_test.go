package arch

import (
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "lower the numbers in testdata/budgets.txt")

const (
	budgetsFile = "testdata/budgets.txt"
	budgetsHead = `# What is over the budgets of measure_test.go, with its present figure. A figure may only shrink.
# "make budgets" rewrites this file after a change. It refuses a list whose excess, summed up for each kind, has grown.
# So code may take its figures along to another package, and nothing else grows.
`
)

// TestBudgets fails if a figure of the product code is over its budget and over its entry in the list. It also fails if
// an entry is larger than necessary. With -short, such an entry is only reported, so that concurrent changes do not
// break each other.
func TestBudgets(t *testing.T) {
	text, err := os.ReadFile(budgetsFile)
	if err != nil {
		t.Fatal(err)
	}
	listed, err := parseBudgets(string(text))
	if err != nil {
		t.Fatal(err)
	}
	now := measure(sources(t))
	if *update {
		if grown := grownKinds(listed, now); len(grown) > 0 {
			t.Fatalf("the list may only become shorter: %s", strings.Join(grown, ", "))
		}
		if err := os.WriteFile(budgetsFile, []byte(formatBudgets(now)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	grown, shrunk := compareBudgets(listed, now)
	for _, line := range grown {
		t.Error(line)
	}
	for _, line := range shrunk {
		if testing.Short() {
			t.Log(line)
		} else {
			t.Error(line)
		}
	}
	if len(grown) > 0 {
		t.Error(`make it smaller, or run "make budgets" if code has moved together with its figures`)
	}
}

func compareBudgets(listed, now map[subject]int) (grown, shrunk []string) {
	for _, s := range sorted(now) {
		if now[s] > listed[s] {
			grown = append(grown, fmt.Sprintf("%s is %d; the budget is %d and the list allows %d",
				s, now[s], budgets[s.kind], listed[s]))
		}
	}
	for _, s := range sorted(listed) {
		switch figure, over := now[s]; {
		case !over:
			shrunk = append(shrunk, fmt.Sprintf("%s: remove %q from the list", s, s.line(listed[s])))
		case figure < listed[s]:
			shrunk = append(shrunk, fmt.Sprintf("%s: replace its line in the list with %q", s, s.line(figure)))
		}
	}
	return grown, shrunk
}

func grownKinds(listed, now map[subject]int) (grown []string) {
	excess := map[string]int{}
	for s, figure := range now {
		excess[s.kind] += figure - budgets[s.kind]
	}
	for s, figure := range listed {
		excess[s.kind] -= figure - budgets[s.kind]
	}
	for _, kind := range slices.Sorted(maps.Keys(excess)) {
		if excess[kind] > 0 {
			grown = append(grown, fmt.Sprintf("the sum of %s has grown by %d", kind, excess[kind]))
		}
	}
	if len(grown) > 0 {
		lines, _ := compareBudgets(listed, now)
		grown = append(grown, lines...)
	}
	return grown
}

func (s subject) String() string { return strings.TrimSpace(s.dir + ": " + s.kind + " " + s.name) }

func (s subject) line(figure int) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %d", s.kind, s.name, figure)), " ")
}

func sorted(figures map[subject]int) []subject {
	return slices.SortedFunc(maps.Keys(figures), func(a, b subject) int {
		return strings.Compare(a.String(), b.String())
	})
}

// One paragraph per package lets git merge changes to different packages.
func formatBudgets(figures map[subject]int) string {
	var b strings.Builder
	b.WriteString(budgetsHead)
	dir := "\x00"
	for _, s := range sorted(figures) {
		if s.dir != dir {
			dir = s.dir
			fmt.Fprintf(&b, "\n%s/\n", dir)
		}
		fmt.Fprintf(&b, "\t%s\n", s.line(figures[s]))
	}
	return b.String()
}

// The larger of two entries counts. Merge conflict markers are skipped, because "make budgets" resolves conflicts.
func parseBudgets(text string) (map[subject]int, error) {
	figures := map[subject]int{}
	dir := ""
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || strings.ContainsAny(words[0][:1], "#<=>|"):
		case !strings.HasPrefix(line, "\t"):
			dir = strings.TrimSuffix(words[0], "/")
		default:
			figure, err := strconv.Atoi(words[len(words)-1])
			if _, known := budgets[words[0]]; !known || err != nil || len(words) > 3 || len(words) < 2 {
				return nil, fmt.Errorf("%s: invalid line %q: write KIND [NAME] FIGURE", budgetsFile, line)
			}
			s := subject{dir, words[0], strings.Join(words[1:len(words)-1], " ")}
			figures[s] = max(figures[s], figure)
		}
	}
	return figures, nil
}

func TestBudgetsAreMeasured(t *testing.T) {
	x := func(columns int) string { return strings.Repeat("x", columns) }
	text := "package p\n\nfunc f(a, b, c int, d, e, f string) {\n" + strings.Repeat("\n", 60) + "}\n" +
		"// " + x(117) + "\n// " + x(118) + "\n\t// " + x(114) + "\n" + // two lines are too wide
		"const s = `\n" + x(200) + "`\nconst w = \"" + x(90) + "\"\nvar v int // " + x(90) + "\n" + // two more wide lines
		"type big struct {\n\ta" + strings.Repeat(", a", 29) + " int\n\tint\n}\n"
	for i := range 61 {
		text += fmt.Sprintf("func (b *big) m%d() {}\n", i)
	}
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "x.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	got := measure([]source{{path: "p/x.go", dir: "p", fset: fset, tree: tree, text: text}})
	want := map[subject]int{
		{"p", "length", "f"}: 62, {"p", "parameters", "f"}: 6, {"p", "wide", ""}: 4, {"p", "fields", "big"}: 31,
		{"p", "methods", "big"}: 61,
	}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	again, err := parseBudgets(formatBudgets(want))
	if err != nil || !maps.Equal(again, want) {
		t.Errorf("%v, %v", again, err)
	}
}

func TestTheListOnlyShrinks(t *testing.T) {
	wide := func(dir string) subject { return subject{dir, "wide", ""} }
	listed := map[subject]int{wide("a"): 5, wide("b"): 5, {"a", "methods", "t"}: 80}
	for _, c := range []struct {
		now                   map[subject]int
		grown, shrunk, denied int
	}{
		{listed, 0, 0, 0},
		{map[subject]int{wide("a"): 6, wide("b"): 5, {"a", "methods", "t"}: 80}, 1, 0, 2},
		{map[subject]int{wide("a"): 4, {"a", "methods", "t"}: 79}, 0, 3, 0},
		{map[subject]int{wide("a"): 5, wide("c"): 5, {"c", "methods", "t"}: 80}, 2, 2, 0},
		{map[subject]int{wide("a"): 1, {"a", "methods", "t"}: 81}, 1, 2, 2},
	} {
		grown, shrunk := compareBudgets(listed, c.now)
		if len(grown) != c.grown || len(shrunk) != c.shrunk || len(grownKinds(listed, c.now)) != c.denied {
			t.Errorf("%v: got %q, %q, %q", c.now, grown, shrunk, grownKinds(listed, c.now))
		}
	}
}
