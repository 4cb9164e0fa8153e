package api

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/internal/recovery"
)

// glance is what a look at a city saw.
type glance struct {
	name   string
	info   city.Info
	snap   *city.Snapshot
	gauges *city.Gauges
	err    error // why there is no snapshot
}

// silent is a city of which an answer says nothing.
type silent struct {
	City  string `json:"city"`
	Error string `json:"error"` // why, and the next step
}

// glances looks at all cities at once, in the order of their names. One that does not answer in time holds up
// nobody but this request, and only once: it is not asked again before it has answered.
func (f *fleet) glances(ctx context.Context, all []city.Info) []glance {
	seen := make([]glance, len(all))
	now := time.Now()
	var wg sync.WaitGroup
	for i, info := range all {
		seen[i] = glance{name: info.Name, info: info}
		if !answers(&info) {
			seen[i].err = stands(&info)
			continue
		}
		wg.Go(func() {
			g, ok := f.looks.Do(ctx, info.Name, now, lookTime, func() glance {
				return f.glance(info.Name)
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
	return &city.Error{Code: city.Unavailable, Message: name + " did not answer in time"}
}

func (f *fleet) glance(name string) (g glance) {
	ctx, cancel := context.WithTimeout(f.life, lookTime)
	defer cancel()
	g.err = f.careful(name, func() error {
		c, err := f.dir.City(name)
		if err != nil {
			return err
		}
		if g.snap, err = c.Snapshot(ctx); err != nil {
			return err
		}
		if m, ok := c.(city.Gauged); ok {
			gauges := m.Gauges()
			g.gauges = &gauges
		}
		return nil
	})
	if g.err != nil {
		g.snap = nil
	}
	return g
}

// careful asks something of a city. A fault in that is the end of what was asked, and no other city's.
func (f *fleet) careful(name string, ask func() error) (err error) {
	fault := recovery.Catch(func() { err = ask() })
	if p, ok := errors.AsType[*recovery.Panic](fault); ok {
		f.o.Log.Error("a city could not be asked", "city", name, "err", fault, "stack",
			string(p.Stack()))
		return &city.Error{Code: city.Unavailable, Message: name + " broke when it was asked: a " +
			"fault in gcity itself, which is in the log"}
	}
	return err
}

// silence lists the cities that a look saw nothing of.
func silence(seen []glance) (out []silent) {
	for i := range seen {
		if seen[i].err != nil {
			out = append(out, silent{seen[i].name, wire.ErrorOf(seen[i].err).Message})
		}
	}
	return out
}

// index is how far the cities were seen, as a cursor.
func index(seen []glance) string {
	c := city.Cursor{}
	for i := range seen {
		if seen[i].snap != nil {
			c[seen[i].name] = seen[i].snap.Seq
		}
	}
	return c.String()
}

func (f *fleet) fleetOK(w http.ResponseWriter, seen []glance, v any) {
	w.Header().Set("X-GC-Index", index(seen))
	f.reply(w, http.StatusOK, v)
}

func (f *fleet) health(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	now, began := time.Now(), f.began
	if k := f.dir.keeper(); k != nil {
		began = k.Began()
	}
	seen := f.glances(r.Context(), all)
	a := healthAnswer{Status: "ok", Version: f.o.Version, Uptime: int64(now.Sub(began).Seconds()),
		Total: len(all), Degraded: append([]string{}, f.dir.troubles()...)}
	for i := range seen {
		g := &seen[i]
		if g.info.Running {
			a.Running++
		}
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
	f.fleetOK(w, seen, a)
	return nil
}

func (f *fleet) cities(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	p, err := page(r, all, func(i *city.Info) string { return i.Name })
	if err != nil {
		return err
	}
	f.reply(w, http.StatusOK, wire.Cities{List: p, Running: countRunning(all),
		Troubles: f.dir.troubles()})
	return nil
}

func countRunning(all []city.Info) (n int) {
	for i := range all {
		if all[i].Running {
			n++
		}
	}
	return n
}

// watchCities streams the list, at once and whenever it has changed.
func (f *fleet) watchCities(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	st, done, err := f.open(w)
	if err != nil {
		return err
	}
	defer done()
	pump(f.server, st, r, func(ctx context.Context) iter.Seq2[[]city.Info, error] {
		return f.dir.Watch(ctx)
	},
		func(all []city.Info) error {
			return st.send("cities", "", wire.Cities{List: wire.ListOf(all),
				Running:  countRunning(all),
				Troubles: f.dir.troubles()})
		})
	return nil
}

// CityAgent is an agent in a list of several cities'.
type CityAgent struct {
	City string `json:"city"`
	wire.Agent
}

// agentsAnswer is a page of them.
type agentsAnswer struct {
	wire.List[CityAgent]
	Unreachable []silent `json:"unreachable,omitempty"` // cities whose agents are not in it
}

// between separates an agent's name from its city's where pages begin; in neither of them may it be.
const between = "@"

func placeOf(a *CityAgent) string { return a.Name + between + a.City }

// byPlace orders agents by their names, then by their cities'.
func byPlace(a, b string) int {
	agent, in, _ := strings.Cut(a, between)
	other, there, _ := strings.Cut(b, between)
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
	seen, err := f.look(r)
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
	f.fleetOK(w, seen, agentsAnswer{p, silence(seen)})
	return nil
}

// peekAll fills in the screens, each city's beside the others'.
func (f *fleet) peekAll(ctx context.Context, items []CityAgent) {
	by := map[string][]int{}
	for i := range items {
		by[items[i].City] = append(by[items[i].City], i)
	}
	ctx, cancel := context.WithTimeout(ctx, peekTime)
	defer cancel()
	var wg sync.WaitGroup
	for name, of := range by {
		c, err := sparing{f.dir, f.calls}.City(name)
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
					_ = f.careful(name, func() (err error) { // what cannot be had stays empty
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

// look gives what is seen of the cities that a request is about: all, or those that ?city= names. With ?index= it
// waits for what is newer than that cursor.
func (f *fleet) look(r *http.Request) ([]glance, error) {
	dir := f.chosen(r)
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
	}
	return f.glances(r.Context(), all), nil
}

// chosen is the view of the cities that ?city= names, several with commas between them.
func (f *fleet) chosen(r *http.Request) view {
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

// metrics are the figures of all cities. What does not answer has a figure that says so.
func (f *fleet) metrics(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	all, err := f.dir.Cities(r.Context())
	if err != nil {
		return err
	}
	p := &figures{}
	now := time.Now()
	p.machine(f.glances(r.Context(), all), now)
	f.write(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(p.text()))
	return nil
}
