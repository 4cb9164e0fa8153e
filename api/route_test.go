package api

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"gcity/api/client"
	"gcity/api/wire"
	"gcity/city"
	"gcity/city/verb"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		path string
		want wire.Route
	}{
		{"/health", wire.Route{Kind: wire.KindHealth}},
		{"/v0/agents", wire.Route{Kind: wire.KindAgents}},
		{"/v0/agents/", wire.Route{Kind: wire.KindAgents}},
		{"/v0/city/town", wire.Route{Kind: wire.KindCity, City: "town"}},
		{"/v0/city/town/events/stream", wire.Route{Kind: wire.KindEventStream, City: "town"}},
		{"/v0/agent/worker", wire.Route{Kind: wire.KindAgent, Target: "worker"}},
		{"/v0/agent/output", wire.Route{Kind: wire.KindAgent, Target: "output"}},
		{"/v0/agent/rig/worker", wire.Route{Kind: wire.KindAgent, Target: "rig/worker"}},
		{"/v0/agent/rig%2Fworker", wire.Route{Kind: wire.KindAgent, Target: "rig/worker"}},
		{"/v0/agent/rig%2fstop", wire.Route{Kind: wire.KindAgent, Target: "rig/stop"}},
		{"/v0/agent/rig/stop", wire.Route{Kind: wire.KindCommand, Target: "rig", Verb: "stop"}},
		{"/v0/agent/rig/stop/stop", wire.Route{Kind: wire.KindCommand, Target: "rig/stop", Verb: "stop"}},
		{"/v0/agent/rig%2Fstop/stop", wire.Route{Kind: wire.KindCommand, Target: "rig/stop", Verb: "stop"}},
		{"/v0/agent/a/send-keys", wire.Route{Kind: wire.KindCommand, Target: "a", Verb: "send-keys"}},
		{"/v0/agent/a/request-restart", wire.Route{Kind: wire.KindCommand, Target: "a", Verb: "request-restart"}},
		{"/v0/city/town/agent/a/b/stream", wire.Route{Kind: wire.KindWatchStream, City: "town", Target: "a/b"}},
		{"/v0/agent/a/drain", wire.Route{Kind: wire.KindCommand, Target: "a", Verb: "drain"}},
		{"/v0/agent/a/undrain", wire.Route{Kind: wire.KindCommand, Target: "a", Verb: "undrain"}},
		{"/v0/agent/rig/a-2/drain-ack", wire.Route{Kind: wire.KindCommand, Target: "rig/a-2", Verb: "drain-ack"}},
		{"/v0/agent/a/scale", wire.Route{Kind: wire.KindAgent, Target: "a/scale"}},
		{"/v0/agent/a/suspend-rig", wire.Route{Kind: wire.KindAgent, Target: "a/suspend-rig"}},
		{"/v0/quarantine", wire.Route{Kind: wire.KindQuarantine}},
		{"/v0/pools", wire.Route{Kind: wire.KindPools}},
		{"/v0/city/town/pools", wire.Route{Kind: wire.KindPools, City: "town"}},
		{"/v0/pool/crew", wire.Route{Kind: wire.KindPool, Target: "crew"}},
		{"/v0/pool/scale", wire.Route{Kind: wire.KindPool, Target: "scale"}},
		{"/v0/pool/yard/crew", wire.Route{Kind: wire.KindPool, Target: "yard/crew"}},
		{"/v0/pool/yard%2Fcrew", wire.Route{Kind: wire.KindPool, Target: "yard/crew"}},
		{"/v0/pool/yard/crew/scale", wire.Route{Kind: wire.KindCommand, Target: "yard/crew", Verb: "scale"}},
		{"/v0/pool/yard%2Fcrew/scale", wire.Route{Kind: wire.KindCommand, Target: "yard/crew", Verb: "scale"}},
		{"/v0/pool/yard%2Fscale", wire.Route{Kind: wire.KindPool, Target: "yard/scale"}},
		{"/v0/pool/yard/drain", wire.Route{Kind: wire.KindPool, Target: "yard/drain"}},
		{"/v0/city/town/pool/crew/scale", wire.Route{Kind: wire.KindCommand, City: "town", Target: "crew", Verb: "scale"}},
		{"/v0/rigs", wire.Route{Kind: wire.KindRigs}},
		{"/v0/rig/yard", wire.Route{Kind: wire.KindRig, Target: "yard"}},
		{"/v0/rig/suspend", wire.Route{Kind: wire.KindRig, Target: "suspend"}},
		{"/v0/rig/yard/suspend", wire.Route{Kind: wire.KindCommand, Target: "yard", Verb: "suspend-rig"}},
		{"/v0/city/town/rig/resume/resume", wire.Route{Kind: wire.KindCommand, City: "town", Target: "resume", Verb: "resume-rig"}},
		{"/v0/automations", wire.Route{Kind: wire.KindAutomations}},
		{"/v0/automation/sweep", wire.Route{Kind: wire.KindAutomation, Target: "sweep"}},
		{"/v0/automation/run", wire.Route{Kind: wire.KindAutomation, Target: "run"}},
		{"/v0/automation/history/history", wire.Route{Kind: wire.KindHistory, Target: "history"}},
		{"/v0/automation/sweep:rig:yard", wire.Route{Kind: wire.KindAutomation, Target: "sweep:rig:yard"}},
		{"/v0/automation/sweep%3Arig%3ayard/run", wire.Route{Kind: wire.KindCommand, Target: "sweep:rig:yard", Verb: "run"}},
		{"/v0/city/town/automation/sweep/history/", wire.Route{Kind: wire.KindHistory, City: "town", Target: "sweep"}},
		{"/v0/automation/sweep/run/tw-1/stream", wire.Route{Kind: wire.KindRunStream, Target: "sweep", Run: "tw-1"}},
		{"/v0/city/town/automation/run:rig:yard/run/stream/stream", wire.Route{Kind: wire.KindRunStream, City: "town", Target: "run:rig:yard", Run: "stream"}},
		{"/v0/beads", wire.Route{Kind: wire.KindBeads}},
		{"/v0/city/town/beads", wire.Route{Kind: wire.KindBeads, City: "town"}},
		{"/v0/watchdog/chain", wire.Route{Kind: wire.KindWatchdog, Target: "chain"}},
		{"/v0/watchdog/yard%2Fchain/beat", wire.Route{Kind: wire.KindCommand, Target: "yard/chain", Verb: "beat"}},
		{"/v0/watchdog/yard/chain", wire.Route{Kind: wire.KindWatchdog, Target: "yard/chain"}},
		{"/v0/watchdog/yard/beat/decide", wire.Route{Kind: wire.KindCommand, Target: "yard/beat", Verb: "decide"}},
		{"/v0/bead/tw-1", wire.Route{Kind: wire.KindBead, Target: "tw-1"}},
		{"/v0/bead/close", wire.Route{Kind: wire.KindBead, Target: "close"}},
		{"/v0/city/town/bead/a.b_C/close", wire.Route{Kind: wire.KindCloseBead, City: "town", Target: "a.b_C"}},
		{"/v0/config", wire.Route{Kind: wire.KindConfig}},
		{"/v0/city/town/config", wire.Route{Kind: wire.KindConfig, City: "town"}},
		{"/v0/config/explain/rig/worker", wire.Route{Kind: wire.KindConfigExplain, Target: "rig/worker"}},
		{"/v0/city/town/config/explain/rig%2Fworker", wire.Route{Kind: wire.KindConfigExplain, City: "town", Target: "rig/worker"}},
		{"/v0/agent/a/run", wire.Route{Kind: wire.KindAgent, Target: "a/run"}},
		{"/v0/agent/a/update-bead", wire.Route{Kind: wire.KindAgent, Target: "a/update-bead"}},
		{"/v0/stop", wire.Route{Kind: wire.KindCommand, Verb: "shutdown"}},
		{"/v0/city", wire.Route{Kind: wire.KindCity}},
		{"/v0/city/town/city", wire.Route{Kind: wire.KindCity, City: "town"}},
		{"/v0/agent/rig/worker/output/stream", wire.Route{Kind: wire.KindOutputStream, Target: "rig/worker"}},
		{"/v0/agent/rig%2Fworker/output/stream", wire.Route{Kind: wire.KindOutputStream, Target: "rig/worker"}},
		{"/v0/agent/rig/worker/peek", wire.Route{Kind: wire.KindPeek, Target: "rig/worker"}},
		{"/v0/agent/peek", wire.Route{Kind: wire.KindAgent, Target: "peek"}},
		{"/v0/agent/rig%2Foutput/stream", wire.Route{Kind: wire.KindWatchStream, Target: "rig/output"}},
		{"/v0/agent/output/stream", wire.Route{Kind: wire.KindWatchStream, Target: "output"}},
		{"/v0/beads/ready", wire.Route{Kind: "/v0/beads/ready"}},
		{"/v0/bead/tw-1/update", wire.Route{Kind: wire.KindUpdateBead, Target: "tw-1"}},
		{"/v0/bead/tw-1/deps", wire.Route{Kind: "/v0/bead/{bead}/deps", Target: "tw-1"}},
		{"/v0/convoys", wire.Route{Kind: "/v0/convoys"}},
		{"/v0/city/town/convoy/tw-1/add", wire.Route{Kind: "/v0/convoy/{bead}/add", City: "town", Target: "tw-1"}},
		{"/v0/convoy/close/close", wire.Route{Kind: "/v0/convoy/{bead}/close", Target: "close"}},
		{"/v0/mail/count", wire.Route{Kind: "/v0/mail/count"}},
		{"/v0/mail/thread/tw-1", wire.Route{Kind: "/v0/mail/thread/{message}", Target: "tw-1"}},
		{"/v0/mail/thread", wire.Route{Kind: wire.KindMessage, Target: "thread"}},
		{"/v0/mail/tw-1/mark-unread", wire.Route{Kind: "/v0/mail/{message}/mark-unread", Target: "tw-1"}},
		{"/v0/rig/yard/restart", wire.Route{Kind: "/v0/rig/{rig}/restart", Target: "yard"}},
		{"/v0/config/explain", wire.Route{Kind: "/v0/config/explain"}},
		{"/v0/city/town/config/validate", wire.Route{Kind: "/v0/config/validate", City: "town"}},
		{"/v0/config/explain/validate", wire.Route{Kind: wire.KindConfigExplain, Target: "validate"}},
		{"/v0/formulas", wire.Route{Kind: "/v0/formulas"}},
		{"/debug/pprof/heap", wire.Route{Kind: wire.KindDebug}},
	} {
		if got, err := wire.Parse(c.path); err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.path, got, err, c.want)
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
		rt, err := wire.Parse(path)
		if e, ok := err.(*city.Error); !ok || e.Code != want || e.Message == "" {
			t.Errorf("%s: got %+v, %#v, want %s", path, rt, err, want)
		}
	}
}

