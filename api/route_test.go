package api

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"gcity/city"
	"gcity/city/verb"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		path string
		want route
	}{
		{"/health", route{kind: health}},
		{"/v0/agents", route{kind: agents}},
		{"/v0/agents/", route{kind: agents}},
		{"/v0/city/town", route{kind: townKind, city: "town"}},
		{"/v0/city/town/events/stream", route{kind: eventStream, city: "town"}},
		{"/v0/agent/worker", route{kind: agent, target: "worker"}},
		{"/v0/agent/output", route{kind: agent, target: "output"}},
		{"/v0/agent/rig/worker", route{kind: agent, target: "rig/worker"}},
		{"/v0/agent/rig%2Fworker", route{kind: agent, target: "rig/worker"}},
		{"/v0/agent/rig%2fstop", route{kind: agent, target: "rig/stop"}},
		{"/v0/agent/rig/stop", route{kind: command, target: "rig", verb: "stop"}},
		{"/v0/agent/rig/stop/stop", route{kind: command, target: "rig/stop", verb: "stop"}},
		{"/v0/agent/rig%2Fstop/stop", route{kind: command, target: "rig/stop", verb: "stop"}},
		{"/v0/agent/a/send-keys", route{kind: command, target: "a", verb: "send-keys"}},
		{"/v0/agent/a/request-restart", route{kind: command, target: "a", verb: "request-restart"}},
		{"/v0/city/town/agent/a/b/stream", route{kind: watch, city: "town", target: "a/b"}},
		{"/v0/agent/a/drain", route{kind: command, target: "a", verb: "drain"}},
		{"/v0/agent/a/undrain", route{kind: command, target: "a", verb: "undrain"}},
		{"/v0/agent/rig/a-2/drain-ack", route{kind: command, target: "rig/a-2", verb: "drain-ack"}},
		{"/v0/agent/a/scale", route{kind: agent, target: "a/scale"}},
		{"/v0/agent/a/suspend-rig", route{kind: agent, target: "a/suspend-rig"}},
		{"/v0/quarantine", route{kind: quarantine}},
		{"/v0/pools", route{kind: pools}},
		{"/v0/city/town/pools", route{kind: pools, city: "town"}},
		{"/v0/pool/crew", route{kind: pool, target: "crew"}},
		{"/v0/pool/scale", route{kind: pool, target: "scale"}},
		{"/v0/pool/yard/crew", route{kind: pool, target: "yard/crew"}},
		{"/v0/pool/yard%2Fcrew", route{kind: pool, target: "yard/crew"}},
		{"/v0/pool/yard/crew/scale", route{kind: command, target: "yard/crew", verb: "scale"}},
		{"/v0/pool/yard%2Fcrew/scale", route{kind: command, target: "yard/crew", verb: "scale"}},
		{"/v0/pool/yard%2Fscale", route{kind: pool, target: "yard/scale"}},
		{"/v0/pool/yard/restart", route{kind: pool, target: "yard/restart"}},
		{"/v0/city/town/pool/crew/scale", route{kind: command, city: "town", target: "crew", verb: "scale"}},
		{"/v0/rigs", route{kind: rigs}},
		{"/v0/rig/yard", route{kind: rig, target: "yard"}},
		{"/v0/rig/suspend", route{kind: rig, target: "suspend"}},
		{"/v0/rig/yard/suspend", route{kind: command, target: "yard", verb: "suspend-rig"}},
		{"/v0/city/town/rig/resume/resume", route{kind: command, city: "town", target: "resume", verb: "resume-rig"}},
		{"/v0/automations", route{kind: automations}},
		{"/v0/automation/sweep", route{kind: automated, target: "sweep"}},
		{"/v0/automation/run", route{kind: automated, target: "run"}},
		{"/v0/automation/history/history", route{kind: history, target: "history"}},
		{"/v0/automation/sweep:rig:yard", route{kind: automated, target: "sweep:rig:yard"}},
		{"/v0/automation/sweep%3Arig%3ayard/run", route{kind: command, target: "sweep:rig:yard", verb: "run"}},
		{"/v0/city/town/automation/sweep/history/", route{kind: history, city: "town", target: "sweep"}},
		{"/v0/automation/sweep/run/tw-1/stream", route{kind: running, target: "sweep", run: "tw-1"}},
		{"/v0/city/town/automation/run:rig:yard/run/stream/stream", route{kind: running, city: "town", target: "run:rig:yard", run: "stream"}},
		{"/v0/beads", route{kind: work}},
		{"/v0/city/town/beads", route{kind: work, city: "town"}},
		{"/v0/watchdog/chain", route{kind: watchdog, target: "chain"}},
		{"/v0/watchdog/yard%2Fchain/beat", route{kind: command, target: "yard/chain", verb: "beat"}},
		{"/v0/watchdog/yard/chain", route{kind: watchdog, target: "yard/chain"}},
		{"/v0/watchdog/yard/beat/decide", route{kind: command, target: "yard/beat", verb: "decide"}},
		{"/v0/bead/tw-1", route{kind: bead, target: "tw-1"}},
		{"/v0/bead/close", route{kind: bead, target: "close"}},
		{"/v0/city/town/bead/a.b_C/close", route{kind: closing, city: "town", target: "a.b_C"}},
		{"/v0/config", route{kind: configured}},
		{"/v0/city/town/config", route{kind: configured, city: "town"}},
		{"/v0/config/explain/rig/worker", route{kind: explained, target: "rig/worker"}},
		{"/v0/city/town/config/explain/rig%2Fworker", route{kind: explained, city: "town", target: "rig/worker"}},
		{"/v0/agent/a/run", route{kind: agent, target: "a/run"}},
		{"/v0/agent/a/update-bead", route{kind: agent, target: "a/update-bead"}},
		{"/v0/stop", route{kind: command, verb: "shutdown"}},
		{"/v0/city", route{kind: townKind}},
		{"/v0/city/town/city", route{kind: townKind, city: "town"}},
		{"/v0/agent/rig/worker/output/stream", route{kind: outputs, target: "rig/worker"}},
		{"/v0/agent/rig%2Fworker/output/stream", route{kind: outputs, target: "rig/worker"}},
		{"/v0/agent/rig%2Foutput/stream", route{kind: watch, target: "rig/output"}},
		{"/v0/agent/output/stream", route{kind: watch, target: "output"}},
		{"/v0/beads/ready", route{kind: "/v0/beads/ready"}},
		{"/v0/bead/tw-1/update", route{kind: updating, target: "tw-1"}},
		{"/v0/bead/tw-1/deps", route{kind: "/v0/bead/{bead}/deps", target: "tw-1"}},
		{"/v0/convoys", route{kind: "/v0/convoys"}},
		{"/v0/city/town/convoy/tw-1/add", route{kind: "/v0/convoy/{bead}/add", city: "town", target: "tw-1"}},
		{"/v0/convoy/close/close", route{kind: "/v0/convoy/{bead}/close", target: "close"}},
		{"/v0/mail/count", route{kind: "/v0/mail/count"}},
		{"/v0/mail/thread/tw-1", route{kind: "/v0/mail/thread/{message}", target: "tw-1"}},
		{"/v0/mail/thread", route{kind: letter, target: "thread"}},
		{"/v0/mail/tw-1/mark-unread", route{kind: "/v0/mail/{message}/mark-unread", target: "tw-1"}},
		{"/v0/rig/yard/restart", route{kind: "/v0/rig/{rig}/restart", target: "yard"}},
		{"/v0/config/explain", route{kind: "/v0/config/explain"}},
		{"/v0/city/town/config/validate", route{kind: "/v0/config/validate", city: "town"}},
		{"/v0/config/explain/validate", route{kind: explained, target: "validate"}},
		{"/v0/formulas", route{kind: "/v0/formulas"}},
		{"/debug/pprof/heap", route{kind: debug}},
	} {
		if got, err := parse(c.path); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.path, got, err, c.want)
		}
	}
	for path, want := range map[string]city.Code{
		"/v0/automation/sweep/run/tw-1": city.NotFound, "/v0/automation/sweep/runs/tw-1/stream": city.NotFound,
		"/v0/automation/sweep/run/tw-1/stream/x": city.NotFound, "/v0/automation/../run/tw-1/stream": city.Invalid,
		"/v0/automation/sweep/run/%2e%2e/stream": city.Invalid, "/v0/automation/sweep/run//stream": city.Invalid,
		"/v0/config/worker": city.NotFound, "/v0/config/explain/..": city.Invalid, "/v0/config/explain/%2e%2e": city.Invalid,
		"/v0/pool": city.NotFound, "/v0/pool/": city.NotFound, "/v0/rig": city.NotFound, "/v0/city/town/rig": city.NotFound,
		"/v0/rig/yard/explode": city.NotFound, "/v0/rig/yard/hand/suspend": city.NotFound, "/v0/rig/yard%2Fhand": city.Invalid,
		"/v0/rig/yard%2Fhand/suspend": city.Invalid, "/v0/rig/..": city.Invalid, "/v0/rig/%2e%2e/suspend": city.Invalid,
		"/v0/pool/..": city.Invalid, "/v0/pool/%2e%2e%2fcrew/scale": city.Invalid, "/v0/pool/yard//scale": city.Invalid,
		"/v0/pool/yard%2Fcrew/explode": city.NotFound, "/v0/pool/cr%00ew": city.Invalid, "/v0/pool/-1": city.Invalid,
		"/v0/pools/crew": city.NotFound, "/v0/rigs/yard": city.NotFound, "/v0/quarantine/worker": city.NotFound,
		"/v0/automation": city.NotFound, "/v0/automation/": city.NotFound, "/v0/automations/sweep": city.NotFound, "/v0/automation/sweep/explode": city.NotFound,
		"/v0/automation/a/b/run": city.NotFound, "/v0/automation/a%2Fb": city.Invalid, "/v0/automation/sweep:yard": city.Invalid, "/v0/automation/sweep:rig:": city.Invalid,
		"/v0/automation/sweep:rig:yard:rig:yard": city.Invalid, "/v0/automation/:rig:yard/run": city.Invalid, "/v0/automation/%2e%2e/run": city.Invalid,
		"/v0/automation/a%00": city.Invalid, "/v0/automation/a%": city.Invalid, "/v0/run": city.NotFound,
		"/v0/bead": city.NotFound, "/v0/bead/": city.NotFound, "/v0/beads/tw-1": city.NotFound, "/v0/bead/tw-1/explode": city.NotFound, "/v0/bead/tw-1/tw-2/close": city.NotFound,
		"/v0/bead/tw%2F1": city.Invalid, "/v0/bead/..": city.Invalid, "/v0/bead/%2e%2e/close": city.Invalid, "/v0/bead/tw%0a1": city.Invalid, "/v0/bead/tw:1": city.Invalid,
		"/v0/create-bead": city.NotFound, "/v0/update-bead": city.NotFound, "/v0/agent/sweep:rig:yard": city.Invalid, "/v0/pool/a:b": city.Invalid,
		"/v0/city/town/sessions": city.NotFound, "/v0/session/x/transcript": city.NotFound, "/v0/services": city.NotFound,
		"/v0/suspend-rig": city.NotFound, "/v0/scale": city.NotFound, "/v0/drain": city.NotFound,
	} {
		rt, err := parse(path)
		if e, ok := err.(*city.Error); !ok || e.Code != want || e.Message == "" {
			t.Errorf("%s: %+v, %#v, want %s", path, rt, err, want)
		}
	}
}

