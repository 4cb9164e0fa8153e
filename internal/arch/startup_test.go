package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// No package compiles a pattern or a template at startup, because that would slow down every command. Use
// sync.OnceValue.
func TestNothingIsCompiledAtStartup(t *testing.T) {
	for _, f := range sources(t) {
		for _, call := range compiled(f.tree) {
			t.Errorf("every start of the program calls %s: use sync.OnceValue",
				f.fset.Position(call.Pos()))
		}
	}
}

func TestCompilationAtStartupIsFound(t *testing.T) {
	const text = `package x
var a = regexp.MustCompile("a")
var b = sync.OnceValue(func() any { return regexp.MustCompile("b") })
var c = map[string]any{"c": template.Must(nil, nil)}
func f() { _ = regexp.MustCompile("d") }`
	tree, err := parser.ParseFile(token.NewFileSet(), "x.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(compiled(tree)); got != 2 {
		t.Errorf("got %d calls, want 2", got)
	}
}

func compiled(tree *ast.File) (found []*ast.CallExpr) {
	for _, d := range tree.Decls {
		vars, ok := d.(*ast.GenDecl)
		if !ok || vars.Tok != token.VAR {
			continue
		}
		ast.Inspect(vars, func(n ast.Node) bool {
			if _, later := n.(*ast.FuncLit); later {
				return false
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && (x.Name == "regexp" || x.Name == "template") {
					found = append(found, call)
				}
			}
			return true
		})
	}
	return found
}

// slowToStart lists packages that take long to initialize.
var slowToStart = []string{"encoding/xml", "html/template", "net/http/pprof"}

func TestNoPackageIsSlowToStart(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "gcity").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path := range strings.Lines(string(out)) {
		if path = strings.TrimSpace(path); slices.Contains(slowToStart, path) {
			t.Errorf("gcity contains %s, which slows down every start", path)
		}
	}
}