// The server parses the paths that a Client builds.
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
		rt, err := wire.Parse(path)
		if err != nil {
			if e, ok := err.(*city.Error); !ok || e.Code != city.Invalid && e.Code != city.NotFound {
				t.Fatalf("%#v", err)
			}
			return
		}
		for _, n := range []string{rt.City, rt.Target} {
			if strings.ContainsAny(n, "\x00\r\n %?#\\") || strings.Contains(n, "..") && strings.Contains("/"+n+"/", "/../") || strings.HasPrefix(n, "/") {
				t.Fatalf("got the name %q from the path %q", n, path)
			}
		}
		if (rt.Kind == wire.KindCommand) != (rt.Verb != "") || rt.Kind == "" {
			t.Fatalf("%+v", rt)
		}
		if rt.Target == "" {
			return
		}
		if (rt.Kind == wire.KindRig || strings.HasSuffix(rt.Verb, "-rig")) && strings.Contains(rt.Target, "/") {
			t.Fatalf("got the rig %q from the path %q", rt.Target, path)
		}
		for _, what := range partsOf(rt) {
			if back := roundTrip(t, must(wire.Path(what.noun, rt.Target, what.part))); back.Target != rt.Target || back.Kind != what.kind {
				t.Fatalf("%s of %q: got %+v", what.kind, rt.Target, back)
			}
		}
		for _, c := range commandsOf(rt) {
			back := roundTrip(t, must(client.CommandPath(c)))
			body, err := city.Encode(c)
			if err != nil || back.Kind != wire.KindCommand {
				t.Fatalf("path of %#v: got %+v, %v", c, back, err)
			}
			if got, err := verb.Decode(back.Verb, back.Target, body); err != nil || !reflect.DeepEqual(got, c) {
				t.Fatalf("decoding %#v: got %#v, %v", c, got, err)
			}
		}
	})
}

