package city_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/city/verb"
	"gcity/events"
)

var formatTime = time.Date(2026, 4, 1, 12, 0, 0, 123, time.UTC)

// commands returns every command with each kind of body that it can have.
var commands = []city.Command{
	city.Restart{Agent: "worker"}, city.Stop{Agent: "rig/worker"}, city.Kill{Agent: "worker-2"},
	city.Suspend{}, city.Suspend{Agent: "rig/pool"}, city.Resume{}, city.Resume{Agent: "worker"},
	city.Release{Agent: "worker"}, city.Interrupt{Agent: "worker"}, city.Clear{Agent: "worker"}, city.RequestRestart{Agent: "worker"},
	city.Drain{Agent: "rig/worker-10"}, city.Drain{Agent: "rig/worker-10", Final: true}, city.Undrain{Agent: "rig/worker-10"}, city.DrainAck{Agent: "rig/worker-10"},
	city.RestartPool{Pool: "worker"}, city.RestartPool{Pool: "rig/worker", Rolling: true}, city.CheckPool{Pool: "worker"},
	city.Scale{Pool: "worker"}, city.Scale{Pool: "rig/worker", Size: 3}, city.Scale{Pool: "worker", Size: -1}, city.Scale{Pool: "worker", Auto: true},
	city.SuspendRig{Rig: "demo"}, city.ResumeRig{Rig: "demo"},
	city.Nudge{Agent: "worker", Text: "-x; größer\n\x01 <&>"}, city.SendKeys{Agent: "worker", Keys: []string{"C-c", " ", "Enter"}},
	city.Nudge{Agent: "worker", Text: "x", Now: true}, city.Unsend{Agent: "worker"}, city.Unsend{Agent: "worker", ID: 1 << 63},
	city.Fire{Automation: "sweep"}, city.Fire{Automation: "sweep:rig:demo", By: "größer"},
	city.EndRun{Automation: "sweep"}, city.EndRun{Automation: "sweep:rig:demo", By: "größer"},
	city.CreateBead{}, city.CreateBead{Bead: beads.Bead{
		ID: "tw-7", Title: "größer <&>", Status: beads.StatusClosed, Type: "task", Priority: beads.Someday, Assignee: "worker", ParentID: "tw-1", Ref: "f",
		Needs: []string{"tw-2"}, Description: "a\nb", Labels: []string{"pool:rig/worker"}, Metadata: map[string]string{"k": "v"},
		CreatedAt: formatTime, UpdatedAt: formatTime, ClosedAt: &formatTime, Rev: 1<<63 + 1,
	}},
	city.UpdateBead{ID: "tw-7"}, city.UpdateBead{ID: "tw-7", Patch: beads.Closing()}, city.UpdateBead{ID: "a.b_C-1", Patch: beads.Patch{
		Title: new("größer"), Status: new(beads.StatusOpen), Type: new("bug"), Priority: new(beads.Urgent), Assignee: new(""),
		ParentID: new(""), Ref: new("f"), Needs: &[]string{}, Description: new(""), AddLabels: []string{"a"}, RemoveLabels: []string{"b"},
		SetMetadata: map[string]string{"k": ""}, IfRev: new(uint64(1 << 63)),
	}},
	city.SlingWork{SlingRequest: city.SlingRequest{Bead: "tw-7"}}, city.SlingWork{SlingRequest: city.SlingRequest{
		Target: "rig/worker", Formula: "f", Title: "größer <&>", Description: "a\nb", Vars: map[string]string{"k": ""}, Nudge: true, By: "ann", Force: true, Depth: 3,
	}},
	city.Reload{}, city.Reload{Confirm: true}, city.Shutdown{}, city.Shutdown{Leave: true},
	city.Beat{Watchdog: "chain"}, city.Acknowledge{Watchdog: "chain"}, city.Acknowledge{Watchdog: "chain", By: "ann"},
	city.Decide{Watchdog: "chain", Decision: city.RemedyWake, Reason: "größer", Beat: "7", By: "scout"}, city.Decide{Watchdog: "chain", Decision: city.RemedyNothing},
	city.Emit{Event: events.Event{
		Seq: 7, TS: time.Date(2026, 4, 1, 12, 0, 0, 123, time.UTC), Type: "deploy.done", Actor: "ci", Subject: "site",
		Message: "größer", Payload: []byte(`{"n":[1,null]}`),
	}},
}

