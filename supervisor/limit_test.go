package supervisor

import (
	"os"
	"strings"
	"testing"
)

// Limits are read from the tenant's own table and from resource_limit.
func TestResourceLimit(t *testing.T) {
	h := Home{Dir: t.TempDir(), Run: "/run/gc"}
	const tenant = "[tenants.acme]\ncities = [\"one\"]\ntoken_file = \"t\"\n"
	want := Tenant{Name: "acme", Cities: []string{"one"}, TokenFile: h.file("t"), Socket: "/run/gc/tenant-acme.sock",
		MaxAgents: 50, MaxCities: 5, MaxCPUs: 1.5, MaxMemory: 4 << 30}
	for _, limits := range []string{
		"resource_limit = { max_agents = 50, max_cities = 5, max_cpus = 1.5, max_memory = \"4G\" }",
		"max_agents = 50\nmax_cities = 5\nmax_cpus = \"1.5\"\nmax_memory = \"4096MiB\"",
		"max_agents = 50\nmax_memory = 4294967296\nresource_limit = { max_cities = 5, max_cpus = 1.5 }",
	} {
		write(t, h.Settings(), tenant+limits+"\n")
		if s, err := ReadSettings(h); err != nil || !s.Tenants[0].equal(&want) || len(s.Warnings) != 0 {
			t.Errorf("%s: %+v, %v", limits, s, err)
		}
	}
	for limits, msg := range map[string]string{
		"max_agents = 4\nresource_limit = { max_agents = 50 }": "remove one of the two",
		"max_cpus = 0":                              "not a number of processors",
		"max_cpus = \"two\"":                        "not a number of processors",
		"max_cpus = nan":                            "not a number of processors",
		"max_memory = \"nan\"":                      "not an amount of memory",
		"max_memory = \"NaNG\"":                     "not an amount of memory",
		"max_cpus = [2]":                            "not a number of processors",
		"max_memory = \"much\"":                     "not an amount of memory",
		"max_memory = 100":                          "at least 1 MB",
		"resource_limit = { max_memory = \"-1G\" }": "not an amount of memory",
	} {
		write(t, h.Settings(), tenant+limits+"\n")
		if _, err := ReadSettings(h); err == nil || !strings.Contains(err.Error(), msg) {
			t.Errorf("%s: %v", limits, err)
		}
	}
	write(t, h.Settings(), tenant+"resource_limit = { disk = 4 }\n")
	if s, err := ReadSettings(h); err != nil || len(s.Warnings) != 1 {
		t.Errorf("an unknown limit: got %+v, %v", s, err)
	}
}

// The settings can contain a token if no other user can read them.
func TestTenantToken(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	const tenant = "[tenants.acme]\ncities = [\"one\"]\nsocket = \"acme.sock\"\n"
	for text, msg := range map[string]string{
		"token = \"0123456789abcdef\"":                        "",
		"token = \"short\"":                                   "16 to 512",
		"token = \"0123456789 abcdef\"":                       "without spaces",
		"token = \"0123456789abcdef\"\ntoken_file = \"file\"": "are both set",
		"": "set one of them",
	} {
		write(t, h.Settings(), tenant+text+"\n")
		if err := os.Chmod(h.Settings(), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadSettings(h)
		if msg == "" && (err != nil || s.Tenants[0].Token != "0123456789abcdef" || s.Tenants[0].Socket != h.file("acme.sock")) ||
			msg != "" && (err == nil || !strings.Contains(err.Error(), msg) || strings.Contains(err.Error(), "0123456789")) {
			t.Errorf("%s: %+v %v", text, s, err)
		}
	}
	write(t, h.Settings(), tenant+"token = \"0123456789abcdef\"\n")
	if err := os.Chmod(h.Settings(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSettings(h); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that other users can read: got %v", err)
	}
}

// Two tenants cannot have the same socket, and no tenant can have the supervisor's.
func TestTenantSocketIsNotShared(t *testing.T) {
	h := Home{Dir: t.TempDir(), Run: "/run/gc"}
	for name, c := range map[string]struct{ acme, beta, msg string }{
		"different":        {`socket = "acme.sock"`, `socket = "beta.sock"`, ""},
		"default":          {"", "", ""},
		"same":             {`socket = "x.sock"`, `socket = "./sub/../x.sock"`, h.Dir + "/x.sock is already the socket of acme"},
		"same, absolute":   {`socket = "/x/a.sock"`, `socket = "/x//a.sock"`, "/x/a.sock is already the socket of acme"},
		"default of other": {`socket = "/run/gc/tenant-beta.sock"`, "", "/run/gc/tenant-beta.sock is already the socket of acme"},
		"the supervisor's": {"socket = \"" + h.Socket() + "\"", "", h.Socket() + " is already the socket of the supervisor"},
	} {
		write(t, h.Settings(), "[tenants.acme]\ntoken_file = \"t\"\n"+c.acme+"\n[tenants.beta]\ntoken_file = \"t\"\n"+c.beta+"\n")
		if _, err := ReadSettings(h); (err == nil) != (c.msg == "") || err != nil && !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
