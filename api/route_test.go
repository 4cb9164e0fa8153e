package api

import (
	"net/url"
	"strings"
	"testing"

	"gcity/city"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		path string
		want route
	}{
		{"/health", route{kind: health}},
		{"/v0/agents", route{kind: agents}},
		{"/v0/agents/", route{kind: agents}},
		{"/v0/city/town", route{kind: status, city: "town"}},
		{"/v0/city/town/events/stream", route{kind: eventStream, city: "town"}},
		{"/v0/agent/worker", route{kind: agent, agent: "worker"}},
		{"/v0/agent/output", route{kind: agent, agent: "output"}},
		{"/v0/agent/rig/worker", route{kind: agent, agent: "rig/worker"}},
		{"/v0/agent/rig%2Fworker", route{kind: agent, agent: "rig/worker"}},
		{"/v0/agent/rig%2fstop", route{kind: agent, agent: "rig/stop"}},
		{"/v0/agent/rig/stop", route{kind: command, agent: "rig", verb: "stop"}},
		{"/v0/agent/rig/stop/stop", route{kind: command, agent: "rig/stop", verb: "stop"}},
		{"/v0/agent/rig%2Fstop/stop", route{kind: command, agent: "rig/stop", verb: "stop"}},
		{"/v0/agent/a/send-keys", route{kind: command, agent: "a", verb: "send-keys"}},
		{"/v0/agent/a/request-restart", route{kind: command, agent: "a", verb: "request-restart"}},
		{"/v0/city/town/agent/a/b/stream", route{kind: watch, city: "town", agent: "a/b"}},
		{"/v0/stop", route{kind: command, verb: "shutdown"}},
		{"/debug/pprof/heap", route{kind: debug}},
	} {
		if got, err := parse(c.path); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.path, got, err, c.want)
		}
	}
}

// Whatever a path is, the names that come of it are names; and the paths that Client builds mean what it meant.
func FuzzParse(f *testing.F) {
	for _, p := range []string{"/v0/agents", "/v0/agent/rig%2Fworker/stop", "/v0/city/town/agent/a/b/stream", "/v0/agent/%2e%2e",
		"/v0/agent/a%00", "/v0/agent/%", "//v0//agent", "/v0/city/%2f/agents", "/debug/pprof/../x", "/v0/agent/a%2f%2fb"} {
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
		for _, n := range []string{rt.city, rt.agent} {
			if strings.ContainsAny(n, "\x00\r\n %?#\\") || strings.Contains(n, "..") && strings.Contains("/"+n+"/", "/../") || strings.HasPrefix(n, "/") {
				t.Fatalf("%q is a name of %q", n, path)
			}
		}
		if (rt.kind == command) != (rt.verb != "") || rt.kind == "" {
			t.Fatalf("%+v", rt)
		}
		if rt.agent == "" {
			return
		}
		for _, what := range []kind{output, watch, attach, "restart", "nudge"} {
			built, err := agentPath(rt.agent, what)
			if err != nil {
				t.Fatalf("%q: %v", rt.agent, err)
			}
			u, err := url.Parse("http://city" + built)
			if err != nil {
				t.Fatal(err)
			}
			back, err := parse(u.EscapedPath())
			if err != nil || back.agent != rt.agent || back.kind != what && back.verb != string(what) {
				t.Fatalf("%s of %q came back as %+v, %v", what, rt.agent, back, err)
			}
		}
	})
}