// Whatever a path is, the names that come of it are names (N5); and what Client asks of a thing with such a name is
// what the server understands.
func FuzzParse(f *testing.F) {
	for _, p := range []string{"/v0/agents", "/v0/agent/rig%2Fworker/stop", "/v0/city/town/agent/a/b/stream", "/v0/agent/%2e%2e",
		"/v0/agent/a%00", "/v0/agent/%", "//v0//agent", "/v0/city/%2f/agents", "/debug/pprof/../x", "/v0/agent/a%2f%2fb",
		"/v0/pools", "/v0/pool/rig/name", "/v0/pool/rig%2fname/scale", "/v0/city/town/pool/a/scale", "/v0/pool/%2e./scale", "/v0/pool//scale",
		"/v0/rigs", "/v0/rig/yard", "/v0/rig/yard/suspend", "/v0/rig/a%2fb/resume", "/v0/rig/a/b", "/v0/rig/%00/suspend", "/v0/quarantine",
		"/v0/agent/worker-10/drain-ack", "/v0/automations", "/v0/automation/x:rig:yard/run", "/v0/automation/x%3arig%3Ayard", "/v0/automation/x:rig:/history",
		"/v0/automation/run/run", "/v0/beads", "/v0/bead/tw-1", "/v0/city/town/bead/tw-1/close", "/v0/bead/%2e%2e/close", "/v0/bead/close/close", "/v0/bead/a%2fb"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, path string) {
		rt, err := parse(path)
		if err != nil {
			if e, ok := err.(*city.Error); !ok || e.Code != city.Invalid && e.Code != city.NotFound {
				t.Fatalf("%#v", err)
			}
			return
		}
		for _, n := range []string{rt.city, rt.target} {
			if strings.ContainsAny(n, "\x00\r\n %?#\\") || strings.Contains(n, "..") && strings.Contains("/"+n+"/", "/../") || strings.HasPrefix(n, "/") {
				t.Fatalf("%q is a name of %q", n, path)
			}
		}
		if (rt.kind == command) != (rt.verb != "") || rt.kind == "" {
			t.Fatalf("%+v", rt)
		}
		if rt.target == "" {
			return
		}
		if (rt.kind == rig || strings.HasSuffix(rt.verb, "-rig")) && strings.Contains(rt.target, "/") {
			t.Fatalf("%q is a rig of %q", rt.target, path)
		}
		for _, what := range partsOf(rt) {
			if back := roundTrip(t, must(targetPath(what.noun, rt.target, what.part))); back.target != rt.target || back.kind != what.kind {
				t.Fatalf("%s of %q came back as %+v", what.kind, rt.target, back)
			}
		}
		for _, c := range commandsOf(rt) {
			back := roundTrip(t, must(commandPath(c)))
			body, err := city.Encode(c)
			if err != nil || back.kind != command {
				t.Fatalf("%#v came back as %+v, %v", c, back, err)
			}
			if got, err := verb.Decode(back.verb, back.target, body); err != nil || !reflect.DeepEqual(got, c) {
				t.Fatalf("%#v came back as %#v, %v", c, got, err)
			}
		}
	})
}

