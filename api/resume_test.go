package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

func readFrames(t *testing.T, st *sseStream, n int, got map[string][]uint64) (id string, over bool) {
	t.Helper()
	for range n {
		it, ok := st.next()
		if !ok {
			t.Fatalf("the stream ended: %v", st.s.Err())
		}
		if it.id != "" {
			id = it.id
		}
		if it.data == "" {
			continue
		}
		var e city.Tagged
		if err := json.Unmarshal([]byte(it.data), &e); err != nil || e.Type == events.Gap {
			t.Fatal(it, err)
		}
		got[e.City] = append(got[e.City], e.Seq)
		if over = e.Type == "the.end"; over {
			break
		}
	}
	return id, over
}

// A client can resume after any frame. It gets each event once, in order.
func TestResumeAfterEveryFrame(t *testing.T) {
	for _, cursor := range []string{"Last-Event-ID", "after_cursor", "after", "after_seq", "cursor"} {
		t.Run(cursor, func(t *testing.T) { testCutAtEveryFrame(t, cursor) })
	}
}

func testCutAtEveryFrame(t *testing.T, cursor string) {
	const each = 4
	for cut := 1; cut <= 3*each+2; cut++ {
		a, b, c := named("a"), named("b"), named("c")
		path, _ := serveFleet(t, citytest.NewDirectory(a, b, c), api.Options{})
		for i, f := range []*citytest.Fake{a, b, c} {
			happen(f, i+2, "before")
		}
		hc := curl(t, path)
		st := openSSE(t, hc, "/v0/events/stream", "")
		got := map[string][]uint64{}
		id, _ := readFrames(t, st, 1, got)
		if all, err := city.ParseCursor(id); err != nil || len(all) != 3 {
			t.Fatalf("first ID: got %q, %v", id, err)
		}
		for i := range each {
			for _, f := range []*citytest.Fake{a, b, c} {
				f.Record(events.Event{Type: "x.y", Actor: "me", Message: fmt.Sprint(i)})
			}
		}
		if cut > 1 {
			id, _ = readFrames(t, st, min(cut-1, 3*each), got)
		}
		st.end()
		a.Record(events.Event{Type: "x.y"})
		c.Record(events.Event{Type: "x.y"})
		resume, last := "/v0/events/stream", id
		if cursor != "Last-Event-ID" {
			resume, last = resume+"?"+cursor+"="+id, ""
		}
		st = openSSE(t, hc, resume, last)
		b.Record(events.Event{Type: "the.end"})
		for seen := 0; seen < 3*each+3; {
			now, _ := readFrames(t, st, 1, got)
			if all, err := city.ParseCursor(now); err != nil || len(all) != 3 {
				t.Fatalf("cut after %d: got ID %q, %v", cut, now, err)
			}
			seen = len(got["a"]) + len(got["b"]) + len(got["c"])
		}
		st.end()
		want := map[string]string{"a": "[3 4 5 6 7]", "b": "[4 5 6 7 8]", "c": "[5 6 7 8 9]"}
		for name, seqs := range want {
			if fmt.Sprint(got[name]) != seqs {
				t.Errorf("cut after %d: events of %s: got %v, want %s", cut, name, got[name], seqs)
			}
		}
	}
}

// A city's own stream accepts all kinds of cursors, even those of the merged stream.
func TestResumeAfterEveryFrameOfOneCity(t *testing.T) {
	for _, cursor := range []string{"Last-Event-ID", "after_seq", "after_cursor", "after", "cursor"} {
		for cut := 1; cut <= 4; cut++ {
			a := named("a")
			path, _ := serveFleet(t, citytest.NewDirectory(a, named("b")), api.Options{})
			happen(a, 2, "before")
			hc := curl(t, path)
			st := openSSE(t, hc, "/v0/city/a/events/stream?after_seq=0", "")
			happen(a, 2, "x.y")
			var seqs []string
			read := func(n int) (id string) {
				for range n {
					it, ok := st.next()
					if !ok {
						t.Fatalf("the stream ended: %v", st.s.Err())
					}
					seqs, id = append(seqs, it.id), it.id
				}
				return id
			}
			id := read(cut)
			st.end()
			happen(a, 1, "x.y")
			for _, form := range []string{id, "a:" + id + ",b:0"} {
				seqs = seqs[:cut]
				resume, last := "/v0/city/a/events/stream", form
				if cursor != "Last-Event-ID" {
					resume, last = resume+"?"+cursor+"="+form, ""
				}
				st = openSSE(t, hc, resume, last)
				read(5 - cut)
				st.end()
				if got := strings.Join(seqs, " "); got != "1 2 3 4 5" {
					t.Errorf("%s=%s: %s", cursor, form, got)
				}
			}
		}
	}
}

