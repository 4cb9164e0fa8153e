package api

import (
	"context"
	"errors"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"gcity/api/gascity"
	"gcity/api/wire"
	"gcity/city"
	"gcity/events"
	"gcity/internal/recovery"
)

const maxFleetEvents = 1000

type eventsAnswer struct {
	gascity.List[city.Tagged]
	// for the next page, or for a stream of later events
	Cursor string `json:"cursor"`
	// for the page of older events
	Before      string        `json:"before,omitempty"`
	Unreachable []missingCity `json:"unreachable,omitempty"`
}

// cursorOf parses a cursor such as cityA:5,cityB:12. "0" is the start of all logs.
func cursorOf(text string, all []city.Info) (city.Cursor, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > 0 && len(all) != 1 {
		return city.ParseCursor(text)
	}
	c := city.Cursor{}
	for i := range all {
		c[all[i].Name] = n
	}
	return c, nil
}

// eventIndex is the index of a list of events, which does not depend on counts of work.
func eventIndex(s *city.Snapshot) uint64 { return s.Seq }

func (f *fleet) events(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	q, err := selection(r)
	if err != nil {
		return err
	}
	limit, err := number(r, "limit", maxFleetEvents)
	if err != nil {
		return err
	}
	if q.Limit = int(limit); q.Limit == 0 {
		q.Limit = events.DefaultLimit
	}
	seen, err := f.requestedStates(r, eventIndex)
	if err != nil {
		return err
	}
	asc, err := gascity.OldestFirst(r.URL.Query())
	if err != nil {
		return err
	}
	v := r.URL.Query()
	if q.Forward = v.Has("cursor") || asc; asc && limit == 0 && !q.Since.IsZero() {
		q.Limit = maxFleetEvents // a smaller limit would cut off the newest events
	}
	all := make([]city.Info, len(seen))
	for i := range seen {
		all[i] = seen[i].info
	}
	before, err := cursorOf(v.Get("before"), all)
	if err != nil {
		return err
	}
	var after city.Cursor // nil = no cursor was given
	if v.Has("cursor") {
		if after, err = cursorOf(v.Get("cursor"), all); err != nil {
			return err
		}
	}
	pages := f.histories(r.Context(), seen, q, after, before)
	end, from := endsOf(seen, pages, q.Forward), beginAt(after, pages)
	items := mergePages(pages, q.Limit, q.Forward)
	a := eventsAnswer{List: gascity.ListOf(items), Unreachable: missingCities(seen)}
	switch {
	case q.Forward:
		maps.Copy(end, from)
		for i := range items {
			end[items[i].City] = items[i].Seq
		}
		a.Next = end.String()
	case len(items) > 0: // a short page can be incomplete, so only an empty page is the last one
		a.Before = olderThan(before, items, end).String()
	}
	a.Cursor = end.String()
	f.fleetOK(w, seen, eventIndex, a)
	return nil
}

func endsOf(seen []cityState, pages [][]city.Tagged, forward bool) city.Cursor {
	end := city.Cursor{}
	for i := range seen {
		if seen[i].snap == nil {
			continue
		}
		end[seen[i].name] = seen[i].snap.Seq
		if len(pages[i]) > 0 && !forward { // the log might have grown since the snapshot
			end[seen[i].name] = max(pages[i][0].Seq, seen[i].snap.Seq)
		}
	}
	return end
}

func olderThan(before city.Cursor, items []city.Tagged, end city.Cursor) city.Cursor {
	older := maps.Clone(before)
	for i := range items {
		older[items[i].City] = items[i].Seq
	}
	for name, seq := range end {
		if _, has := older[name]; !has {
			older[name] = seq + 1
		}
	}
	return older
}