func about(rt wire.Route) wire.Kind {
	switch {
	case rt.Kind == wire.KindAutomation, rt.Kind == wire.KindHistory, rt.Verb == "run":
		return wire.KindAutomation
	}
	switch rt.Kind {
	case wire.KindBead, wire.KindCloseBead, wire.KindUpdateBead, wire.KindMessage, wire.KindMarkRead, wire.KindArchive, wire.KindReply:
		return wire.KindBead
	}
	if strings.Contains(string(rt.Kind), "{bead}") || strings.Contains(string(rt.Kind), "{message}") {
		return wire.KindBead
	}
	return wire.KindAgent // also for pools and rigs, because an agent can have the same name
}

type part struct{ noun, part, kind wire.Kind }

func partsOf(rt wire.Route) []part {
	switch noun := about(rt); noun {
	case wire.KindAutomation:
		return []part{{noun, "", wire.KindAutomation}, {noun, wire.KindHistory, wire.KindHistory}}
	case wire.KindBead:
		return []part{{noun, "", wire.KindBead}, {noun, wire.KindCloseBead, wire.KindCloseBead}}
	}
	return []part{{wire.KindAgent, wire.KindOutput, wire.KindOutput}, {wire.KindAgent, wire.KindWatchStream, wire.KindWatchStream}, {wire.KindAgent, wire.KindAttach, wire.KindAttach}}
}

func must(path string, err error) string {
	if err != nil {
		panic(err) // the server accepts the name, but the client does not
	}
	return path
}

func roundTrip(t *testing.T, path string) wire.Route {
	u, err := url.Parse("http://city" + path)
	if err != nil {
		t.Fatal(err)
	}
	rt, err := wire.Parse(u.EscapedPath())
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return rt
}

func commandsOf(rt wire.Route) []city.Command {
	name := rt.Target
	switch about(rt) {
	case wire.KindAutomation:
		return []city.Command{city.Fire{Automation: name}, city.Fire{Automation: name, By: "me"}, city.EndRun{Automation: name, By: "me"}}
	case wire.KindBead:
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
