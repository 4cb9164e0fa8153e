package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
)

type cityState struct {
	name   string
	info   city.Info
	snap   *city.Snapshot
	gauges *city.Metrics
	err    error
}

type missingCity struct {
	City  string `json:"city"`
	Error string `json:"error"`
}

// cityStates requests all snapshots concurrently. A city gets no second request until it responds.
func (f *fleet) cityStates(ctx context.Context, all []city.Info) []cityState {
	seen := make([]cityState, len(all))
	now := time.Now()
	var wg sync.WaitGroup
	for i, info := range all {
		seen[i] = cityState{name: info.Name, info: info}
		if !isReachable(&info) {
			seen[i].err = notRunning(&info)
			continue
		}
		wg.Go(func() {
			g, ok := f.snapshotCalls.Do(ctx, info.Name, now, snapshotTime, func() cityState {
				return f.readCityState(info.Name)
			})
			if !ok {
				g.err = notInTime(info.Name)
			}
			g.name, g.info = info.Name, info
			seen[i] = g
		})
	}
	wg.Wait()
	return seen
}

func notInTime(name string) error {
	return city.Errorf(city.Unavailable, "%s did not respond in time", name)
}

func (f *fleet) readCityState(name string) (g cityState) {
	ctx, cancel := context.WithTimeout(f.life, snapshotTime)
	defer cancel()
	g.err = f.safely(name, func() error {
		c, err := f.dir.City(name)
		if err != nil {
			return err
		}
		if g.snap, err = c.Snapshot(ctx); err != nil {
			return err
		}
		if m, ok := c.(city.MetricsSource); ok {
			gauges := m.Metrics()
			g.gauges = &gauges
		}
		return nil
	})
	if g.err != nil {
		g.snap = nil
	}
	return g
}

func (f *fleet) safely(name string, ask func() error) (err error) {
	fault := recovery.Catch(func() { err = ask() })
	if p, ok := errors.AsType[*recovery.Panic](fault); ok {
		f.o.Log.Error("a request to a city panicked", "city", name, "err", fault, "stack",
			string(p.Stack()))
		return city.Errorf(city.Unavailable, "%s failed to respond because of a bug in gcity; "+
			"see the log", name)
	}
	return err
}

func missingCities(seen []cityState) (out []missingCity) {
	for i := range seen {
		if seen[i].err != nil {
			out = append(out, missingCity{seen[i].name, wire.ErrorOf(seen[i].err).Message})
		}
	}
	return out
}

func (f *fleet) fleetOK(w http.ResponseWriter, seen []cityState, index func(*city.Snapshot) uint64,
	v any) {
	c := city.Cursor{}
	for i := range seen {
		if seen[i].snap != nil {
			c[seen[i].name] = index(seen[i].snap)
		}
	}
	w.Header().Set("X-GC-Index", c.String())
	f.reply(w, http.StatusOK, v)
}

func (f *fleet) health(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	now, began := time.Now(), f.began
	if k := f.dir.keeper(); k != nil {
		began = k.StartedAt()
	}
	seen := f.cityStates(r.Context(), all)
	a := healthAnswer{Status: "ok", Version: f.o.Version, Uptime: int64(now.Sub(began).Seconds()),
		Total: len(all), Running: city.CountRunning(all),
		Degraded: append([]string{}, f.dir.troubles()...)}
	for i := range seen {
		g := &seen[i]
		if g.err != nil {
			a.Degraded = append(a.Degraded, wire.ErrorOf(g.err).Message)
			continue
		}
		a.LoopAge = max(a.LoopAge, loopAge(g.snap, now))
		for _, d := range g.snap.Degraded {
			a.Degraded = append(a.Degraded, g.name+": "+d)
		}
	}
	if len(a.Degraded) > 0 {
		a.Status = "degraded"
	}
	f.fleetOK(w, seen, (*city.Snapshot).Index, a)
	return nil
}

func (f *fleet) cities(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	p, err := page(r, all, func(i *city.Info) string { return i.Name })
	return f.result(w, wire.Cities{List: p, Running: city.CountRunning(all),
		Troubles: f.dir.troubles()}, err)
}

func (f *fleet) watchCities(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	return serveStream(f.server, w, r, f.dir.Watch, func(st *stream, all []city.Info) error {
		return st.send("cities", "", wire.Cities{List: gascity.ListOf(all),
			Running: city.CountRunning(all), Troubles: f.dir.troubles()})
	})
}

// CityAgent is an agent in a list that covers several cities.
type CityAgent struct {
	City string `json:"city"`
	wire.Agent
}