// The IDs include cities that are not running.
func TestResumeBeforeCityRuns(t *testing.T) {
	a, b := named("a"), named("b")
	m := citytest.NewDirectory(a, b)
	m.SetCondition("b", city.CityStopped, "")
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	st := openSSE(t, hc, "/v0/events/stream", "")
	got := map[string][]uint64{}
	id, _ := readFrames(t, st, 1, got)
	if id != "a:0,b:0" {
		t.Errorf("first ID: got %q", id)
	}
	st.end()
	happen(b, 3, "x.y")
	m.SetCondition("b", city.CityRunning, "")
	st = openSSE(t, hc, "/v0/events/stream", id)
	for len(got["b"]) < 3 {
		readFrames(t, st, 1, got)
	}
	if fmt.Sprint(got["b"]) != "[1 2 3]" {
		t.Errorf("events of b: got %v", got["b"])
	}
}

// With "since", events are listed oldest first. The parameter "order" can reverse this.
func TestSinceOrder(t *testing.T) {
	a, b := named("a"), named("b")
	path, _ := serveFleet(t, citytest.NewDirectory(a, b), api.Options{})
	hc := curl(t, path)
	happen(a, 130, "x.y")
	happen(b, 1, "x.y")
	for query, want := range map[string]string{
		"/v0/city/a/events?since=1h":                            "1…130",
		"/v0/city/a/events?since=1h&order=asc":                  "1…130",
		"/v0/city/a/events?since=1h&limit=3":                    "1…3",
		"/v0/city/a/events?since=1h&order=desc":                 "130…1",
		"/v0/city/a/events?limit=2":                             "130…129",
		"/v0/city/a/events?limit=2&order=asc":                   "1…2",
		"/v0/events?since=1h&city=a":                            "1…130",
		"/v0/events?since=1h&city=a&order=desc":                 "130…1",
		"/v0/events?city=a&limit=3&order=asc":                   "1…3",
		"/v0/events?city=a&limit=3&order=asc&before=a:100":      "1…3",
		"/v0/events?city=a&order=asc&before=a:100":              "1…99",
		"/v0/events?city=a&order=asc&before=a:100&cursor=a:90":  "91…99",
		"/v0/events?city=a&limit=3&before=a:100":                "99…97",
		"/v0/city/a/events?since=1h&limit=3&cursor=3&order=asc": "4…6",
	} {
		code, _, body := get(t, hc, query)
		var page struct{ Items []events.Event }
		if err := json.Unmarshal([]byte(body), &page); err != nil || code != 200 || len(page.Items) == 0 {
			t.Fatalf("%s: got %d %.300s, %v", query, code, body, err)
		}
		if got := fmt.Sprintf("%d…%d", page.Items[0].Seq, page.Items[len(page.Items)-1].Seq); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	next := ""
	n := 0
	for range 50 {
		code, _, body := get(t, hc, "/v0/events?since=1h&limit=7"+next)
		var page struct {
			Items []city.Tagged
			Next  string `json:"next_cursor"`
		}
		if err := json.Unmarshal([]byte(body), &page); err != nil || code != 200 {
			t.Fatalf("%d %.300s, %v", code, body, err)
		}
		if n += len(page.Items); len(page.Items) == 0 {
			break
		}
		next = "&cursor=" + page.Next
	}
	if n != 131 {
		t.Errorf("got %d events in the pages", n)
	}
	if code, _, body := get(t, hc, "/v0/city/a/events?order=up"); code != 400 || !strings.Contains(body, "asc") {
		t.Errorf("%d %s", code, body)
	}
}

// A query that cannot be parsed is rejected, because its filters would be lost.
func TestInvalidQueries(t *testing.T) {
	dir := citytest.NewDirectory(named("a"), named("b"))
	path, _ := serveFleet(t, dir, api.Options{})
	hc := curl(t, path)
	for _, c := range [][2]string{{"GET", "/v0/city/a/events/stream?after=0%"}, {"GET", "/v0/events/stream?after=5;type=x"},
		{"GET", "/v0/events?subject=50%"}, {"GET", "/v0/agents?city=%zz"}, {"POST", "/v0/city/a/beads?rig=yard%"}} {
		code, _, body := send(t, hc, c[0], c[1], `{"title":"x"}`)
		if code != 400 || !strings.Contains(body, "the query cannot be parsed") {
			t.Errorf("%s: %d %s", c[1], code, body)
		}
	}
}

// An unknown query parameter is rejected.
func TestUnknownParameters(t *testing.T) {
	path, _ := serveFleet(t, citytest.NewDirectory(named("a"), named("b")), api.Options{})
	hc := curl(t, path)
	for query, want := range map[string]string{
		"/v0/city/a/events/stream?after_sequence=3": "after, after_cursor, after_seq",
		"/v0/events/stream?since_seq=3":             "after, after_cursor, after_seq",
		"/v0/events?after_seq=3":                    "before, city, cursor",
		"/v0/city/a/agents?rigg=x":                  "rig",
		"/v0/agents?rigg=x":                         "city",
		"/v0/city/a/beads?state=open":               "status",
		"/v0/cities?x":                              "limit",
		"/v0/city/a/snapshot/stream?x=1":            "does not take any",
	} {
		if code, _, body := get(t, hc, query); code != 400 || !strings.Contains(body, "unknown query parameter") || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, code, body)
		}
	}
	if code, _, body := send(t, hc, "POST", "/v0/city/a/beads?rigg=x", `{"title":"x"}`); code != 400 || !strings.Contains(body, "this request takes rig") {
		t.Errorf("%d %s", code, body)
	}
}
