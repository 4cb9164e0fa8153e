package api

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"gcity/api/wire"
	"gcity/city"
)

// Tenant is a user with access to only some cities of a machine.
type Tenant struct {
	Name   string
	Cities []string // names of the cities, which need not be registered yet
	// token that every request from the tenant needs; "" = it is in TokenFile, or no access over TCP
	Token     string
	TokenFile string
	Socket    string // socket on which the tenant needs no token; "" = none
	MaxAgents int    // in all of the tenant's cities together; 0 = no limit
	MaxCities int    // maximum number of registered cities; 0 = all cities in Cities
}

// Same reports whether two tenants have the same configuration, apart from their names.
func (t Tenant) Same(u Tenant) bool {
	return slices.Equal(t.Cities, u.Cities) && t.TokenFile == u.TokenFile && t.Token == u.Token &&
		t.Socket == u.Socket &&
		t.MaxAgents == u.MaxAgents && t.MaxCities == u.MaxCities
}

const tenantPrefix = "/v0/tenant/"

func tenantPath(path string) (tenant, rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, tenantPrefix)
	if !ok {
		return "", "", false
	}
	part, rest, _ := strings.Cut(rest, "/")
	tenant, err := wire.ParsedName(part, "tenant")
	if err == nil && !strings.Contains(tenant, "/") {
		return tenant, "/v0/" + rest, true
	}
	return "", "/v0/" + rest, true
}

// asTenant handles a tenant's request, which the guard has already permitted.
func (f *fleet) asTenant(w http.ResponseWriter, r *http.Request, who, path string) {
	l := f.tenancies[who]
	if l == nil {
		f.fail(w, city.Errorf(city.NotFound, "unknown tenant: tenants are declared in [tenants] "+
			"in supervisor.toml and are served only over TCP"))
		return
	}
	select {
	case l.requests <- struct{}{}:
		defer func() { <-l.requests }()
	default:
		f.fail(w, city.Errorf(city.Unavailable, "%d requests from tenant %s are still in "+
			"progress: wait for some of them to finish", cap(l.requests), who))
		return
	}
	rt, err := wire.Parse(path)
	if err == nil {
		switch rt.Kind {
		// these requests concern the whole machine
		case wire.KindHealth, wire.KindMetrics, wire.KindOpenAPI, wire.KindDebug:
			err = wire.UnknownPath()
		}
	}
	if err != nil {
		f.fail(w, err)
		return
	}
	p := city.PeerOf(r.Context())
	p.Actor, p.Tenant = "tenant "+who, true
	r = r.WithContext(city.WithPeer(r.Context(), p))
	own, one := *f, *f.server
	one.streams = l.streams
	own.server, own.tenant, own.dir = &one, l, f.dir.of(l.has)
	own.route(w, r, rt)
}

// ServeTenant is like ServeFleet for one tenant, without a token. Every client acts as the tenant.
func ServeTenant(ctx context.Context, l net.Listener, t Tenant, d city.Directory,
	o Options) error {
	return serve(ctx, l, o, func(s *server) http.Handler {
		f, with := newFleet(s, d), s.o
		with.Guard = &Guard{Tenants: map[string]Tenant{t.Name: t}}
		f.tenancies = tenanciesOf(with)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f.catchPanic(w, func() {
				path := r.URL.EscapedPath()
				to, rest, is := tenantPath(path)
				if is && to != t.Name {
					f.fail(w, wire.UnknownPath())
					return
				} else if is {
					path = rest
				}
				f.asTenant(w, r, t.Name, path)
			})
		})
	})
}

// TenantRequests contains the requests in progress of each tenant. The zero value has none. Servers that share a
// TenantRequests apply each tenant's limits to all of the tenant's requests together.
type TenantRequests struct {
	mu       sync.Mutex
	byTenant map[string]*requestSlots
}

// requestSlots limits a tenant's requests. Each request in progress has an element in a channel.
type requestSlots struct {
	requests      chan struct{}
	streams       chan struct{}
	registrations chan struct{} // has at most one element, so registrations do not overlap
}

