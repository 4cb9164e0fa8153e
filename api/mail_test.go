package api_test

import (
	"reflect"
	"strings"
	"testing"

	"gcity/api"
	"gcity/api/gascity"
	"gcity/city"
	"gcity/mail"
)

func TestMail(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	for _, c := range []struct {
		method, path, body string
		status             int
		want               []string
	}{
		{"POST", "/v0/mail", `{"from":"ci","to":"human","subject":"red","body":"see <log>"}`, 200, []string{`"message":"sent tw-4 to human"`, `"bead":{"id":"tw-4"`}},
		{"GET", "/v0/mail", "", 200, []string{`{"items":[{"id":"tw-4","from":"ci","to":"human","subject":"red","body":"see \u003clog\u003e","created_at":`, `"read":false}],"total":1}`}},
		{"GET", "/v0/city/town/mail/tw-4", "", 200, []string{`{"id":"tw-4"`, `"read":false}`}},
		{"GET", "/v0/status", "", 200, []string{`"mail":{"unread":1,"total":1}`}},
		{"POST", "/v0/mail/tw-4/read", "", 200, []string{`{"id":"tw-4"`, `"read":true}`}},
		{"GET", "/v0/mail?status=unread", "", 200, []string{`{"items":[],"total":0}`}},
		{"GET", "/v0/mail?all=true", "", 200, []string{`"total":1`}},
		{"GET", "/v0/mail?status=all", "", 200, []string{`"total":1`}},
		{"POST", "/v0/mail/tw-4/reply", `{"body":"I look"}`, 200, []string{`"message":"sent tw-5 to ci`}},
		{"GET", "/v0/mail/tw-5", "", 200, []string{`"from":"human","to":"ci","subject":"Re: red","body":"I look"`, `"thread_id":"tw-4","reply_to":"tw-4"`}},
		{"POST", "/v0/mail", `{"reply_to":"tw-5","from":"ci","to":"crew-1","subject":"else","body":"x"}`, 200, []string{`sent tw-6 to crew-1`}},
		{"GET", "/v0/mail?to=crew-1", "", 200, []string{`"total":1`, `"thread_id":"tw-4"`, `"subject":"else"`}},
		{"POST", "/v0/mail/tw-4/archive", "", 200, []string{`"message":"archived tw-4"`}},
		{"GET", "/v0/mail?to=&all=true", "", 200, []string{`{"items":[{"id":"tw-5"`, `"total":1}`}},
		{"GET", "/v0/mail?all=true", "", 200, []string{`{"items":[{"id":"tw-6"`, `"total":2}`}},
		{"GET", "/v0/mail/count", "", 200, []string{`{"unread":2,"total":2}`}},
		{"GET", "/v0/mail/count?agent=crew-1", "", 200, []string{`{"unread":1,"total":1}`}},
		{"POST", "/v0/mail/tw-6/read", "", 200, []string{`"read":true`}},
		{"GET", "/v0/mail", "", 200, []string{`"total":1`}},
		{"GET", "/v0/mail/count", "", 200, []string{`{"unread":1,"total":2}`}},
		{"POST", "/v0/mail/tw-6/mark-unread", "", 200, []string{`"read":false`}},
		{"GET", "/v0/mail/count?agent=crew-1", "", 200, []string{`{"unread":1,"total":1}`}},
		{"GET", "/v0/mail/thread/tw-4", "", 200, []string{`"total":3`}},
		{"GET", "/v0/mail/thread/tw-6", "", 200, []string{`"total":3`}},
		{"GET", "/v0/mail/thread/tw-1", "", 404, []string{"bead tw-1 is not a message but has type "}},
		{"GET", "/v0/mail?to=pool:none", "", 404, []string{`"not_found"`}},
		{"GET", "/v0/mail?status=odd", "", 400, []string{"use "}},
		{"GET", "/v0/mail/tw-1", "", 404, []string{"bead tw-1 is not a message but has type "}},
		{"GET", "/v0/mail/tw-1/else", "", 404, nil},
		{"POST", "/v0/mail", `{"subject":"x"}`, 400, []string{"recipient"}},
		{"POST", "/v0/mail", `{"to":"ann","title":"x"}`, 400, []string{`unknown field \"title\"`}},
		{"POST", "/v0/mail", `{"to":"ann"}`, 400, []string{"is empty"}},
		{"POST", "/v0/mail/tw-99/read", "", 404, []string{`"not_found"`, `message \"tw-99\" not found`}},
		{"PATCH", "/v0/mail", `{}`, 405, []string{"GET, POST"}},
		{"GET", "/v0/mail/tw-4/read", "", 405, []string{"POST"}},
		{"POST", "/v0/mail", `{"from":"ci","to":"pool:crew","subject":"who?"}`, 200, []string{"sent tw-7"}},
		{"POST", "/v0/mail/tw-7/reply", `{"from":"crew-1","body":"I"}`, 200, []string{"sent tw-8 to ci"}},
		{"POST", "/v0/mail/tw-7/reply", `{"from":"crew-2","body":"I"}`, 409, []string{"crew-1 has taken"}},
		{"POST", "/v0/mail/tw-7/archive", `{"by":"crew-2"}`, 409, []string{"crew-1 has taken"}},
	} {
		if c.path == "/v0/status" { // the message counts change shortly after the response
			f.Await(t, func(s *city.Snapshot) bool { return s.Mail.Total == 1 })
		}
		status, _, body := send(t, hc, c.method, c.path, c.body)
		if status != c.status {
			t.Errorf("%s %s: got %d %s", c.method, c.path, status, body)
		}
		for _, want := range c.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s %s: want %q in %s", c.method, c.path, want, body)
			}
		}
	}
}