// Encode and Decode are inverse.
func TestCodecRoundTrip(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range commands {
		tried[reflect.TypeOf(c).Name()] = true
		body, err := city.Encode(c)
		if err != nil {
			t.Errorf("%#v: %v", c, err)
			continue
		}
		if got, err := verb.Decode(c.Verb(), c.Target(), body); err != nil || !reflect.DeepEqual(got, c) {
			t.Errorf("%#v, encoded as %s: got %#v, %v", c, body, got, err)
		}
	}
	for _, name := range verbs(t) {
		if !tried[name] {
			t.Errorf("%s is missing from the test", name)
		}
	}
}

func verbs(t *testing.T) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "command.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "Verb" {
			names = append(names, fn.Recv.List[0].Type.(*ast.Ident).Name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("got only these verbs: %q", names)
	}
	return names
}

// Commands without required values accept an empty body.
func TestDecodeWithoutBody(t *testing.T) {
	for _, c := range commands {
		needs := map[string]bool{"nudge": true, "send-keys": true, "scale": true, "sling": true, "decide": true}[c.Verb()]
		for _, body := range []string{"", " \n", "{}", "null"} {
			got, err := verb.Decode(c.Verb(), c.Target(), []byte(body))
			switch {
			case needs && !isInvalid(err):
				t.Errorf("%s with %q: got %#v, %v", c.Verb(), body, got, err)
			case !needs && (err != nil || reflect.TypeOf(got) != reflect.TypeOf(c) || got.Target() != c.Target()):
				t.Errorf("%s with %q: got %#v, %v", c.Verb(), body, got, err)
			}
		}
	}
}

func isInvalid(err error) bool {
	e, ok := errors.AsType[*city.Error](err)
	return ok && e.Code == city.Invalid && e.Message != ""
}

func TestDecodeRejects(t *testing.T) {
	for _, c := range commands {
		for _, body := range []string{`{"size":1,"unknown":1}`, `{"agent":"other"}`, `[]`, `"x"`, `1`, `{`, `{}{}`, `{} x`, "\x00", strings.Repeat("[", 100_000)} {
			if got, err := verb.Decode(c.Verb(), c.Target(), []byte(body)); !isInvalid(err) || got != nil {
				t.Errorf("%s with %.40q: got %#v, %v", c.Verb(), body, got, err)
			}
		}
	}
	for _, c := range []struct{ verb, target, body string }{
		{"explode", "worker", ""}, {"explode", "", ""}, {"", "worker", ""}, {"Restart", "worker", ""},
		{"restart", "", ""}, {"drain", "", ""}, {"drain-ack", "", ""}, {"scale", "", `{"size":1}`}, {"suspend-rig", "", ""}, {"resume-rig", "", ""},
		{"reload", "worker", ""}, {"emit", "worker", ""}, {"shutdown", "worker", ""},
		{"scale", "worker", `{"auto":false}`}, {"scale", "worker", `{"size":null}`}, {"scale", "worker", `{"size":"3"}`},
		{"scale", "worker", `{"size":1.5}`}, {"scale", "worker", `{"size":1e1}`}, {"scale", "worker", `{"size":99999999999999999999}`},
		{"scale", "worker", `{"size":NaN}`}, {"scale", "worker", `3`}, {"scale", "worker", `{"size":3,"auto":"yes"}`},
		{"scale", "worker", `{"size":4,"auto":true}`}, {"scale", "worker", `{"auto":true,"size":-1}`},
		{"reload", "", `{"confirm":"yes"}`}, {"reload", "", `{"confirm":1}`}, {"reload", "", `{"force":true}`},
		{"run", "", ""}, {"run", "sweep", `{"by":1}`}, {"run", "sweep", `{"automation":"other"}`}, {"create-bead", "tw-1", ""}, {"update-bead", "", ""},
		{"create-bead", "", `{"title":"x"}`}, {"create-bead", "", `{"bead":{"titel":"x"}}`}, {"create-bead", "", `{"bead":{"priority":5}}`},
		{"create-bead", "", `{"bead":{"labels":"a"}}`}, {"create-bead", "", `{"bead":{"rev":-1}}`}, {"create-bead", "", `{"bead":{"created_at":"now"}}`},
		{"update-bead", "tw-1", `{"status":"closed"}`}, {"update-bead", "tw-1", `{"patch":{"labels":["a"]}}`}, {"update-bead", "tw-1", `{"patch":{"priority":-1}}`},
		{"update-bead", "tw-1", `{"patch":{"set_metadata":{"k":1}}}`}, {"update-bead", "tw-1", `{"id":"tw-2"}`}, {"update-bead", "tw-1", `{"ID":"tw-2"}`},
		{"sling", "worker", `{"bead":"tw-1"}`}, {"sling", "", `{"target":"worker"}`}, {"sling", "", `{"title":"x"}`}, {"sling", "", `{"bead":"tw-1","vars":{"k":1}}`},
		{"sling", "", `{"bead":"tw-1","formula":"f","no_formula":true}`}, {"sling", "", `{"bead":"tw-1","by":"a\nb"}`},
		{"nudge", "worker", `{"text":""}`}, {"send-keys", "worker", `{"keys":[]}`},
	} {
		if got, err := verb.Decode(c.verb, c.target, []byte(c.body)); !isInvalid(err) || got != nil {
			t.Errorf("%s of %q with %s: got %#v, %v", c.verb, c.target, c.body, got, err)
		}
	}
}

