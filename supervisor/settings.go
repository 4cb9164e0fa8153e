package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/internal/tomldoc"
)

// Settings is supervisor.toml.
type Settings struct {
	Port      int    // 0 = the socket alone
	Bind      string // an address, or "localhost"
	Patrol    time.Duration
	TokenFile string // absolute; "" = no token is asked for
	Hosts     []string
	Tenants   []Tenant // in the order of their names
}

// Tenant is one of several who share a machine, and may use their own cities only.
type Tenant struct {
	Name      string
	Cities    []string // names
	TokenFile string   // absolute
	MaxAgents int      // 0 = any number
	MaxCities int
}

// Defaults are the settings of a home without the file.
func Defaults() Settings {
	return Settings{Port: 8080, Bind: "127.0.0.1", Patrol: 10 * time.Second}
}

// ReadSettings reads supervisor.toml; one that is not there gives the defaults. Mistakes are tomldoc.Problems.
func ReadSettings(h Home) (Settings, error) {
	d, err := tomldoc.Load(h.Settings(), h.Settings(), maxRegistry)
	if errors.Is(err, fs.ErrNotExist) {
		return Defaults(), nil
	}
	if err != nil {
		return Settings{}, fmt.Errorf("the settings of the supervisor cannot be read: %w", err)
	}
	s := readSettings(h, d.Root())
	if p := d.Problems(); len(p) > 0 {
		return Settings{}, p
	}
	return s, nil
}

func readSettings(h Home, root tomldoc.Table) Settings {
	root.Only("supervisor", "tenants")
	s := Defaults()
	if t, ok := root.Table("supervisor"); ok {
		t.Only("port", "bind", "patrol_interval", "token_file", "hosts")
		if t.Has("port") {
			s.Port = t.Number("port", 0, 65535)
		}
		if t.Has("bind") {
			if s.Bind = t.Text("bind"); s.Bind != "localhost" {
				if addr, err := netip.ParseAddr(s.Bind); err != nil || addr.Zone() != "" {
					t.Wrong("bind", "%q is no IP address; \"127.0.0.1\" is this machine alone, \"0.0.0.0\" every address that it has", s.Bind)
				}
			}
		}
		if s.Patrol = t.Duration("patrol_interval", s.Patrol); s.Patrol < time.Second {
			t.Wrong("patrol_interval", "is %s; it must be at least 1s", s.Patrol)
		}
		s.TokenFile = h.file(t.Text("token_file"))
		s.Hosts = t.Texts("hosts")
		if s.Port != 0 && s.TokenFile == "" && !local(s.Bind) {
			t.Wrong("bind", "is %q, which other machines reach: add token_file = \"FILE\", since whoever may use the API may do everything that you may", s.Bind)
		}
	}
	if all, ok := root.Table("tenants"); ok {
		for _, name := range all.Keys() {
			if t, ok := all.Table(name); ok {
				s.Tenants = append(s.Tenants, h.tenant(name, t))
			}
		}
		slices.SortFunc(s.Tenants, func(x, y Tenant) int { return strings.Compare(x.Name, y.Name) })
		onlyOnce(all, s.Tenants)
	}
	return s
}

func (h Home) tenant(name string, t tomldoc.Table) Tenant {
	t.Only("cities", "token_file", "max_agents", "max_cities")
	if wrong := CheckName(name); wrong != "" {
		t.Wrong("", "%s", strings.Replace(wrong, "of a city here", "of a tenant", 1))
	}
	one := Tenant{Name: name, Cities: t.Texts("cities"), TokenFile: h.file(t.Text("token_file")),
		MaxAgents: t.Number("max_agents", 0, 1_000_000), MaxCities: t.Number("max_cities", 0, 1_000_000)}
	for i, c := range one.Cities {
		if wrong := CheckName(c); wrong != "" {
			t.WrongItem("cities", i, "%s", wrong)
		}
	}
	if one.TokenFile == "" {
		t.Wrong("", "token_file is missing: without a token nobody could be told from another")
	}
	return one
}

// onlyOnce refuses a city that several tenants would share.
func onlyOnce(all tomldoc.Table, tenants []Tenant) {
	owner := map[string]string{}
	for _, one := range tenants {
		t, _ := all.Table(one.Name)
		for i, c := range one.Cities {
			if other, taken := owner[c]; taken {
				t.WrongItem("cities", i, "the city %q is %s's already", c, other)
			}
			owner[c] = one.Name
		}
	}
}

// file is a path as the settings give it: relative ones are below the home.
func (h Home) file(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(h.Dir, path)
}

// local says whether a bind address is reached from this machine alone.
func local(bind string) bool {
	addr, err := netip.ParseAddr(bind)
	return bind == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
