package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/internal/toml"
)

// Settings contains the settings from supervisor.toml.
type Settings struct {
	Port      int    // TCP port; 0 = only the unix socket
	AnyPort   bool   // the file sets neither Port nor Bind, so the API is optional
	Bind      string // IP address, or "localhost"
	Patrol    time.Duration
	TokenFile string // absolute path; "" = no token required
	MakeToken bool   // TokenFile is the default, so the supervisor creates the file
	ReadFile  string // absolute path of the file with the read-only token; "" = no such token
	Hosts     []string
	Tenants   []Tenant // sorted by name
	Warnings  []string
}

// Tenant is a user who has access to only some of the cities on a shared machine.
type Tenant struct {
	Name      string
	Cities    []string
	Token     string // "" = it is in TokenFile
	TokenFile string // absolute path
	Socket    string // absolute path
	// maximum number of agents in all of the tenant's cities; 0 = no limit
	MaxAgents int
	MaxCities int
	MaxCPUs   float64 // processors for all of the tenant's agents; 0 = no limit
	MaxMemory int64   // bytes of memory for all of the tenant's agents; 0 = no limit
}

func (t *Tenant) equal(u *Tenant) bool {
	a, b := *t, *u
	a.Cities, b.Cities = nil, nil
	return slices.Equal(t.Cities, u.Cities) && reflect.DeepEqual(a, b)
}

// Defaults returns the settings of a home without a supervisor.toml.
func Defaults(h Home) Settings {
	return Settings{Port: 8080, AnyPort: true, Bind: "127.0.0.1", Patrol: 10 * time.Second,
		TokenFile: h.Token(), MakeToken: true}
}

// ReadSettings reads supervisor.toml. If the file does not exist, it returns the defaults. The error for an invalid
// file is a toml.Problems.
func ReadSettings(h Home) (Settings, error) {
	d, err := toml.Load(h.Settings(), h.Settings(), maxRegistry)
	if errors.Is(err, fs.ErrNotExist) {
		return Defaults(h), nil
	}
	if err != nil {
		return Settings{}, fmt.Errorf("cannot read the supervisor's settings: %w", err)
	}
	s := readSettings(h, d.Root())
	if p := d.Problems(); len(p) > 0 {
		return Settings{}, p
	}
	for _, w := range d.Warnings() {
		s.Warnings = append(s.Warnings, w.String())
	}
	return s, nil
}

func readSettings(h Home, root toml.Table) Settings {
	root.RejectUnknown("supervisor", "tenants")
	s := Defaults(h)
	if t, ok := root.Table("supervisor"); ok {
		t.RejectUnknown("port", "bind", "patrol_interval", "token", "token_file", "read_token_file",
			"hosts")
		s.AnyPort = !t.Has("port") && !t.Has("bind")
		if t.Has("port") {
			s.Port = t.Number("port", 0, 65535)
		}
		if t.Has("bind") {
			if s.Bind = t.Text("bind"); s.Bind != "localhost" {
				if addr, err := netip.ParseAddr(s.Bind); err != nil || addr.Zone() != "" {
					t.Wrong("bind",
						`%q is not an IP address; use "127.0.0.1" for this machine only, or `+
							`"0.0.0.0" for all its addresses`, s.Bind)
				}
			}
		}
		if s.Patrol = t.Duration("patrol_interval", s.Patrol); s.Patrol < time.Second {
			t.Wrong("patrol_interval", "is %s; it must be at least 1s", s.Patrol)
		}
		h.tokens(t, &s)
		s.Hosts = t.Texts("hosts")
		if s.Port != 0 && s.TokenFile == "" && !local(s.Bind) {
			t.Wrong("bind", "is %q, which other machines can reach; without a token, every "+
				"client has full access; remove `token = false`", s.Bind)
		}
	}
	if all, ok := root.Table("tenants"); ok {
		for _, name := range all.Keys() {
			if t, ok := all.Table(name); ok {
				s.Tenants = append(s.Tenants, h.tenant(name, t))
			}
		}
		slices.SortFunc(s.Tenants, func(x, y Tenant) int { return strings.Compare(x.Name, y.Name) })
		h.checkShared(all, s.Tenants)
	}
	return s
}

func (h Home) tokens(t toml.Table, s *Settings) {
	if file := h.file(t.Text("token_file")); file != "" {
		s.TokenFile, s.MakeToken = file, false
	}
	s.ReadFile = h.file(t.Text("read_token_file"))
	if t.Flag("token", true) {
		return
	}
	if !s.MakeToken || s.ReadFile != "" {
		t.Wrong("token", "is false, but a token file is set: remove one of the two")
	}
	s.TokenFile, s.MakeToken, s.ReadFile = "", false, ""
}

