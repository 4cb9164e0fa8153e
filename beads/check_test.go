package beads

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gcity/internal/screen"
)

// A screen shows every valid character unchanged.
func TestHiddenCharactersAreRejected(t *testing.T) {
	const many = 1 << 8 // number of characters per check, because single checks are slow
	for first := rune(0); first <= utf8.MaxRune; first += many {
		var all strings.Builder
		for r := first; r < first+many; r++ {
			if utf8.ValidRune(r) && !hidden(r) && r != 0xfe0f { // U+FE0F only selects the emoji form of a character
				all.WriteString("a" + string(r) + "b")
			}
		}
		shown := screen.Plain(all.String())
		for _, r := range all.String() {
			if shown != all.String() && !strings.ContainsRune(shown, r) {
				t.Fatalf("valid character %U: shown as %q", r, screen.Plain("a"+string(r)+"b"))
			}
		}
	}
	for _, r := range "\x00\x1b\x7f\u0085\u00ad\u200b\u202e\u2028\u2066\ufeff\u3164\U000e0041" {
		if err := checkText("x", "a"+string(r), 100); err == nil {
			t.Errorf("%U is valid", r)
		}
	}
}

func TestErrorsAreReadable(t *testing.T) {
	for want, b := range map[string]Bead{
		"the bead: its title is empty: describe in one line what is to be done":                                                       {},
		"the bead: its title has 501 bytes, but at most 500 are allowed":                                                              {Title: strings.Repeat("x", 501)},
		"the bead: its title contains the character U+001B, which is invisible or hides other characters, in line 1: remove it":       {Title: "a\x1b"},
		"the bead: its description contains the character U+202E, which is invisible or hides other characters, in line 3: remove it": {Title: "a", Description: "a\n\n\u202e"},
		`the bead: its label "a,b" has a comma, which separates labels: use two labels`:                                               {Title: "a", Labels: []string{"a,b"}},
		`the bead: its status is "done": use open, in_progress or closed`:                                                             {Title: "a", Status: "done"},
		"the bead: its priority is 6: use 0 (most urgent) to 4":                                                                       {Title: "a", Priority: 4},
		`the bead: its type is "Bug fix": use lower-case letters, digits, - and _, starting with a letter`:                            {Title: "a", Type: "Bug fix"},
		`the bead: its needs "a b" is not a valid id: use letters, digits, ".", "_" and "-", starting with a letter or digit`:         {Title: "a", Needs: []string{"a b"}},
		"the bead: its needs name the bead itself":                                                                                    {ID: "gc-1", Title: "a", Needs: []string{"gc-1"}},
		`the bead: its metadata "k" is not valid UTF-8 in line 2`:                                                                     {Title: "a", Metadata: map[string]string{"k": "\n\xff"}},
	} {
		_, err := Prepare(b, noon)
		if err == nil || err.Error() != want {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	_, err := NewBatch([]Bead{{Title: "a"}, {Title: "b", Needs: []string{"$c"}}})
	if err == nil || err.Error() != `bead 2 of 2: its link "$c" names a bead that is not in the batch` {
		t.Error(err)
	}
	_, err = NewBatch([]Bead{{ID: "$a", Title: "a", Needs: []string{"$b"}}, {ID: "$b", Title: "b", Needs: []string{"$c"}}, {ID: "$c", Title: "c", Needs: []string{"$b"}}})
	if err == nil || err.Error() != "the batch: its links form a cycle: $b → $c → $b" {
		t.Error(err)
	}
}

func TestLimits(t *testing.T) {
	many := func(n int, f string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf(f, i))
		}
		return all
	}
	meta := func(n, size int) map[string]string {
		m := map[string]string{}
		for i := range n {
			m[fmt.Sprint(i)] = strings.Repeat("x", size)
		}
		return m
	}
	most := Bead{Title: strings.Repeat("x", MaxTitle), Assignee: strings.Repeat("x", MaxWord), Labels: many(MaxLabels, "l%d"), Needs: many(MaxNeeds, "gc-%d"),
		Description: strings.Repeat("x", MaxText), Metadata: meta(MaxMetadata, 1000)}
	if _, err := Prepare(most, noon); err != nil {
		t.Error(err)
	}
	for what, over := range map[string]func(*Bead){
		"title":    func(b *Bead) { b.Title += "x" },
		"assignee": func(b *Bead) { b.Assignee += "x" },
		"label":    func(b *Bead) { b.Labels[0] = strings.Repeat("x", MaxWord+1) },
		"labels":   func(b *Bead) { b.Labels = many(MaxLabels+1, "l%d") },
		"needs":    func(b *Bead) { b.Needs = many(MaxNeeds+1, "gc-%d") },
		"text":     func(b *Bead) { b.Description += "x" },
		"keys":     func(b *Bead) { b.Metadata = meta(MaxMetadata+1, 1) },
		"value":    func(b *Bead) { b.Metadata["0"] = strings.Repeat("x", MaxValue+1) },
		"values":   func(b *Bead) { b.Metadata = meta(5, MaxValue) },
		"id":       func(b *Bead) { b.ID = strings.Repeat("x", 129) },
	} {
		b := most.Clone()
		over(&b)
		var i *Invalid
		if _, err := Prepare(b, noon); !errors.As(err, &i) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestPrefix(t *testing.T) {
	for prefix, want := range map[string]bool{
		"gc": true, "mission-house": true, "a.b_c": true, "7": true, "": false, "-a": false, "a b": false, "a/b": false, "é": false, strings.Repeat("x", 33): false,
	} {
		if err := CheckPrefix(prefix); (err == nil) != want {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

// Normalizing a normalized bead does not change it, so imports are idempotent.
func FuzzNormalize(f *testing.F) {
	f.Add(" title ", "de\r\nscription", "a, b", "gc-1", "key", "va\r\nlue", int64(1), 0)
	f.Add("\x1b[31m", "\u202e", "", "$x", "", "", int64(-1), 9)
	f.Fuzz(func(t *testing.T, title, description, label, need, key, value string, at int64, priority int) {
		b := normalize(Bead{Title: title, Description: description, Labels: []string{label, label, ""}, Needs: []string{need, need}, Assignee: label, Ref: key,
			Metadata: map[string]string{key: value, "empty": ""}, CreatedAt: time.Unix(0, at), UpdatedAt: time.Unix(0, at), Priority: Priority(priority)})
		again := normalize(b)
		if !again.Same(b) {
			t.Fatalf("%+v became %+v", b, again)
		}
		if Check(b) != nil {
			return
		}
		for _, s := range append([]string{b.Title, b.Assignee, b.Ref}, b.Labels...) {
			if screen.Plain(s) != s {
				t.Fatalf("%q was accepted, but is shown as %q", s, screen.Plain(s))
			}
		}
		for s := range maps.Values(b.Metadata) {
			if !utf8.ValidString(s) || strings.ContainsAny(s, "\x1b\x00\r") {
				t.Fatalf("%q was accepted", s)
			}
		}
	})
}