// Decode does not check a pool's bounds, because only the city knows them.
func TestDecodeScale(t *testing.T) {
	for body, want := range map[string]city.Scale{
		`{"size":0}`:                {Pool: "rig/worker"},
		`{"size":-7}`:               {Pool: "rig/worker", Size: -7},
		`{"size":1000000}`:          {Pool: "rig/worker", Size: 1000000},
		`{"auto":true}`:             {Pool: "rig/worker", Auto: true},
		`{"size":0,"auto":true}`:    {Pool: "rig/worker", Auto: true},
		` {"size":4,"auto":false} `: {Pool: "rig/worker", Size: 4},
	} {
		if got, err := verb.Decode("scale", "rig/worker", []byte(body)); err != nil || got != want {
			t.Errorf("%s: %#v, %v", body, got, err)
		}
	}
}

// Decoded input is stable when it is encoded and decoded again.
func FuzzDecode(f *testing.F) {
	for _, c := range commands {
		body, err := city.Encode(c)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(c.Verb(), c.Target(), body)
	}
	f.Add("scale", "worker", []byte(`{"size":99999999999999999999}`))
	f.Add("create-bead", "", []byte(`{"bead":{"created_at":"9999-12-31T23:59:59.999999999+23:59","labels":[],"metadata":{}}}`))
	f.Add("update-bead", "tw-1", []byte(`{"patch":{"needs":null,"needs":[],"if_rev":0,"set_metadata":{"":""}}}`))
	f.Add("run", "sweep:rig:demo", []byte(`{"By":"x","by":"y"}`))
	f.Add("scale", "worker", []byte(`{"SIZE":1,"size":2}{`))
	f.Add("scale", "worker", []byte(`{"size":2,"auto":true}`))
	f.Fuzz(func(t *testing.T, name, target string, body []byte) {
		c, err := verb.Decode(name, target, body)
		if err != nil {
			if !isInvalid(err) || c != nil {
				t.Fatalf("%#v with %#v", err, c)
			}
			return
		}
		if c.Verb() != name || c.Target() != target {
			t.Fatalf("%s of %q: got %#v", name, target, c)
		}
		sent, err := city.Encode(c)
		if err != nil {
			t.Fatalf("%#v: %v", c, err)
		}
		back, err := verb.Decode(name, target, sent)
		if err != nil {
			t.Fatalf("%#v cannot be decoded from %s: %v", c, sent, err)
		}
		if again, err := city.Encode(back); err != nil || !bytes.Equal(again, sent) {
			t.Fatalf("%s: encoded again as %s, %v", sent, again, err)
		}
	})
}
