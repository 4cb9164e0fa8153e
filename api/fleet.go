package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/deadline"
)

const (
	snapshotTime = 2 * time.Second
	// reading the log can be slow
	historyTime      = 10 * time.Second
	maxSnapshotCalls = 1024
)

type fleet struct {
	*server
	dir           visibleCities
	snapshotCalls *deadline.Calls[cityState] // by city name
	// pending reads of logs and screens
	calls      *pendingCalls
	tenancies  map[string]*tenancy
	cityParams func() map[string][]string
	tenant     *tenancy // nil = the request is not from a tenant
}

func newFleet(s *server, d city.Directory) *fleet {
	s.many = true
	s.document = sync.OnceValue(func() []byte {
		return openapi.Document(fleetOperations(), typeNames())
	})
	cityParams := s.params
	s.params = sync.OnceValue(func() map[string][]string {
		one := func(o openapi.Operation) bool { return !o.Machine }
		return parametersOf(slices.DeleteFunc(fleetOperations(), one))
	})
	return &fleet{server: s, cityParams: cityParams, dir: visibleCities{Directory: d},
		snapshotCalls: deadline.New[cityState](maxSnapshotCalls), calls: &pendingCalls{},
		tenancies: tenanciesOf(s.o)}
}

func (f *fleet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.catchPanic(func() { f.respond(w, r) })
}

func (f *fleet) respond(w http.ResponseWriter, r *http.Request) {
	// an earlier request on this connection might have set a deadline
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
	path := r.URL.EscapedPath()
	if who, rest, is := tenantPath(path); is {
		f.asTenant(w, r, who, rest)
		return
	}
	rt, err := wire.Parse(path)
	if err != nil {
		f.fail(w, err)
		return
	}
	f.route(w, r, rt)
}

func (f *fleet) route(w http.ResponseWriter, r *http.Request, rt wire.Route) {
	if rt.Kind == wire.KindDebug {
		f.debug(w, r)
		return
	}
	can, alone := f.methods(rt)
	if can.of(r.Method) != nil || alone {
		f.dispatch(w, r, rt, can)
		return
	}
	ctl, err := f.pick(r.Context(), rt.City)
	if err != nil {
		f.fail(w, err)
		return
	}
	one := *f.server
	one.city, one.params, rt.City = ctl, f.cityParams, ""
	one.dispatch(w, r, rt, one.methods(rt.Kind))
}

// methods returns a route's handlers in the API for all cities. alone means that requests for the route are never
// forwarded to a city.
func (f *fleet) methods(rt wire.Route) (can methods, alone bool) {
	if rt.City != "" {
		switch rt.Kind {
		case wire.KindRegister:
			return methods{post: f.registerCity}, true
		case wire.KindUnregister:
			return methods{post: f.unregisterCity}, true
		}
		return can, false
	}
	switch rt.Kind {
	case wire.KindHealth:
		return methods{get: f.health}, true
	case wire.KindCities:
		return methods{get: f.cities, post: f.registerCity}, true
	case wire.KindCitiesStream:
		return methods{get: f.watchCities}, true
	case wire.KindMetrics:
		return methods{get: f.metrics}, true
	case wire.KindOpenAPI:
		return methods{get: f.openAPI}, true
	case wire.KindAgents:
		return methods{get: f.agents}, false
	case wire.KindEvents:
		return methods{get: f.events}, false
	case wire.KindEventStream:
		return methods{get: f.eventStream}, false
	}
	return can, false
}

func (f *fleet) pick(ctx context.Context, name string) (city.Control, error) {
	all, err := f.dir.Cities(ctx)
	if err != nil {
		return nil, err
	}
	if name == "" {
		switch len(all) {
		case 0:
			return nil, &city.Error{Code: city.NotFound, Message: "no city is registered here; " +
				"`gcity register DIR` adds one"}
		case 1:
			name = all[0].Name
		default:
			return nil, &city.Error{Code: city.CityRequired,
				Message: fmt.Sprintf("the path must name a city: /v0/city/NAME/… Cities: %s",
					wire.NamesOf(all)),
				Details: wire.PlainNames(all)}
		}
	}
	i := wire.Find(all, name)
	switch {
	case i == nil:
		return nil, wire.UnknownCity(name, all)
	case !isReachable(i):
		return nil, notRunning(i)
	}
	ctl, err := f.dir.City(name)
	if err == nil {
		err = f.tenant.checkLimits(ctx, name, ctl)
	}
	return ctl, err
}

// isReachable is true for a stopping city, because it accepts a request to stop sooner.
func isReachable(i *city.Info) bool { return i.Running || i.Status == city.CityStopping }

func notRunning(i *city.Info) error {
	e := &city.Error{Code: city.Unavailable, Message: fmt.Sprintf("%s is not running: it is %s",
		i.Name, i.Status), Details: *i}
	if i.Error != "" {
		e.Message += ": " + i.Error
	}
	if i.Until != nil {
		e.Message += "; the next attempt is at " + i.Until.Local().Format("15:04:05")
	}
	return e
}
