package toml

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

const sample = `# a file
name = "x"
[table]
flag = true
  number = 7
span = "90s"
"odd key" = ['a', "b"]
[table.deep]
text = """
one
two"""
[[step]]
id = "one"
[[step]]
id = "two"
needs = [
  "one", # first
  "none",
]
[[step.sub]]
x = { y = { z = "deep" } }
`

func TestValuesAndPositions(t *testing.T) {
	d := Read("f.toml", []byte(sample), 1<<16)
	root := d.Root()
	table, _ := root.Table("table")
	deep, _ := table.Table("deep")
	steps := root.Tables("step")
	if len(steps) != 2 || len(d.Problems()) > 0 {
		t.Fatalf("got %d steps, problems %v", len(steps), d.Problems())
	}
	sub := steps[1].Tables("sub")[0]
	x, _ := sub.Table("x")
	y, _ := x.Table("y")
	for _, c := range []struct {
		got, want any
		place     Place
		at        string
	}{
		{root.Text("name"), "x", root.Place("name"), "f.toml:2:8"},
		{table.Flag("flag", false), true, table.Place("flag"), "f.toml:4:8"},
		{table.Number("number", 0, 9), 7, table.Place("number"), "f.toml:5:12"},
		{table.Duration("span", 0), 90 * time.Second, table.Place("span"), "f.toml:6:8"},
		{strings.Join(table.Texts("odd key"), "+"), "a+b", table.Place("odd key"), "f.toml:7:13"},
		{deep.Text("text"), "one\ntwo", deep.Place(""), "f.toml:8:1"},
		{steps[0].Text("id"), "one", steps[0].Place("none"), "f.toml:12:1"},
		{strings.Join(steps[1].Texts("needs"), "+"), "one+none", steps[1].Place("needs"), "f.toml:16:9"},
		{y.Text("z"), "deep", y.Place("z"), "f.toml:21:17"},
		{table.Has("nothing"), false, root.Place("nothing"), "f.toml"},
		{table.Duration("nothing", time.Second), time.Second, sub.Place(""), "f.toml:20:1"},
	} {
		if c.got != c.want || c.place.String() != c.at {
			t.Errorf("got %v at %v, want %v at %s", c.got, c.place, c.want, c.at)
		}
	}
	if got := strings.Join(table.Keys(), " "); got != "flag number span odd key deep" {
		t.Errorf("the keys are not in the file's order: %s", got)
	}
}

