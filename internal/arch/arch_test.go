package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "gcity"

// doors maps each package to the packages that it may import. "main" is the root package. "session/*" stands for the
// packages below session. Each package below cli has its own entry.
//
// Keep doors the same as the table "Imports" in ARCHITECTURE.md.
var doors = map[string][]string{
	"main":        {"cli", "cli/quick", "session/*"},
	"cli":         {"*"},
	"controller":  {"controller/catalogue", "controller/effect", "controller/machine", "controller/memory", "controller/perform", "controller/pulse", "controller/step", "agent", "config", "config/edit", "city", "events", "beads", "session", "internal"},
	"supervisor":  {"city", "events", "beads", "restart", "internal"},
	"api":         {"city", "city/verb", "describe", "mail", "events", "beads", "internal"},
	"agent":       {"config", "session", "pool", "restart", "prompt"},
	"config":      {"config/files", "config/keys", "config/packmodel", "config/placeholder", "session", "pool", "formula", "automation", "restart", "prompt", "overlay", "hooks", "topology", "trust", "internal"},
	"config/edit": {"config", "config/files", "internal"},
	"migrate":     {"config", "config/files", "config/keys", "config/packmodel", "config/placeholder", "formula", "automation", "internal"},

	"tui":          {"tui/actions", "tui/feed", "tui/fleet", "tui/keymap", "tui/panel", "tui/state", "tui/details", "tui/terminal", "tui/view", "tui/widget", "city", "events", "themes", "internal"},
	"tui/actions":  {"tui/details", "tui/dialog", "tui/feed", "tui/fleet", "tui/keymap", "tui/palette", "tui/panel", "tui/state", "tui/terminal", "tui/widget", "city", "describe", "mail", "events", "beads", "themes", "internal"},
	"tui/details":  {"tui/fleet", "tui/panel", "tui/terminal", "tui/widget", "city", "describe", "themes", "internal"},
	"tui/dialog":   {"tui/keymap", "tui/widget", "city", "mail", "beads", "themes", "internal"},
	"tui/feed":     {"tui/fleet", "tui/keymap", "tui/panel", "tui/terminal", "tui/widget", "city", "describe", "mail", "events", "beads", "themes", "internal"},
	"tui/fleet":    {"tui/panel", "tui/widget", "city", "describe", "themes", "internal"},
	"tui/keymap":   {"internal"},
	"tui/palette":  {"tui/dialog", "tui/panel", "tui/widget", "internal"},
	"tui/panel":    {"tui/keymap", "tui/widget", "city", "describe", "mail", "events", "beads", "themes", "internal"},
	"tui/state":    {"tui/details", "tui/dialog", "tui/feed", "tui/fleet", "tui/keymap", "tui/palette", "tui/panel", "tui/terminal", "tui/widget", "city", "describe", "mail", "beads", "themes"},
	"tui/terminal": {"tui/widget", "city", "internal"},
	"tui/tuitest":  nil,
	"tui/view":     {"tui/actions", "tui/details", "tui/fleet", "tui/keymap", "tui/panel", "tui/state", "tui/terminal", "tui/widget", "city", "describe", "themes", "internal"},
	"tui/widget":   {"city", "describe", "themes", "internal"},

	"config/files": {"internal"},
	"config/keys":  {"automation", "formula", "session", "hooks", "topology", "internal"},
	"config/watch": {"config", "config/files", "automation", "formula", "internal"},

	"config/placeholder": {"internal"},
	"config/packmodel":   {"config/files", "internal"},
	"topology":           {"internal"},
	"trust":              {"internal"},
	"pool":               nil,
	"city":               {"mail", "events", "beads", "internal/recovery", "internal/suggest"},
	"city/verb":          {"city"},
	"describe":           {"city", "internal/span"},
	"city/*":             {"city", "mail", "events", "beads", "beads/*"},
	"mail":               {"beads", "internal"},
	"prompt":             nil,
	"watchdog":           nil,
	"overlay":            {"internal"},
	"hooks":              {"internal"},
	"formula":            {"internal"},
	"automation":         {"events", "formula", "internal"},
	"session/*":          {"session", "session/*", "internal"},
	"beads/*":            {"beads", "beads/*", "internal"},
	"events":             {"internal"},
	"events/*":           {"events", "internal"},
	"beads":              {"internal"},
	"session":            {"internal"},
	"restart":            {"internal/span"},
	"themes":             {"internal"},
	"prefs":              {"themes", "internal"},
	"internal":           {"internal"},
	"internal/recovery":  nil,
	"internal/suggest":   nil,
	"internal/span":      nil,

	"k8s":         {"session", "session/*", "internal"},
	"screenshots": {"tui", "api", "city", "events", "beads", "internal"},

	guardRoom: {"beads", "internal"},

	"controller/machine":   {"controller/attention", "controller/effect", "controller/lifecycle", "controller/outbox", "controller/pools", "controller/rollout", "controller/runs", "controller/step", "controller/tier", "controller/usage", guardRoom, "agent", "config", "city", "events", "beads", "session", "pool", "automation", "watchdog", "restart", "internal"},
	"controller/attention": {"controller/effect", "controller/step", "agent", "city", "events", "session", "internal/span"},
	"controller/outbox":    {"controller/effect", "controller/step", "city", "events", "session", "internal/span"},
	"controller/lifecycle": nil,
	"controller/pools":     {"controller/effect", "controller/rollout", "controller/step", "agent", "city", "events", "pool", "internal"},
	"controller/rollout":   {"controller/step", "city"},
	"controller/runs":      {"controller/describe", "controller/effect", "controller/step", "automation", "beads", "city", "events", "internal"},
	"controller/tier":      {"controller/effect", "controller/step", "city", "config", "events", "session", "watchdog", "internal"},
	"controller/step":      {"controller/effect", "beads", "city", "config", "events"},
	"controller/perform":   {"controller/effect", "controller/memory", "controller/preflight", guardRoom, "sling", "agent", "config", "config/edit", "city", "mail", "events", "beads", "session", "pool", "formula", "automation", "watchdog", "overlay", "hooks", "internal"},
	"controller/describe":  {"automation", "city", "internal"},
	"controller/preflight": {"agent", "session", "internal"},
	"controller/usage":     {"city", "session"},
	"controller/memory":    {"controller/effect", "city", "automation", "internal"},
	"controller/pulse":     {"controller/effect"},
	"controller/catalogue": {"config", "config/edit", "city", "events", "beads", "formula", "internal"},
	"controller/effect":    {guardRoom, "agent", "config", "city", "events", "beads", "session", "formula", "automation", "watchdog", "restart"},

	"controller/controllertest": {"controller", "agent", "beads", "beads/*", "city", "city/*", "config", "events", "session/*", "internal"},

	"sling": {"agent", "config", "city", "mail", "events", "beads", "formula", "internal"},

	"cli/agents":    {outside, "cli/depot", "cli/env", "cli/exit", "cli/folder", "cli/offline", "cli/output", "cli/sessions", "cli/workstore"},
	"cli/work":      {outside, "cli/depot", "cli/env", "cli/exit", "cli/folder", "cli/output", "cli/workstore"},
	"cli/doctor":    {outside, "cli/env", "cli/exit", "cli/fleet", "cli/folder", "cli/host", "cli/output", "cli/service", "cli/sessions", "cli/workstore"},
	"cli/fleet":     {outside, "cli/consent", "cli/env", "cli/exit", "cli/folder", "cli/host", "cli/offline", "cli/output", "cli/service"},
	"cli/host":      {outside, "cli/env", "cli/exit", "cli/folder", "cli/offline", "cli/output", "cli/service", "cli/sessions", "cli/workstore"},
	"cli/service":   {outside, "cli/env", "cli/exit", "cli/folder", "cli/output"},
	"cli/offline":   {outside, "cli/depot", "cli/env", "cli/exit", "cli/folder", "cli/output", "cli/sessions", "cli/workstore"},
	"cli/sessions":  {outside, "cli/env", "cli/folder", "cli/output", "cli/workstore"},
	"cli/depot":     {outside, "cli/env", "cli/exit", "cli/folder", "cli/output", "cli/workstore"},
	"cli/guide":     {outside, "cli/env", "cli/exit", "cli/output"},
	"cli/quick":     nil,
	"cli/consent":   {outside, "cli/env", "cli/folder", "cli/output"},
	"cli/env":       {outside, "cli/exit", "cli/folder", "cli/output", "cli/workstore"},
	"cli/workstore": {outside, "cli/exit", "cli/folder"},
	"cli/folder":    {outside, "cli/exit"},
	"cli/exit":      {"config", "trust", "city", "api", "beads", "controller", "supervisor", "internal/suggest"},
	"cli/output":    {"cli/exit", "city", "describe", "events", "internal"},
}

