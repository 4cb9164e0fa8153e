package output

import (
	"bytes"
	"testing"

	"gcity/events"
)

// A list that is written in pieces has the same text as one that is written at once.
func TestJSONListLikeList(t *testing.T) {
	t.Parallel()
	for n := range 4 {
		var want, got bytes.Buffer
		all := []events.Event{{Seq: 1, Message: "<a>\n"}, {Seq: 2, Payload: []byte(`{"b":["c"]}`)}, {Seq: 3}}[:n]
		if err := (&Printer{Out: &want}).WriteJSON(ListOf(all)); err != nil {
			t.Fatal(err)
		}
		l := JSONList[events.Event]{Printer: &Printer{Out: &got}}
		for i := range all {
			if err := l.Add(all[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.End(true); err != nil || got.String() != want.String() {
			t.Errorf("got %s, want %s (%v)", &got, &want, err)
		}
	}
	var got bytes.Buffer
	l := JSONList[int]{Printer: &Printer{Out: &got}}
	if l.Add([]int{7, 8}) != nil || l.End(false) != nil || got.String() != "{\n  \"items\": [\n    7,\n    8\n  ]\n}\n" {
		t.Errorf("got %s", &got)
	}
}
