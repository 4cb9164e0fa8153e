package supervisor

import (
	"strings"
	"testing"
)

func TestResourceLimit(t *testing.T) {
	h := Home{Dir: t.TempDir()}
	const tenant = "[tenants.acme]\ncities = [\"one\"]\ntoken_file = \"t\"\n"
	write(t, h.Settings(), tenant+"resource_limit = { max_agents = 50, max_cities = 5, cpu = \"2\" }\n")
	s, err := ReadSettings(h)
	if err != nil || s.Tenants[0].MaxAgents != 50 || s.Tenants[0].MaxCities != 5 {
		t.Fatalf("%+v, %v", s, err)
	}
	if len(s.Warnings) != 1 || !strings.Contains(s.Warnings[0], "cpu: has no effect yet") {
		t.Errorf("%q", s.Warnings)
	}
	write(t, h.Settings(), tenant+"max_agents = 4\nresource_limit = { max_agents = 50 }\n")
	if _, err := ReadSettings(h); err == nil || !strings.Contains(err.Error(), "take one of them out") {
		t.Errorf("%v", err)
	}
}
