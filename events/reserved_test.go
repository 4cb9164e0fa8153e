package events

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestOwnTypesAreReserved(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found, types := 0, Types()
	ast.Inspect(file, func(n ast.Node) bool {
		if decl, ok := n.(*ast.ValueSpec); ok && len(decl.Values) == 1 && ast.IsExported(decl.Names[0].Name) {
			if lit, ok := decl.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				kind, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				found++
				if Reserved(kind) == nil {
					t.Errorf("%s is not reserved", kind)
				}
				if !slices.Contains(types, kind) {
					t.Errorf("Types does not return %s", kind)
				}
			}
		}
		return true
	})
	if found < 40 {
		t.Errorf("found only %d types", found)
	}
	for _, kind := range []string{"deploy.done", "agents.met", "x", "my/agent.done"} {
		if err := Reserved(kind); err != nil {
			t.Error(err)
		}
	}
	for _, kind := range []string{"agent.quarantined", "AGENT.done", "agent", "mail.x.y"} {
		if err := Reserved(kind); err == nil || !strings.Contains(err.Error(), "controller, events, mail") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
