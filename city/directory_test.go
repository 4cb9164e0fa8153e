package city_test

import (
	"encoding/json"
	"maps"
	"testing"

	"gcity/city"
	"gcity/events"
)

// ParseCursor and String are inverse, and each cursor has exactly one text.
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
			t.Errorf("%q is written as %q: %v, %v", text, got.String(), again, err)
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
