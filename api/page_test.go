package api_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"gcity/api"
	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/mail"
)

// Every list can be read in pages.
func TestPages(t *testing.T) {
	f := citytest.NewFake("town", city.Agent{Name: "a"}, city.Agent{Name: "rig/b"}, city.Agent{Name: "rig/b-2"}, city.Agent{Name: "rig/b.c", State: city.Quarantined}, city.Agent{Name: "z", State: city.Quarantined})
	f.Set(func(s *city.Snapshot) {
		s.Rigs = []city.Rig{{Name: "one"}, {Name: "rig"}, {Name: "two"}}
		s.Pools = []city.Pool{{Name: "one"}, {Name: "rig/two"}, {Name: "two"}}
		s.Automations = []city.Automation{{Name: "x"}, {Name: "x-2"}, {Name: "x:rig:rig"}}
	})
	for i := range 5 {
		b := beads.Bead{Title: fmt.Sprint("run ", i), Type: city.RunType, Labels: []string{city.RunLabel + "x"}}
		if _, err := f.Do(t.Context(), city.CreateBead{Bead: b}); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		if _, err := city.SendMail(t.Context(), f, mail.Message{From: "ci", To: mail.Person, Subject: "red", Text: "look"}); err != nil {
			t.Fatal(err)
		}
	}
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for route, want := range map[string]int{"/v0/agents": 5, "/v0/agents?rig=": 5, "/v0/quarantine": 2, "/v0/rigs": 3, "/v0/pools": 3, "/v0/automations": 3, "/v0/automation/x/history": 5, "/v0/beads?type=" + city.RunType: 5, "/v0/mail": 5} {
		type item struct{ Name, ID string }
		type list struct {
			Items []item
			Total int
			Next  string `json:"next_cursor"`
		}
		ask := func(q url.Values) (l list) {
			u, err := url.Parse(route)
			if err != nil {
				t.Fatal(err)
			}
			all := u.Query()
			for name, v := range q {
				all[name] = v
			}
			u.RawQuery = all.Encode()
			code, _, body := get(t, hc, u.String())
			if err := json.Unmarshal([]byte(body), &l); err != nil || code != 200 {
				t.Fatalf("%s: %d %s", u, code, body)
			}
			return l
		}
		whole, parts := ask(nil), []item(nil)
		for q := (url.Values{"limit": {"2"}}); ; {
			l := ask(q)
			if parts = append(parts, l.Items...); len(l.Items) > 2 {
				t.Fatalf("%s: got %d items on a page", route, len(l.Items))
			}
			if l.Next == "" || len(parts) > 10 {
				break
			}
			q.Set("cursor", l.Next)
		}
		if len(whole.Items) != want || whole.Next != "" || fmt.Sprint(parts) != fmt.Sprint(whole.Items) {
			t.Errorf("%s: got %v in pages, %v as a whole (next %q), want %d",
				route, parts, whole.Items, whole.Next, want)
		}
	}
	if code, _, body := get(t, hc, "/v0/agents?limit=x"); code != 400 {
		t.Errorf("%d %s", code, body)
	}
	for _, bad := range []string{"x", "x-tw-1", "17", "-", "17-", "17-../x"} {
		if code, _, body := get(t, hc, "/v0/mail?cursor="+bad); code != 400 {
			t.Errorf("%s: %d %s", bad, code, body)
		}
	}
	if code, _, body := get(t, hc, "/v0/agents?cursor=rig/b-"); code != 200 || !json.Valid([]byte(body)) {
		t.Errorf("cursor of a removed agent: got %d %s", code, body)
	}
}