func (f *fleet) histories(ctx context.Context, seen []cityState, q events.Query,
	after, before city.Cursor) [][]city.Tagged {
	ctx, cancel := context.WithTimeout(ctx, historyTime)
	defer cancel()
	pages := make([][]city.Tagged, len(seen))
	var wg sync.WaitGroup
	for i := range seen {
		at, has := after[seen[i].name]
		if seen[i].snap == nil || after != nil && !has && q.Since.IsZero() {
			continue
		}
		mine := q
		mine.After, mine.Before = at, before[seen[i].name]
		wg.Go(func() {
			g := &seen[i]
			p, ok := inTime(ctx, func() historyResult { return f.history(ctx, g.name, mine) })
			if !ok {
				p.err = notInTime(g.name)
			}
			if p.err != nil {
				g.err, g.snap = p.err, nil
				return
			}
			for _, e := range p.found {
				pages[i] = append(pages[i], city.Tagged{City: g.name, Event: e})
			}
		})
	}
	wg.Wait()
	return pages
}

// beginAt returns the cursor in front of the pages: the given one, completed with the cities that it omits.
func beginAt(after city.Cursor, pages [][]city.Tagged) city.Cursor {
	from := city.Cursor{}
	maps.Copy(from, after)
	for _, p := range pages {
		if len(p) == 0 {
			continue
		}
		if _, has := from[p[0].City]; !has {
			from[p[0].City] = p[0].Seq - 1
		}
	}
	return from
}

type historyResult struct {
	found []events.Event
	err   error
}

func (f *fleet) history(ctx context.Context, name string, q events.Query) (p historyResult) {
	p.err = f.safely(name, func() error {
		c, err := limitedDirectory{f.dir, f.calls}.City(name)
		if err == nil {
			p.found, err = c.History(ctx, q)
		}
		return err
	})
	return p
}

func mergePages(pages [][]city.Tagged, limit int, forward bool) (items []city.Tagged) {
	for {
		best := -1
		for i, p := range pages {
			if len(p) == 0 {
				continue
			}
			if best < 0 || forward && p[0].TS.Before(pages[best][0].TS) ||
				!forward && p[0].TS.After(pages[best][0].TS) {
				best = i
			}
		}
		if best < 0 || len(items) == limit {
			return items
		}
		items = append(items, pages[best][0])
		pages[best] = pages[best][1:]
	}
}

// mergedEvent is an event of one of the cities, and the cursor after it. event is nil if a city was added.
type mergedEvent struct {
	event *city.Tagged
	at    string
}

func (f *fleet) eventStream(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	q, err := selection(r)
	if err != nil {
		return err
	}
	dir := limitedDirectory{f.selectedCities(r), f.calls}
	all, err := dir.Cities(r.Context())
	if err != nil {
		return err
	}
	asked := gascity.Cursor(r)
	from, bad := cursorOf(asked, all)
	st, done, err := f.open(w)
	if err != nil {
		return err
	}
	defer done()
	if bad != nil && st.send(events.Gap, "", city.Tagged{Event: city.BeyondLog(asked, 0)}) != nil {
		return nil
	}
	st.ahead = eventsAhead
	pump(f.server, st, r, func(ctx context.Context) iter.Seq2[mergedEvent, error] {
		return f.copyCursors(ctx, dir, from)
	},
		func(t mergedEvent) error {
			switch {
			case t.event == nil:
				return st.write("id: " + t.at + "\n\n")
			case !q.Match(&t.event.Event) && !city.IsInsertedGap(&t.event.Event):
				return nil
			}
			return st.send(eventName(t.event.Type), t.at, t.event)
		})
	return nil
}

// copyCursors yields the merged events. It converts each cursor to text, because the next step modifies the cursor.
func (f *fleet) copyCursors(ctx context.Context, d city.Directory,
	from city.Cursor) iter.Seq2[mergedEvent,
	error] {
	return func(yield func(mergedEvent, error) bool) {
		for s, err := range city.MergedSteps(ctx, d, from) {
			if p, ok := errors.AsType[*recovery.Panic](s.Fault); ok {
				f.o.Log.Error("cannot read a city's events", "err", p, "stack",
					string(p.Stack()))
			}
			if !yield(mergedEvent{s.Event, s.At.String()}, err) {
				return
			}
		}
	}
}

func (f *fleet) awaitAny(ctx context.Context, dir visibleCities, from city.Cursor) error {
	leave, err := f.acquireStream()
	if err != nil {
		return err
	}
	defer leave()
	for _, err := range city.Merged(ctx, limitedDirectory{dir, f.calls}, from) {
		if err != nil && ctx.Err() == nil {
			return err
		}
		break
	}
	return nil
}
