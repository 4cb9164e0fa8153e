package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

type sseItem struct{ event, id, data string }

type sseStream struct {
	t   testing.TB
	s   *bufio.Scanner
	end func()
}

func openSSE(t testing.TB, hc *http.Client, path, last string) *sseStream {
	t.Helper()
	st, err := trySSE(t, hc, path, last)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.end)
	return st
}

func trySSE(t testing.TB, hc *http.Client, path, last string) (*sseStream, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://city"+path, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := (&http.Client{Transport: hc.Transport}).Do(r)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, resp.Status)
		_ = resp.Body.Close()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	st := &sseStream{t: t, s: bufio.NewScanner(resp.Body), end: func() { cancel(); _ = resp.Body.Close() }}
	st.s.Buffer(nil, 16<<20)
	return st, nil
}

func (st *sseStream) next() (sseItem, bool) {
	it, any := sseItem{}, false
	for st.s.Scan() {
		key, value, _ := strings.Cut(st.s.Text(), ": ")
		switch key {
		case "event":
			it.event, any = value, true
		case "id":
			it.id, any = value, true
		case "data":
			it.data, any = value, true
		case "":
			if any {
				return it, true
			}
		}
	}
	return it, false
}

func (st *sseStream) events(n int) (got, id string) {
	st.t.Helper()
	var all []string
	for len(all) < n {
		it, ok := st.next()
		if !ok {
			st.t.Fatalf("the stream ended after %v: %v", all, st.s.Err())
		}
		if id = it.id; it.data == "" {
			continue
		}
		var e city.Tagged
		if err := json.Unmarshal([]byte(it.data), &e); err != nil || it.event != e.Type {
			st.t.Fatal(it, err)
		}
		what := fmt.Sprintf("%s:%d", e.City, e.Seq)
		if e.Type == events.Gap {
			what += " gap"
		}
		all = append(all, what)
	}
	return strings.Join(all, " "), id
}

func happen(f *citytest.Fake, n int, kind string) {
	for range n {
		f.Record(events.Event{Type: kind, Actor: "me", Subject: "x"})
	}
}