// libraries limits how many external modules a basic package may use. Modules of golang.org/x are not counted.
var libraries = map[string]int{"events": 1, "events/*": 1, "beads": 1, "beads/*": 1, "session": 1, "restart": 1, "pool": 1, "prompt": 1, "overlay": 1, "hooks": 1, "formula": 1, "automation": 1, "watchdog": 0, "describe": 0, "topology": 1, "themes": 1, "prefs": 1, "trust": 0, "internal": 2, "internal/recovery": 0, "internal/suggest": 0, "internal/span": 0}

// characters are the role names of well-known example cities. Roles are configuration, so the program must not contain
// these names.
var characters = []string{"mayor", "witness", "polecat", "deacon", "refinery"}

func TestDocumentedImports(t *testing.T) {
	foreign := map[string][]string{} // by folder
	for _, f := range sources(t) {
		from, ok := room(f.dir)
		if !ok {
			continue
		}
		if _, known := doors[from]; !known {
			t.Errorf("%s: ARCHITECTURE.md has no entry for %q", f.path, from)
			continue
		}
		for _, imp := range f.imports() {
			if !own(imp) {
				if lib := library(imp); lib != "" && !slices.Contains(foreign[f.dir], lib) {
					foreign[f.dir] = append(foreign[f.dir], lib)
				}
				continue
			}
			if to, _ := room(strings.TrimPrefix(strings.TrimPrefix(imp, module), "/")); !open(from, to) {
				t.Errorf("%s imports %s, but %s may not import %s", f.path, imp, from, to)
			}
		}
	}
	for dir, libs := range foreign {
		from, _ := room(dir)
		if most, basic := libraries[from]; basic && len(libs) > most {
			t.Errorf("%s uses %d libraries (%s), but a basic package may use at most %d", dir, len(libs), strings.Join(libs, ", "), most)
		}
	}
}

