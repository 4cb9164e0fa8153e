package verb

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"gcity/city"
)

// The table has exactly one row per command.
func TestTableIsComplete(t *testing.T) {
	commands := map[string]bool{}
	for _, v := range All() {
		commands[v.Name] = true
	}
	for name, typ := range declared(t) {
		if !commands[name] {
			t.Errorf("no verb for city.%s", typ)
		}
		delete(commands, name)
	}
	for name := range commands {
		t.Errorf("no command of package city for the verb %q", name)
	}
}

func declared(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || fn.Name.Name != "Verb" {
				continue
			}
			lit := fn.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
			out[strings.Trim(lit.Value, `"`)] = fn.Recv.List[0].Type.(*ast.Ident).Name
		}
	}
	if len(out) < 20 {
		t.Fatalf("got only these verbs: %v", out)
	}
	return out
}

// No two rows have the same name, path or word.
func TestRowsAreDistinct(t *testing.T) {
	names, parts := map[string]bool{}, map[string]bool{}
	once := func(seen map[string]bool, key string) {
		if seen[key] {
			t.Errorf("%s is a duplicate", key)
		}
		seen[key] = true
	}
	for _, v := range All() {
		target := "x"
		if v.Noun == City {
			target = ""
		}
		once(names, v.Name+" "+target)
		for _, part := range v.Parts() {
			once(parts, string(v.Noun)+"/"+part)
			if got, ok := At(v.Noun, part); !ok || got.Name != v.Name {
				t.Errorf("%s: got %q for its path", v.Name, got.Name)
			}
		}
		c, err := v.Command(target)
		if e, ok := errors.AsType[*city.Error](err); ok && e.Code == city.Invalid {
			continue // the command needs more than a target
		}
		if err != nil || c.Verb() != v.Name || c.Target() != target {
			t.Errorf("%s: %#v, %v", v.Name, c, err)
			continue
		}
		if got, ok := Of(c); !ok || got.Name != v.Name || got.Noun != v.Noun {
			t.Errorf("%s: got %q for its command", v.Name, got.Name)
		}
	}
}

// A verb with a generated command line needs nothing but a target.
func TestShellVerbsNeedNoMore(t *testing.T) {
	for _, v := range All() {
		if v.Shell.Short == "" {
			continue
		}
		if _, err := v.Command("x"); err != nil || v.Noun != Agent {
			t.Errorf("%s: got a command for %q: %v", v.Name, v.Noun, err)
		}
	}
}