// about tells what a route's target is the name of.
func about(rt route) kind {
	switch {
	case rt.kind == automated, rt.kind == history, rt.verb == "run":
		return automated
	}
	switch rt.kind {
	case bead, closing, updating, letter, reading, archiving, replying:
		return bead
	}
	if strings.Contains(string(rt.kind), "{bead}") || strings.Contains(string(rt.kind), "{message}") {
		return bead
	}
	return agent // or a pool or a rig, whose names an agent may have
}

// part is a path below a thing, and what it is understood as.
type part struct{ noun, part, kind kind }

// partsOf gives what can be read of something with a route's target for a name, and what is written without a verb.
func partsOf(rt route) []part {
	switch noun := about(rt); noun {
	case automated:
		return []part{{noun, "", automated}, {noun, history, history}}
	case bead:
		return []part{{noun, "", bead}, {noun, closing, closing}}
	}
	return []part{{agent, output, output}, {agent, watch, watch}, {agent, attach, attach}}
}

func must(path string, err error) string {
	if err != nil {
		panic(err) // a name that the server takes and the client does not
	}
	return path
}

// roundTrip parses a path as it comes out of a request.
func roundTrip(t *testing.T, path string) route {
	u, err := url.Parse("http://city" + path)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := parse(u.EscapedPath())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rt
}