// The recipient of work is notified once.
func TestSlingNudgesOnce(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	hc := curl(t, path)
	nudges := func() (n int) {
		for _, c := range f.Commands() {
			if _, ok := c.(city.Nudge); ok {
				n++
			}
		}
		return n
	}
	s, err := f.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name := ""
	for _, a := range s.Agents {
		if a.Running {
			name = a.Name
		}
	}
	if status, _, body := send(t, hc, "POST", "/v0/sling", `{"target":"`+name+`","title":"mend it","nudge":true}`); status != 200 || !strings.Contains(body, `"assignee":"`+name+`"`) {
		t.Fatalf("%d %s", status, body)
	}
	if n := nudges(); n != 1 {
		t.Errorf("%d nudges", n)
	}
	r, err := city.Sling(t.Context(), dial(t, path), city.SlingRequest{Target: name, Title: "mend it too", Nudge: true})
	if err != nil || r.Bead == nil || r.Bead.Assignee != name || nudges() != 2 {
		t.Errorf("%+v, %v, %d nudges", r, err, nudges())
	}
	if status, _, body := send(t, hc, "POST", "/v0/sling", `{"target":"`+name+`"}`); status != 400 || !strings.Contains(body, "nothing to assign") {
		t.Errorf("%d %s", status, body)
	}
}

// With a rig, the target of work is an agent or pool of that rig.
func TestSlingTargetInRig(t *testing.T) {
	snap := &city.Snapshot{Agents: []city.Agent{{Name: "echo"}, {Name: "out"}, {Name: "yard/out"}},
		Pools: []city.Pool{{Name: "worker", Max: 3}, {Name: "yard/crew", Max: 3}, {Name: "yard/ops", Max: 3}, {Name: "dock/ops", Max: 3}}, Rigs: []city.Rig{{Name: "yard"}}}
	for target, want := range map[string]string{"": "yard", "yard": "yard", "out": "yard/out", "yard/out": "yard/out",
		"crew": "pool:yard/crew", "pool:yard/crew": "pool:yard/crew", "yard/crew-2": "yard/crew-2",
		"ops": "yard/ops", "pool:ops": "pool:yard/ops", "echo": "yard/echo", "worker": "yard/worker",
		"pool:worker": "pool:yard/worker"} {
		got, err := gascity.Sling{SlingRequest: city.SlingRequest{Target: target}, Rig: "yard"}.In(snap)
		if err != nil || got.Target != want {
			t.Errorf("%q: got %q, %v, want %q", target, got.Target, err, want)
		}
	}
	if _, err := (gascity.Sling{Rig: "none"}).In(snap); !city.HasCode(err, city.NotFound) {
		t.Errorf("an unknown rig: %v", err)
	}
}

// A Client returns the same mail as the city itself.
func TestMailWithClient(t *testing.T) {
	f := workCity(t)
	path, _ := serve(t, f, api.Options{})
	c := dial(t, path)
	if _, err := city.SendMail(t.Context(), c, mail.Message{From: "a", To: "human", Subject: "größer", Text: "<&>\nb"}); err != nil {
		t.Fatal(err)
	}
	near, err := city.Mail(t.Context(), f, "", false)
	if err != nil {
		t.Fatal(err)
	}
	far, err := city.Mail(t.Context(), c, "", false)
	if err != nil || !reflect.DeepEqual(near, far) || len(far) != 1 {
		t.Errorf("%+v, %+v, %v", near, far, err)
	}
}