type agentsAnswer struct {
	gascity.List[CityAgent]
	Unreachable []missingCity `json:"unreachable,omitempty"`
}

// placeSeparator separates an agent's name from its city's name. Neither name can contain it.
const placeSeparator = "@"

func placeOf(a *CityAgent) string { return a.Name + placeSeparator + a.City }

func byPlace(a, b string) int {
	agent, in, _ := strings.Cut(a, placeSeparator)
	other, there, _ := strings.Cut(b, placeSeparator)
	return cmp.Or(strings.Compare(agent, other), strings.Compare(in, there))
}

func (f *fleet) agents(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	want, err := agentFilter(r)
	if err != nil {
		return err
	}
	peek, _, err := flag(r, "peek")
	if err != nil {
		return err
	}
	seen, err := f.requestedStates(r, (*city.Snapshot).Index)
	if err != nil {
		return err
	}
	var items []CityAgent
	for i := range seen {
		if seen[i].snap == nil {
			continue
		}
		for j := range seen[i].snap.Agents {
			if a := &seen[i].snap.Agents[j]; want(a) {
				items = append(items, CityAgent{seen[i].name, wire.AgentOf(*a)})
			}
		}
	}
	slices.SortFunc(items, func(a, b CityAgent) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.City, b.City))
	})
	p, err := pageBy(r, items, placeOf, byPlace)
	if err != nil {
		return err
	}
	if peek {
		f.peekAll(r.Context(), p.Items)
	}
	f.fleetOK(w, seen, (*city.Snapshot).Index, agentsAnswer{p, missingCities(seen)})
	return nil
}

func (f *fleet) peekAll(ctx context.Context, items []CityAgent) {
	by := map[string][]int{}
	for i := range items {
		by[items[i].City] = append(by[items[i].City], i)
	}
	ctx, cancel := context.WithTimeout(ctx, peekTime)
	defer cancel()
	var wg sync.WaitGroup
	for name, of := range by {
		c, err := limitedDirectory{f.dir, f.calls}.City(name)
		if err != nil {
			continue
		}
		wg.Go(func() {
			for _, i := range of {
				if !items[i].Running {
					continue
				}
				agent := items[i].Name
				text, ok := inTime(ctx, func() (text string) {
					_ = f.safely(name, func() (err error) {
						text, err = c.Output(ctx, agent, 0)
						return err
					})
					return text
				})
				if items[i].LastOutput = text; !ok {
					return
				}
			}
		})
	}
	wg.Wait()
}

// requestedStates returns the states of the selected cities. If the request contains an index, it first waits until the
// index of a state is higher.
func (f *fleet) requestedStates(r *http.Request, index func(*city.Snapshot) uint64) ([]cityState,
	error) {
	dir := f.selectedCities(r)
	all, err := dir.Cities(r.Context())
	if err != nil {
		return nil, err
	}
	if text := r.URL.Query().Get("index"); text != "" {
		wait, err := waitOf(r)
		if err != nil {
			return nil, err
		}
		from, err := cursorOf(text, all)
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(r.Context(), wait)
		defer cancel()
		defer context.AfterFunc(f.life, cancel)()
		if err := f.awaitAny(ctx, dir, from); err != nil {
			return nil, err
		}
		if all, err = dir.Cities(r.Context()); err != nil {
			return nil, err
		}
		return f.newerStates(ctx, all, from, index), nil
	}
	return f.cityStates(r.Context(), all), nil
}

// newerStates waits a short time until a state is newer than a cursor, or until a city starts or stops. Without this
// wait, clients would repeat their requests many times while changed work is counted.
func (f *fleet) newerStates(ctx context.Context, all []city.Info, from city.Cursor,
	index func(*city.Snapshot) uint64) []cityState {
	for end := time.Now().Add(uncountedWait); ; {
		seen := f.cityStates(context.WithoutCancel(ctx), all)
		if slices.ContainsFunc(seen, func(g cityState) bool {
			after, known := from[g.name]
			return known != (g.snap != nil) || known && index(g.snap) > after
		}) || time.Now().After(end) || !deadline.Pause(ctx, uncountedWait/20) {
			return seen
		}
	}
}

func (f *fleet) selectedCities(r *http.Request) visibleCities {
	v := r.URL.Query()
	if !v.Has("city") {
		return f.dir
	}
	var names []string
	for _, list := range v["city"] {
		names = append(names, strings.Split(list, ",")...)
	}
	return f.dir.of(func(name string) bool { return slices.Contains(names, name) })
}

func (f *fleet) metrics(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	p := &metricsPage{}
	now := time.Now()
	p.addFleet(f.cityStates(r.Context(), all), now)
	f.write(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(p.text()))
	return nil
}