func (a *TenantRequests) slots(tenant string, most int) *requestSlots {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byTenant[tenant] == nil {
		if a.byTenant == nil {
			a.byTenant = map[string]*requestSlots{}
		}
		a.byTenant[tenant] = &requestSlots{requests: make(chan struct{}, most),
			streams: make(chan struct{}, max(1, most/4)), registrations: make(chan struct{}, 1)}
	}
	return a.byTenant[tenant]
}

type tenancy struct {
	Tenant
	*requestSlots
}

func (t *tenancy) has(name string) bool { return slices.Contains(t.Cities, name) }

func tenanciesOf(o Options) map[string]*tenancy {
	all := map[string]*tenancy{}
	if o.Guard == nil {
		return all
	}
	for name, t := range o.Guard.Tenants {
		t.Name = name
		all[name] = &tenancy{Tenant: t, requestSlots: o.Requests.slots(name, o.MaxStreams)}
	}
	return all
}

func (t *tenancy) checkLimits(ctx context.Context, name string, c city.Control) error {
	if t == nil || t.MaxAgents == 0 {
		return nil
	}
	snap, err := c.Snapshot(ctx)
	if err != nil {
		return err
	}
	if n := snap.Declares(); n > t.MaxAgents {
		return city.Errorf(city.Forbidden, "%s declares %d agents, but the limit for tenant %s "+
			"is %d: reduce their number in city.toml", name, n, t.Name, t.MaxAgents)
	}
	return nil
}

func (f *fleet) checkRegistration(ctx context.Context, reg city.Registrar,
	name, path string) (string, error) {
	t := f.tenant
	s, ok := reg.(city.Previewer)
	if !ok {
		return "", city.Errorf(city.Unavailable, "cannot check the city in that folder, so no "+
			"tenant can register it; ask the administrator of this machine")
	}
	about, err := s.Preview(ctx, path)
	if err != nil || !t.has(about.Name) || name != "" && name != about.Name {
		return "", f.rejectFolder(path, about.Name, err)
	}
	known, err := f.dir.Directory.Cities(ctx)
	if err != nil {
		return "", err
	}
	// reject the folder if another owner has registered it under a different name
	for i := range known {
		if known[i].Path == about.Path && !t.has(known[i].Name) {
			return "", f.rejectFolder(path, known[i].Name, nil)
		}
	}
	all := f.dir.seen(known)
	others := slices.DeleteFunc(slices.Clone(all), func(i city.Info) bool {
		return i.Name == about.Name
	})
	if t.MaxCities > 0 && len(others) >= t.MaxCities {
		return "", city.Errorf(city.Forbidden, "tenant %s has reached its city limit (%d); "+
			"unregister one of %s", t.Name, t.MaxCities, wire.NamesOf(others))
	}
	if t.MaxAgents == 0 {
		return about.Name, nil
	}
	n := about.Agents
	for i := range others {
		d, err := s.Preview(ctx, others[i].Path)
		if err != nil {
			return "", city.Errorf(city.Unavailable, "cannot check the tenant's limit, because "+
				"the agents of %s cannot be counted: %v", others[i].Name, err)
		}
		n += d.Agents
	}
	if n > t.MaxAgents {
		return "", city.Errorf(city.Forbidden, "too many agents: %s declares %d, so tenant %s "+
			"would have %d in total; the limit is %d", about.Name, about.Agents, t.Name, n,
			t.MaxAgents)
	}
	return about.Name, nil
}

// rejectFolder returns an error without the reason, which goes only to the log.
func (f *fleet) rejectFolder(path, is string, why error) error {
	f.o.Log.Info("rejected a tenant's request to register a folder", "tenant", f.tenant.Name,
		"path", path, "why", why, "called", is)
	return city.Errorf(city.Conflict, "%s does not contain a city that tenant %s is allowed to "+
		"register under that name; the supervisor's log has details", path, f.tenant.Name)
}

// redact hides an error's text from a tenant if the error has no code or the code Invalid, because the text can name
// other tenants' files.
func (f *fleet) redact(err error) error {
	e, ok := errors.AsType[*city.Error](err)
	if f.tenant == nil || err == nil || ok && e.Code != city.Invalid {
		return err
	}
	f.o.Log.Warn("cannot register or unregister a city", "tenant", f.tenant.Name, "err", err)
	return city.Errorf(wire.ErrorOf(err).Code, "cannot change the machine's list of cities; the "+
		"supervisor's log has details")
}