// commandsOf gives every command about something with a route's target for a name. What is done to beads goes without
// verbs.
func commandsOf(rt route) []city.Command {
	name := rt.target
	switch about(rt) {
	case automated:
		return []city.Command{city.Fire{Automation: name}, city.Fire{Automation: name, By: "me"}, city.EndRun{Automation: name, By: "me"}}
	case bead:
		return nil
	}
	all := []city.Command{
		city.Restart{Agent: name}, city.Stop{Agent: name}, city.Kill{Agent: name}, city.Suspend{Agent: name}, city.Resume{Agent: name},
		city.Release{Agent: name}, city.Interrupt{Agent: name}, city.Clear{Agent: name}, city.RequestRestart{Agent: name},
		city.Drain{Agent: name}, city.Undrain{Agent: name}, city.DrainAck{Agent: name},
		city.Nudge{Agent: name, Text: "x"}, city.Nudge{Agent: name, Text: "x", Now: true}, city.Unsend{Agent: name}, city.Unsend{Agent: name, ID: 7}, city.SendKeys{Agent: name, Keys: []string{"Enter"}},
		city.Scale{Pool: name, Size: 3}, city.Scale{Pool: name, Auto: true},
	}
	if !strings.Contains(name, "/") {
		all = append(all, city.SuspendRig{Rig: name}, city.ResumeRig{Rig: name})
	}
	return all
}