// Importing a package with a slow initialization would slow down every command. go.mod replaces the last two packages
// in the list.
func TestNoCostlyImports(t *testing.T) {
	costly := []string{"net/http/pprof", "expvar", "github.com/dustin/go-humanize", "github.com/atotto/clipboard"}
	for _, f := range sources(t) {
		for _, imp := range f.imports() {
			if slices.Contains(costly, imp) {
				t.Errorf("%s imports %s, which slows down the start of every command", f.path, imp)
			}
		}
	}
}

// Only internal/toml imports the TOML libraries.
func TestOneTOMLReader(t *testing.T) {
	for _, f := range sources(t) {
		for _, imp := range f.imports() {
			lib := library(imp)
			if f.dir != "internal/toml" && (lib == "github.com/BurntSushi/toml" || lib == "github.com/pelletier/go-toml") {
				t.Errorf("%s imports %s; use internal/toml", f.path, imp)
			}
		}
	}
}

func TestNoRoleNames(t *testing.T) {
	for _, f := range sources(t) {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(lit.Value); err == nil {
				if who := character(text); who != "" {
					t.Errorf("%s: the program contains %q, the name of a role",
						f.fset.Position(lit.Pos()), who)
				}
			}
			return true
		})
	}
}

// No package has an init function. It would run once per agent. Package quick is the exception.
func TestNoInit(t *testing.T) {
	for _, f := range sources(t) {
		if f.dir == "cli/quick" {
			continue
		}
		for _, d := range f.tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: every holder would run this func init", f.fset.Position(fn.Pos()))
			}
		}
	}
}

