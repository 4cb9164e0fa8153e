package automation

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type player struct {
	*drill
	t       *rapid.T
	opening map[string]Run
	going   map[string]Run
	dealt   map[string]int    // number of events in opened runs, by scoped name
	until   map[string]uint64 // seq of the newest event in opened runs, by scoped name
	sent    map[string]int    // number of matching events, by scoped name
	queued  map[string]bool   // fired by hand during a run
}

const places = 3

// The laws hold after random steps in any order. The number of runs is limited, with one per automation (L1). Suspended
// automations run only by hand (L2). Every event is in exactly one run, or in at least one if runs are retried. The
// automation that has waited longest runs first. There is always a reason (L14). Without disturbances, no run gets
// stuck (L7).
func TestLaws(t *testing.T) {
	defs := []Definition{
		parse(t, "cool", everyMinute), parse(t, "cool2", everyMinute+
			"retry = 2\non_failure = 'hand'"), parse(t, "cool3", everyMinute+"overlap = 'queue'"),
		parse(t, "cron", "gate = 'cron'\nschedule = '*/2 * * * *'\noverlap = 'queue'\nexec = 'x'"),
		parse(t, "event", "gate = 'event'\non = 'x'\nexec = 'x'"),
		parse(t, "event2", "gate = 'event'\non = 'x'\nexec = 'x'\nretry = 1"),
		parse(t, "cond", "gate = 'condition'\ncheck = 'true'\nexec = 'x'"),
		parse(t, "hand", "gate = 'manual'\nexec = 'x'"),
	}
	rapid.Check(t, func(rt *rapid.T) {
		p := &player{drill: newDrill(t, places, defs...), t: rt, opening: map[string]Run{},
			going: map[string]Run{},
			dealt: map[string]int{}, until: map[string]uint64{"event": 1041},
			sent: map[string]int{}, queued: map[string]bool{}}
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			p.step()
		}
		p.quiet()
	})
}

func (p *player) step() {
	name := p.defs[rapid.IntRange(0, len(p.defs)-1).Draw(p.t, "which")].Scoped()
	switch rapid.IntRange(0, 9).Draw(p.t, "what") {
	case 0, 1, 2:
		p.now = p.now.Add(time.Duration(rapid.IntRange(-20, 100).Draw(p.t, "seconds")) *
			time.Second)
		p.take()
	case 3, 4:
		p.answer(name)
	case 5:
		if run, ok := p.going[name]; ok {
			p.end(run, []Outcome{OK, Failed}[rapid.IntRange(0, 1).Draw(p.t, "how")])
		}
	case 6:
		p.happen([]string{"x", "y"}[rapid.IntRange(0, 1).Draw(p.t, "kind")], 0)
		if p.log[len(p.log)-1].Type == "x" {
			p.sent["event"]++
			p.sent["event2"]++
		}
	case 7:
		p.suspended = []string{"", "with the city"}[rapid.IntRange(0, 1).Draw(p.t, "suspended")]
		p.r.Checked("cond", "true", rapid.IntRange(0, 1).Draw(p.t, "exit"), "")
	case 8:
		if p.r.Fire(name, "operator", p.now) == nil && p.running(name) {
			p.queued[name] = true
		}
	case 9:
		p.die()
	}
}

func (p *player) running(name string) bool {
	_, a := p.opening[name]
	_, b := p.going[name]
	return a || b
}

func (p *player) take() {
	_, opened := p.look(0)
	latest := time.Time{}
	for _, run := range opened {
		name := run.Definition.Scoped()
		if p.running(name) {
			p.t.Fatalf("%s was opened twice", name)
		}
		if p.suspended != "" && run.By == "" {
			p.t.Fatalf("%s was opened although it is suspended: %+v", name, run)
		}
		if run.By == "" {
			latest = later(latest, run.Since)
		}
		p.opening[name] = run
		delete(p.queued, name)
	}
	if n := len(p.opening) + len(p.going); n > places {
		p.t.Fatalf("%d concurrent runs", n)
	}
	for _, s := range p.r.Status() {
		if s.Reason == "" || s.State == "" {
			p.t.Fatalf("no reason: %+v", s)
		}
		if s.State == Ready && s.Until.IsZero() && s.Run.By == "" &&
			!p.running(s.Definition.Scoped()) && s.Since.Before(latest) && len(opened) > 0 {
			p.t.Fatalf("%s has waited since %v, but automations that have waited since %v were "+
				"opened first",
				s.Definition.Scoped(), s.Since, latest)
		}
	}
}

func (p *player) answer(name string) {
	run, ok := p.opening[name]
	if !ok {
		return
	}
	delete(p.opening, name)
	if rapid.IntRange(0, 3).Draw(p.t, "record") == 0 {
		p.r.Unopened(name, "the disk is full", p.now)
		return
	}
	p.r.Opened(name, p.now)
	p.going[name] = run
	p.dealt[name] += run.Count
	if name == "event" {
		if run.After != p.until[name] {
			p.t.Fatalf("first event of the run: after %d, want after %d",
				run.After, p.until[name])
		}
		p.until[name] = run.Until
	}
}

func (p *player) end(run Run, how Outcome) {
	name := run.Definition.Scoped()
	delete(p.going, name)
	p.r.Ended(name, how, p.now)
}

func (p *player) die() {
	interrupted := p.restart()
	if len(interrupted) != len(p.going) {
		p.t.Fatalf("interrupted %v, but %d were running", interrupted, len(p.going))
	}
	clear(p.opening)
	clear(p.going)
}

func (p *player) quiet() {
	p.suspended = ""
	ran := map[string]int{}
	for range 60 {
		p.now = p.now.Add(30 * time.Second)
		p.take()
		p.r.Checked("cond", "true", 0, "")
		for name, run := range p.opening {
			delete(p.opening, name)
			p.r.Opened(name, p.now)
			p.dealt[name] += run.Count
			p.going[name] = run
		}
		for name, run := range p.going {
			ran[name]++
			p.end(run, OK)
		}
	}
	for _, name := range []string{"cool", "cool2", "cool3", "cron", "cond"} {
		if ran[name] < 5 {
			p.t.Fatalf("%s: got %d runs in half an hour, want at least 5", name, ran[name])
		}
	}
	if p.dealt["event"] != p.sent["event"] || p.dealt["event2"] < p.sent["event2"] {
		p.t.Fatalf("events in runs: %v; events sent: %v", p.dealt, p.sent)
	}
	for name := range p.queued {
		if ran[name] == 0 {
			p.t.Fatalf("%s was requested during a run, but did not run again", name)
		}
	}
	for _, s := range p.r.Status() {
		if s.State == Ready && !strings.Contains("cool cool2 cool3 cron cond", s.Definition.Name) {
			p.t.Fatalf("%s was not started: %s", s.Definition.Scoped(), s.Reason)
		}
	}
}
