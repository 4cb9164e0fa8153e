package city_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"gcity/city"
	"gcity/events"
)

// A decoded time with an offset has its own location, so == reports a difference between equal cities.
func TestSameComparesPointsInTime(t *testing.T) {
	read := func(text string) (i city.Info) {
		if err := json.Unmarshal([]byte(text), &i); err != nil {
			t.Fatal(err)
		}
		return i
	}
	text := `{"name":"a","since":"2031-05-06T07:08:09+03:17","until":"2031-05-06T07:09:09+03:17"}`
	if !read(text).Same(read(text)) {
		t.Error("a city differs from itself")
	}
	for _, other := range []string{"07:08:09+03:17", "07:09:09+03:17"} {
		if read(text).Same(read(strings.Replace(text, other, "01:02:03Z", 1))) {
			t.Errorf("the change of %s was not detected", other)
		}
	}
}

// ParseCursor is the inverse of String, and each cursor has exactly one text form.
func TestCursor(t *testing.T) {
	for text, want := range map[string]city.Cursor{
		"":                       {},
		"b:12,a:5":               {"a": 5, "b": 12},
		"a-1.x_y:0":              {"a-1.x_y": 0},
		"a:18446744073709551615": {"a": 1<<64 - 1},
	} {
		got, err := city.ParseCursor(text)
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
		again, err := city.ParseCursor(got.String())
		if err != nil || !maps.Equal(again, want) {
			t.Errorf("%q: got %q: %v, %v", text, got.String(), again, err)
		}
	}
	if got := (city.Cursor{"b": 12, "a": 5}).String(); got != "a:5,b:12" {
		t.Errorf("written as %q", got)
	}
	for _, text := range []string{"5", "a", "a:", ":5", "a:-1", "a:1,a:2", "a:1,", ",", "a:1:2", "a:18446744073709551616"} {
		if got, err := city.ParseCursor(text); !isInvalid(err) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// The JSON form of a tagged event contains the event's fields and its city.
func TestTagged(t *testing.T) {
	data, err := json.Marshal(city.Tagged{City: "a", Event: events.Event{Seq: 7, Type: "agent.started"}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		City string
		Seq  uint64
		Type string
	}
	if err := json.Unmarshal(data, &got); err != nil || got.City != "a" || got.Seq != 7 || got.Type != "agent.started" {
		t.Errorf("%s: %+v, %v", data, got, err)
	}
}