func TestRulesFindViolations(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     bool
	}{
		{"api", "controller", false}, {"tui", "api", false}, {"tui", "session", false}, {"controller", "session/*", false},
		{"main", "controller", false}, {"cli", "tui", true}, {"tui", "tui/widget", true}, {"tui/widget", "tui", false}, {"api", "tui/widget", false}, {"session/*", "session", true}, {"agent", "city", false},
		{"controller", "beads", true}, {"controller", "beads/*", false}, {"controller/perform", guardRoom, true}, {"controller", guardRoom, false}, {"controller/machine", "controller/perform", false}, {guardRoom, "beads/*", false}, {"beads", "beads/*", false},
		{"city", "beads/*", false}, {"city/*", "beads/*", true}, {"api", "city/*", false},
		{"automation", "formula", true}, {"formula", "automation", false}, {"automation", "config", false},
		{"city", "internal/recovery", true}, {"city", "internal", false}, {"api", "internal/recovery", true}, {"watchdog", "internal/recovery", false},
		{"internal/recovery", "internal", false},
		{"cli/doctor", "cli/host", true}, {"cli/host", "cli/doctor", false}, {"cli/host", "controller", true}, {"cli/env", "cli", false},
		{"cli/env", "internal/recovery", true}, {"cli/output", "cli/exit", true}, {"cli/exit", "cli/output", false}, {"cli/output", "cli", false},
	} {
		if got := open(c.from, c.to); got != c.want {
			t.Errorf("open(%q, %q) = %v", c.from, c.to, got)
		}
	}
	for text, want := range map[string]string{
		"the Mayor says": "mayor", "mayors": "", "x/witness-1": "witness", "unmayored": "", "": "",
	} {
		if got := character(text); got != want {
			t.Errorf("character(%q) = %q, want %q", text, got, want)
		}
	}
	for dir, want := range map[string]string{
		"": "main", "cli": "cli", "session": "session", "session/pty": "session/*", "beads/sqlite": "beads/*", "events/mirror": "events/*", "city": "city", "city/citytest": "city/*", "tui": "tui", "tui/widget": "tui/widget", "internal/disk": "internal", "internal/recovery": "internal/recovery", "api/wire": "api",
	} {
		if got, ok := room(dir); !ok || got != want {
			t.Errorf("room(%q) = %q, %v", dir, got, ok)
		}
	}
	if len(sources(t)) < 10 {
		t.Error("too few files were read; the walk is broken")
	}
}

// leaves are packages of internal. Some packages may import leaves but no other package of internal.
var leaves = []string{"internal/recovery", "internal/suggest", "internal/span"}

// guardRoom is a package that wraps any store through an interface. It imports no store.
const guardRoom = "beads/guard"

// outside allows the import of every package that does not belong to the command line.
const outside = "outside cli"

func room(dir string) (string, bool) {
	if slices.Contains(leaves, dir) || dir == guardRoom || dir == "city/verb" {
		return dir, true
	}
	first, rest, _ := strings.Cut(dir, "/")
	switch first {
	case "", ".":
		return "main", true
	case "examples", "docs":
		return "", false
	case "session", "beads", "city", "events":
		if rest != "" {
			return first + "/*", true
		}
	case "tui", "cli", "config", "controller":
		return dir, true
	}
	return first, true
}

func open(from, to string) bool {
	switch may := doors[from]; {
	case from == to || slices.Contains(may, to) || slices.Contains(may, "*"):
		return true
	case slices.Contains(leaves, to):
		return slices.Contains(may, "internal") || slices.Contains(may, outside)
	default:
		return slices.Contains(may, outside) && to != "cli" && !strings.HasPrefix(to, "cli/")
	}
}

func own(imp string) bool { return imp == module || strings.HasPrefix(imp, module+"/") }

// library returns "" for the standard library and golang.org/x. It assumes that a module path has three elements.
func library(imp string) string {
	parts := strings.Split(imp, "/")
	if !strings.Contains(parts[0], ".") || strings.HasPrefix(imp, "golang.org/x/") {
		return ""
	}
	return path.Join(parts[:min(3, len(parts))]...)
}

func character(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
	for _, w := range words {
		if slices.Contains(characters, w) {
			return w
		}
	}
	if strings.EqualFold(text, "boot") { // within a sentence, boot usually refers to a machine
		return "boot"
	}
	return ""
}

type source struct {
	path, dir string // relative to the module
	fset      *token.FileSet
	tree      *ast.File
	text      string
}

func (s source) imports() []string {
	var out []string
	for _, i := range s.tree.Imports {
		if p, err := strconv.Unquote(i.Path.Value); err == nil {
			out = append(out, p)
		}
	}
	return out
}

func sources(t *testing.T) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// parsed parses the module's files once for all tests, which must not change them.
var parsed = sync.OnceValues(func() (all []source, err error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, fmt.Errorf("this is not the module's folder: %w", err)
	}
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin" || name == "dist") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, p, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{path: rel, dir: strings.TrimSuffix(path.Dir(rel), "."), fset: fset, tree: tree,
			text: string(text)})
		return nil
	})
	return all, err
})