func (h Home) tenant(name string, t toml.Table) Tenant {
	t.RejectUnknown("cities", "token", "token_file", "socket", "max_agents", "max_cities",
		"max_cpus", "max_memory", "resource_limit")
	if wrong := checkName("tenant", name); wrong != "" {
		t.Wrong("", "%s", wrong)
	}
	one := Tenant{Name: name, Cities: t.Texts("cities"), TokenFile: h.file(t.Text("token_file")),
		Socket: h.file(t.Text("socket"))}
	if one.Socket == "" {
		one.Socket = h.tenantSocket(name)
	}
	one.limits(t)
	if limits, ok := t.Table("resource_limit"); ok {
		for _, key := range limits.Keys() {
			if t.Has(key) {
				limits.Wrong(key, "is also set in the tenant's table: remove one of the two")
			}
		}
		limits.WarnUnknown(limitKeys()...)
		one.limits(limits)
	}
	for i, c := range one.Cities {
		if wrong := CheckName(c); wrong != "" {
			t.WrongItem("cities", i, "%s", wrong)
		}
	}
	one.token(h, t)
	return one
}

func (one *Tenant) token(h Home, t toml.Table) {
	if !t.Has("token") {
		if one.TokenFile == "" {
			t.Wrong("", "token_file and token are both missing: set one of them")
		}
		return
	}
	one.Token = t.Text("token")
	info, err := os.Stat(h.Settings())
	switch {
	case one.TokenFile != "":
		t.Wrong("token", "and token_file are both set: remove one of the two")
	case len(one.Token) < 16 || len(one.Token) > 512 || strings.ContainsFunc(one.Token, notInToken):
		t.Wrong("token", "must be 16 to 512 letters, digits or symbols without spaces")
	case err == nil && info.Mode().Perm()&0o077 != 0:
		t.Wrong("token", "can be read by other users: run `chmod 600 %s`", h.Settings())
	}
}

func notInToken(r rune) bool { return r <= ' ' || r > '~' }

func limitKeys() []string { return []string{"max_agents", "max_cities", "max_cpus", "max_memory"} }

func (one *Tenant) limits(t toml.Table) {
	if t.Has("max_agents") {
		one.MaxAgents = t.Number("max_agents", 0, 1_000_000)
	}
	if t.Has("max_cities") {
		one.MaxCities = t.Number("max_cities", 0, 1_000_000)
	}
	if text, ok := t.Scalar("max_cpus"); ok {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || !(n >= 0.01 && n <= 10_000) { // NaN is in no range
			t.Wrong("max_cpus", "%q is not a number of processors; use a number such as 2 or 0.5",
				text)
		}
		one.MaxCPUs = n
	} else if t.Has("max_cpus") {
		t.Wrong("max_cpus", "is not a number of processors; use a number such as 2 or 0.5")
	}
	if text, ok := t.Scalar("max_memory"); ok {
		n, ok := bytesOf(text)
		if !ok {
			t.Wrong("max_memory", "%q is not an amount of memory of at least 1 MB; use a value "+
				"such as \"4G\" or \"512M\"", text)
		}
		one.MaxMemory = n
	} else if t.Has("max_memory") {
		t.Wrong("max_memory", "is not an amount of memory; use a value such as \"4G\" or \"512M\"")
	}
}

func bytesOf(text string) (int64, bool) {
	number := strings.TrimRight(strings.ToUpper(strings.TrimSpace(text)), "IB")
	shift := 0
	for i, unit := range "KMGT" {
		if rest, ok := strings.CutSuffix(number, string(unit)); ok {
			number, shift = strings.TrimSpace(rest), 10*(i+1)
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if n *= float64(int64(1) << shift); err != nil || !(n >= 1<<20 && n <= 1<<60) {
		return 0, false
	}
	return int64(n), true
}

// checkShared reports each city that belongs to two tenants, and each socket that is used twice.
func (h Home) checkShared(all toml.Table, tenants []Tenant) {
	owner := map[string]string{}
	sockets := map[string]string{filepath.Clean(h.Socket()): "the supervisor"}
	for _, one := range tenants {
		t, _ := all.Table(one.Name)
		socket := filepath.Clean(one.Socket)
		if other, taken := sockets[socket]; taken {
			t.Wrong("socket", "%s is already the socket of %s: use a different path", socket, other)
		}
		sockets[socket] = one.Name
		for i, c := range one.Cities {
			if other, taken := owner[c]; taken {
				t.WrongItem("cities", i, "the city %q already belongs to %s", c, other)
			}
			owner[c] = one.Name
		}
	}
}

func (h Home) file(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(h.Dir, path)
}

func local(bind string) bool {
	addr, err := netip.ParseAddr(bind)
	return bind == "localhost" || err == nil && addr.Unmap().IsLoopback()
}