// The merged stream resumes without gaps or duplicates, even if cities are added or removed.
func TestFleetStream(t *testing.T) {
	a, b := named("a"), named("b")
	m := citytest.NewDirectory(a, b)
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	st := openSSE(t, hc, "/v0/events/stream", "")
	var id string
	for id != "a:0,b:0" {
		it, ok := st.next()
		if !ok || it.data != "" {
			t.Fatal(it, ok)
		}
		id = it.id
	}
	happen(a, 1, "x.y")
	if got, id := st.events(1); got != "a:1" || id != "a:1,b:0" {
		t.Error(got, id)
	}
	c := named("c")
	m.Add("c", "/c", c)
	happen(c, 1, "x.y")
	got, id := st.events(1)
	if got != "c:1" || id != "a:1,b:0,c:1" {
		t.Error(got, id)
	}
	st.end()
	happen(b, 2, "x.y")
	m.SetCondition("c", city.CityStopped, "")
	happen(c, 1, "x.y")
	st = openSSE(t, hc, "/v0/events/stream", id)
	if got, id = st.events(2); got != "b:1 b:2" || id != "a:1,b:2,c:1" {
		t.Error(got, id)
	}
	m.SetCondition("c", city.CityRunning, "")
	if got, id = st.events(1); got != "c:2" || id != "a:1,b:2,c:2" {
		t.Error(got, id)
	}

	happen(a, 1, "other.z")
	happen(a, 1, "x.z")
	for query, want := range map[string]string{
		"after=" + url.QueryEscape("a:1,b:1,c:2"): "a:2 a:3 b:2", "after=0&city=a": "a:1 a:2 a:3", "after=1&city=a": "a:2 a:3", "after=0&type=other.*": "a:2",
		"after=0&city=c,b": "b:1 b:2 c:1 c:2", "after=0&city=b&actor=me&subject=x": "b:1 b:2",
	} {
		st := openSSE(t, hc, "/v0/events/stream?"+query, "")
		got, _ := st.events(strings.Count(want, ":"))
		if !sameWords(got, want) {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
		st.end()
	}
	if status, _, body := get(t, hc, "/v0/events/stream?since=x"); status != 400 {
		t.Errorf("%d %s", status, body)
	}
}

func sameWords(a, b string) bool {
	n := map[string]int{}
	for _, w := range strings.Fields(a) {
		n[w]++
	}
	for _, w := range strings.Fields(b) {
		n[w]--
	}
	for _, left := range n {
		if left != 0 {
			return false
		}
	}
	return true
}

// If a cursor does not belong to a city's log, the stream sends a gap event.
func TestFleetCursors(t *testing.T) {
	a, b := named("a"), named("b")
	happen(a, 3, "x.y")
	happen(b, 3, "x.y")
	path, _ := serveFleet(t, citytest.NewDirectory(a, b), api.Options{})
	hc := curl(t, path)
	for cursor, want := range map[string]string{
		"a:1,b:3": "a:2 a:3", "a:99,b:2": "a:3 gap b:3", "garbage": ":0 gap", "a:1,a:2": ":0 gap", "17": ":0 gap", "-1": ":0 gap", "a:18446744073709551616": ":0 gap",
		"a:2,never:7": "a:3",
	} {
		st := openSSE(t, hc, "/v0/events/stream", cursor)
		if got, id := st.events(strings.Count(want, ":")); !sameWords(got, want) || strings.Contains(cursor, "never") && !strings.Contains(id, "never:7") {
			t.Errorf("%s: %s (%s), want %s", cursor, got, id, want)
		}
		st.end()
	}
}

// The stream of a single city reports events that are missing from its log.
func TestStreamReportsGaps(t *testing.T) {
	f := named("a")
	happen(f, 5, "x.y")
	path, _ := serve(t, lossyCity{f}, api.Options{})
	st := openSSE(t, curl(t, path), "/v0/events/stream?after_seq=0", "")
	var got []string
	for range 4 {
		it, _ := st.next()
		got = append(got, it.event+" "+it.id)
	}
	if all := strings.Join(got, ", "); all != "x.y 1, events.gap 3, x.y 4, x.y 5" {
		t.Error(all)
	}
	c := dial(t, path)
	for e, err := range c.Events(t.Context(), 1) {
		if err != nil || e.Type != events.Gap || e.Seq != 3 {
			t.Errorf("%+v, %v", e, err)
		}
		break
	}
}

// The pages of the events of all cities contain each event exactly once, in either direction.
func TestFleetEventPages(t *testing.T) {
	a, b := named("a"), named("b")
	want := ""
	for i := range 11 {
		happen([]*citytest.Fake{a, b}[i%3%2], 1, "x.y")
	}
	for i := range 7 {
		want += fmt.Sprintf(" a:%d", i+1)
		if i < 4 {
			want += fmt.Sprintf(" b:%d", i+1)
		}
	}
	m := citytest.NewDirectory(a, b, named("still"))
	m.SetCondition("still", city.CityStopped, "")
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	type page struct {
		Items       []city.Tagged
		Total       int
		Next        string `json:"next_cursor"`
		Before      string
		Cursor      string
		Unreachable []struct{ City string }
	}
	ask := func(path string) (p page) {
		t.Helper()
		status, h, body := get(t, hc, path)
		if err := json.Unmarshal([]byte(body), &p); err != nil || status != 200 || h.Get("X-GC-Index") != "a:7,b:4" {
			t.Fatalf("%s: got %d %s, %v", path, status, body, err)
		}
		if len(p.Unreachable) != 1 || p.Unreachable[0].City != "still" {
			t.Errorf("%s: %s", path, body)
		}
		return p
	}
	words := func(p page) (out string) {
		for _, e := range p.Items {
			out += fmt.Sprintf(" %s:%d", e.City, e.Seq)
		}
		return out
	}
	if p := ask("/v0/events?limit=2"); words(p) != " b:4 a:7" || p.Cursor != "a:7,b:4" || p.Total != 2 {
		t.Errorf("the newest: %+v", p)
	}
	all, before := "", ""
	for range 20 {
		p := ask("/v0/events?limit=3&before=" + url.QueryEscape(before))
		all += words(p)
		if before = p.Before; before == "" {
			break
		}
	}
	if !sameWords(all, want) {
		t.Errorf("backwards:%s", all)
	}
	all = ""
	for cursor, pages := "0", 0; pages < 20; pages++ {
		p := ask("/v0/events?limit=3&cursor=" + url.QueryEscape(cursor))
		if cursor = p.Next; len(p.Items) == 0 {
			break
		}
		all += words(p)
	}
	if !sameWords(all, want) {
		t.Errorf("forwards:%s", all)
	}
	if p := ask("/v0/events?type=no.such"); len(p.Items) != 0 || p.Cursor != "a:7,b:4" {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"cursor=x", "before=a", "limit=1001", "since=x", "index=x", "index=a:1&wait=x"} {
		if status, _, body := get(t, hc, "/v0/events?"+bad); status != 400 {
			t.Errorf("%s: %d %s", bad, status, body)
		}
	}
}

type shortPages struct{ city.Control }

func (s shortPages) History(ctx context.Context, q events.Query) ([]events.Event, error) {
	q.Limit /= 2
	return s.Control.History(ctx, q)
}

// A page that is shorter than the limit, because its events are large, does not end the list.
func TestFleetEventPagesThatAreShort(t *testing.T) {
	a, want := named("a"), ""
	happen(a, 9, "x.y")
	m := citytest.NewDirectory()
	m.Add("a", "/a", shortPages{a})
	path, _ := serveFleet(t, m, api.Options{})
	hc := curl(t, path)
	all, before := "", ""
	for i := range 20 {
		var p struct {
			Items  []city.Tagged
			Before string
		}
		_, _, body := get(t, hc, "/v0/events?limit=4&before="+url.QueryEscape(before))
		if err := json.Unmarshal([]byte(body), &p); err != nil {
			t.Fatal(err)
		}
		for _, e := range p.Items {
			all += fmt.Sprintf(" a:%d", e.Seq)
		}
		if before = p.Before; (before == "") != (len(p.Items) == 0) {
			t.Errorf("page %d has %d events and before=%q", i, len(p.Items), before)
		}
		if before == "" {
			break
		}
	}
	for i := range 9 {
		want += fmt.Sprintf(" a:%d", 9-i)
	}
	if all != want {
		t.Errorf("got%s, want%s", all, want)
	}
}

type staleCity struct{ city.Control }

func (b staleCity) Snapshot(ctx context.Context) (*city.Snapshot, error) {
	s, err := b.Control.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	old := *s
	old.Seq--
	return &old, nil
}

// A page's cursor comes after all events on the page.
func TestFleetPageThenStream(t *testing.T) {
	a := named("a")
	happen(a, 3, "x.y")
	m := citytest.NewDirectory(named("b"))
	m.Add("a", "/a", staleCity{a})
	path, _ := serveFleet(t, m, api.Options{})
	_, _, body := get(t, curl(t, path), "/v0/events")
	var p struct{ Cursor string }
	if err := json.Unmarshal([]byte(body), &p); err != nil || p.Cursor != "a:3,b:0" || !strings.Contains(body, `"seq":3`) {
		t.Errorf("%s, %v", body, err)
	}
}

// A long poll for all cities returns when any city has a new event.
func TestFleetWaits(t *testing.T) {
	a, b := named("a"), named("b")
	path, _ := serveFleet(t, citytest.NewDirectory(a, b), api.Options{})
	hc := curl(t, path)
	for _, path := range []string{"/v0/agents", "/v0/events"} {
		_, h, _ := get(t, hc, path)
		now := h.Get("X-GC-Index")
		if status, h, _ := get(t, hc, path+"?wait=1ms&index="+now); status != 200 || h.Get("X-GC-Index") != now {
			t.Errorf("%s: %d %v", path, status, h)
		}
		answered := make(chan string)
		go func() {
			resp, err := hc.Get("http://city" + path + "?wait=1m&index=" + now)
			if err != nil {
				answered <- now
				return
			}
			_ = resp.Body.Close()
			answered <- resp.Header.Get("X-GC-Index")
		}()
		happen(b, 1, "x.y")
		if then := <-answered; then == now {
			t.Errorf("%s: %s", path, then)
		}
	}
}

type lossyCity struct{ city.Control }

func (l lossyCity) Events(ctx context.Context, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		for e, err := range l.Control.Events(ctx, after) {
			if e.Seq != 2 && e.Seq != 3 && !yield(e, err) {
				return
			}
		}
	}
}