// All invalid values are reported with their positions, in file order.
func TestInvalidValues(t *testing.T) {
	d := Read("f.toml", []byte(`a = 1
b = "x"
c = "5"
d = -1
e = [1]
f = "1 day"
g = 5
h = "9999h"
i = "a\u0000b"
j = {}
tabel = 1
list = [{ id = 1 }, 2]
k = "-5s"
`), 1<<16)
	r := d.Root()
	r.Text("a")
	r.Flag("b", true)
	r.Duration("c", 0)
	r.Number("d", 0, 10)
	r.Texts("e")
	r.Duration("f", 0)
	r.Duration("g", 0)
	r.Duration("h", 0)
	r.Text("i")
	r.Number("j", 0, 1)
	r.Tables("list")
	r.Duration("k", 0)
	r.Table("a")
	r.RejectUnknown("a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "list", "table")
	want := `f.toml:1:5: a: is a whole number; it must be a string: put it in quotes
f.toml:2:5: b: is a string; it must be true or false
f.toml:3:5: c: "5" has no unit; use "5s" for seconds or "5m" for minutes
f.toml:4:5: d: is -1; it must be from 0 to 10
f.toml:5:6: e: is a whole number; every item must be a string
f.toml:6:5: f: "1 day" is not a duration: the largest unit is h; a day is "24h"
f.toml:7:5: g: is a number without a unit; use "5s" for seconds
f.toml:8:5: h: "9999h" is too long; the maximum is one year, "8760h"
f.toml:9:5: i: contains a NUL character, which no program accepts; remove it
f.toml:10:5: j: is a table; it must be a whole number
f.toml:11:1: tabel: unknown key; did you mean "table"?
f.toml:12:8: list: is a list; each entry is a separate table: put [[list]] on a line of its own
f.toml:13:5: k: "-5s" is negative`
	if got := d.Problems().Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestInvalidTOML(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no value", "a =\n", "f.toml:1:4: a value is missing or invalid here; text must be in quotes, a boolean is true or false, and a list ends with ]"},
		{"no quotes", "a = hello\n", "f.toml:1:5: a value is missing or invalid here; text must be in quotes, a boolean is true or false, and a list ends with ]"},
		{"open string", "a = \"x\nb = 1\n", "f.toml:1:7: the closing quote is missing; put text with several lines between \"\"\" and \"\"\""},
		{"twice", "a = 1\na = 2\n", "f.toml:2:1: this key or table is defined twice"},
		{"NUL", "a = 1\nb\x00", "f.toml:2:2: contains a NUL byte; it is not a text file, or was not written completely"},
		{"deep", "a = " + strings.Repeat("[", 40), "f.toml:1:37: tables or lists are nested deeper than 32 levels"},
		{"deep by dots", "a = 1\n" + strings.Repeat("a.", 40) + "b = 1", "f.toml:2:66: tables or lists are nested deeper than 32 levels"},
		{"JSON", "\n[\n  {\"a\": 1}\n]\n", "f.toml:2:1: the file is JSON, but it must be TOML: name = \"value\" sets a key, and [name] begins a table"},
		{"large", strings.Repeat("# long\n", 1000), "f.toml: the file is larger than 4 kB; is this the right file?"},
		{"escape", "a = 1\n\x1b[31m", "f.toml:1:6: TOML files cannot contain control characters: '0x1b'"},
	} {
		d := Read("f.toml", []byte(c.text), 4<<10)
		if got := d.Problems().Error(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if d.Root().Has("a") {
			t.Errorf("%s: got values from an invalid file", c.name)
		}
	}
}

// Brackets and dots in strings and comments do not increase the nesting depth.
func TestNestingOutsideStrings(t *testing.T) {
	many := strings.Repeat("[.", 50)
	text := "a = \"" + many + "\\\"" + many + "\" # " + many + "\nb = '''\n" + many + "''" + many + "'''\nc = '" + many + "'\nd = \"\"\"" + many + "\"\"\"\n"
	d := Read("f.toml", []byte(text), 1<<16)
	if p := d.Problems(); len(p) > 0 || !d.Root().Has("d") {
		t.Errorf("%v", p)
	}
}

func TestByteOrderMarkAndCRLF(t *testing.T) {
	d := Read("f.toml", []byte("\xef\xbb\xbffirst = 1\r\nother = 2\r\n"), 1<<10)
	d.Root().RejectUnknown("first")
	if got := d.Problems().Error(); got != "f.toml:2:1: other: unknown key; use one of first" {
		t.Error(got)
	}
}

func TestLoadDoesNotBlock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := Load(path, "pipe", 100)
	if err != nil || d.Problems().Error() != "pipe: it is not a regular file" {
		t.Errorf("%v %v", d, err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "gone"), "gone", 100); !os.IsNotExist(err) {
		t.Errorf("a missing file: got %v", err)
	}
}

// Read does not panic. Every problem has a position inside the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(sample))
	f.Add(
		[]byte("a.b.c = [[1], [{x = 1}]]\n'q' = 1\n\"\\u0041\" = 2\n[[a.d]]\n[[a.d.e]]\n[a.d.f]\n"),
	)
	f.Add([]byte("a = { b = [\n{ c = 1 }, # x\n] }"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := Read("f", data, 1<<12)
		lines := 1 + bytes.Count(data, []byte("\n"))
		for _, p := range d.Problems() {
			if p.Line < 0 || p.Line > lines || p.Message == "" {
				t.Fatalf("got position %+v in a file of %d lines", p, lines)
			}
		}
		if len(d.Problems()) == 0 {
			standing(t, d.Root())
		}
	})
}

func standing(t *testing.T, table Table) {
	for _, key := range table.Keys() {
		at, ok := table.doc.places[below(table.path, key)]
		if !ok {
			t.Fatalf("%q in %q: got no position", key, table.path)
		}
		if rest := table.doc.data[at.key:]; !bytes.HasPrefix(rest, []byte(key)) &&
			!bytes.ContainsAny(rest[:1], "\"'[") {
			t.Fatalf("%q: the position is not at %q", key, rest)
		}
		switch table.values[key].(type) {
		case map[string]any:
			sub, _ := table.Table(key)
			standing(t, sub)
		case []map[string]any:
			for _, sub := range table.Tables(key) {
				standing(t, sub)
			}
		}
	}
}
