package machine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/automation"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
)

// FuzzLaws plays random stories with every fault that the world supports, and checks the laws.
func FuzzLaws(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	stories := 8
	if testing.Short() {
		stories = 3
	}
	for range stories {
		seed := make([]byte, 20+rnd.IntN(120))
		for i := range seed {
			seed[i] = byte(rnd.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 160)]
		first, second := chaos(data), chaos(data)
		if !slices.Equal(first.log, second.log) { // equal inputs give equal effects (L8)
			t.Error("L8: the same inputs gave different effects")
		}
		for _, b := range first.breach {
			t.Error(b)
		}
		if t.Failed() {
			t.Logf("what happened:\n%s", strings.Join(first.log, "\n"))
		}
	})
}

var cast = [...]string{"a", "b", "c", "d"}

// chaos interprets data as a story. After that, it ends all faults and checks L5 and L7.
func chaos(data []byte) *world {
	w := newWorld()
	w.floor.trials.on, w.floor.defs, w.floor.hands = true, []automation.Definition{},
		map[string]string{}
	w.says["w"] = "2"
	w.onDisk = len(data) > 0 && data[0] > 127
	w.declare("a", "b:needs=a,strategy=one_for_all", "c:needs=b+w,strategy=rest_for_one",
		"d:idle=7m,ready=>", "w:pool=1-3,rig=demo")
	w.advance(0)
	for i := range min(len(data), len(repertoire())) {
		w.perform(byte(i), data[i])
	}
	for i := 0; i+1 < len(data) && len(w.breach) == 0; i += 2 {
		if data[i] < 96 {
			w.fault(data[i], data[i+1])
		} else {
			w.workFault(data[i], data[i+1])
		}
		w.show() // also checks L14
	}
	w.calm()
	return w
}

func (w *world) fault(what, who byte) {
	name := cast[who%4]
	if who&0x30 == 0x30 {
		name = fmt.Sprintf("w-%d", who%4)
	}
	switch what % 24 {
	case 0, 1:
		w.die(name, int(who>>2), "")
	case 2:
		w.die(name, -1, "SIGSEGV")
	case 3:
		w.lost = true
		w.die(name, 1, "")
		w.lost = false
	case 4:
		delete(w.alive, name)
	case 5:
		w.advance(time.Duration(who) * time.Second)
	case 6:
		w.advance(time.Duration(who) * time.Minute / 3)
	case 7:
		what := name // which of the agent's effects fail: starts or stops
		if who&0x08 != 0 {
			what = "stop " + name
		}
		w.fails[what] = map[bool]string{true: "no"}[who > 127]
	case 8:
		w.stuck["agent:"+name] = true
	case 9:
		clear(w.stuck)
		w.Step(effect.Wake{})
	case 10:
		w.succeed()
	case 11:
		w.blind = map[bool]string{true: "cannot see"}[who > 127]
	case 12:
		if s := w.alive[name]; s != nil {
			s.Attached = int(who>>2) % 2
		}
	case 13:
		w.redeclare(who)
	case 15:
		w.says["w"] = []string{"0", "1", "2", "3", "7", "!no", "", "-1"}[who%8]
	case 16:
		w.command(uint64(len(w.log))<<8|uint64(what),
			city.Scale{Pool: "w", Size: int(who % 5), Auto: who > 127})
		switch who >> 5 {
		case 1, 2:
			w.command(uint64(len(w.log))<<8|uint64(what),
				city.RestartPool{Pool: "w", Rolling: who>>5 == 1})
		case 3:
			w.command(uint64(len(w.log))<<8|uint64(what), city.CheckPool{Pool: "w"})
		}
	case 17:
		w.stuck[[]string{"check:w", "mark:" + name, "scale", "edit", "screen:d"}[who>>2%5]] = true
	case 18:
		if w.alive[name] != nil {
			w.print(name)
			if who > 127 {
				w.asking[name] = ""
			}
			if w.floor.hands[name] == "" { // the agent takes or finishes a task
				w.floor.hands[name] = "app-1"
			} else {
				delete(w.floor.hands, name)
			}
		}
	case 14:
		w.broken = map[bool]string{true: "does not parse"}[who > 127]
		w.Step(effect.ConfigChanged{})
	case 20:
		w.onDisk = who > 127 // takes effect with the next configuration
	case 21:
		w.fails["remember"] = map[bool]string{true: "disk full"}[who > 127]
	case 22:
		w.stuck[[]string{"remember", "return"}[who>>2%2]] = true
		w.fails["return"] = map[bool]string{true: "no"}[who > 127]
	case 23:
		w.sendSomething(who, name)
	default:
		w.anyCommand(what, who, name)
	}
}

func (w *world) redeclare(who byte) {
	var specs []string
	for i, name := range cast {
		if who>>i&1 == 0 {
			continue
		}
		spec := name + ":ready=>,command=" + string('x'+rune(who>>(4+i)&1))
		if w.edits[name] {
			spec += ",suspended"
		}
		if i > 0 && who>>(i-1)&1 == 1 {
			spec += ",needs=" + cast[i-1]
		}
		specs = append(specs, spec)
	}
	switch {
	case who&0xf0 == 0xf0: // the pool becomes a single agent
		specs = append(specs, "w:rig=demo")
	case who&0x0c != 0:
		specs = append(specs, fmt.Sprintf("w:rig=demo,pool=%d-%d,drain=%ds", who>>5&1, who>>6&3,
			who&0x40))
	}
	w.declare(specs...)
}

func (w *world) anyCommand(what, who byte, name string) {
	all := []city.Command{
		city.Restart{Agent: name}, city.Kill{Agent: name, Force: who > 127}, city.Stop{Agent: name},
		city.Resume{Agent: name},
		city.Release{Agent: name}, city.RequestRestart{Agent: name},
		city.Nudge{Agent: name, Text: "x"}, city.Reload{},
		city.Suspend{}, city.Resume{}, city.Reload{Confirm: true}, city.Drain{Agent: name},
		city.Undrain{Agent: name}, city.DrainAck{Agent: name},
		city.Suspend{Agent: "w"}, city.Resume{Agent: "w"}, city.SuspendRig{Rig: "demo"},
		city.ResumeRig{Rig: "demo"},
	}
	w.command(uint64(len(w.log))<<8|uint64(what), all[int(who>>2)%len(all)])
}

// calm ends all faults. Then all agents must run (L7), and no further event may happen (L5).
func (w *world) calm() {
	clear(w.stuck)
	clear(w.fails)
	w.blind, w.broken = "", ""
	clear(w.delivery.drafts)
	for _, s := range w.alive {
		s.Attached, s.TypedAt = 0, time.Time{}
	}
	w.Step(effect.Wake{})
	w.calmWork()
	w.says["w"] = "2"
	delete(w.edits, "rig demo")
	w.declare("a", "b:needs=a", "c:needs=b+w", "d", "w:pool=1-3")
	w.command(1, city.Reload{Confirm: true})
	w.Step(effect.Wake{})
	w.advance(time.Minute)
	// confirm a configuration that is held because the running agents were not known yet
	w.command(3, city.Reload{Confirm: true})
	w.command(2, city.Scale{Pool: "w", Auto: true})
	w.advance(65 * time.Minute)
	w.worked()
	w.quietWork()
	w.advance(115 * time.Minute)
	members := 0
	for i := range 9 {
		if w.alive[fmt.Sprintf("w-%d", i)] != nil {
			members++
		}
	}
	if members != 2 {
		w.breach = append(w.breach, fmt.Sprintf("L7: got %d live pool members: %v %v", members,
			w.showPools(), w.show()))
	}
	for who := range w.floor.hands {
		if w.alive[who] == nil {
			w.breach = append(w.breach, fmt.Sprintf("L7: the work of %s is stranded: %v", who,
				w.show()))
		}
	}
	for _, name := range cast {
		if w.alive[name] == nil {
			w.breach = append(w.breach, fmt.Sprintf("L7: %s is missing: %v", name, w.show()))
		}
	}
	if len(w.dead) > 0 {
		w.breach = append(w.breach, fmt.Sprintf("exits that were not acknowledged: %v", w.dead))
	}
	w.unanswered()
	w.sentAll()
	quiet, done := len(w.log), w.floor.trials.writes
	w.advance(time.Hour)
	if n := w.floor.trials.writes - done; n > 0 {
		w.breaks("L5: idle automations caused %d effects", n)
	}
	for _, l := range w.log[quiet:] {
		w.breach = append(w.breach, "L5: an idle city had an effect: "+l)
	}
	w.show()
	if len(w.breach) == 0 {
		w.cleared()
	}
}

func (w *world) unanswered() {
	for _, g := range w.m.loader.groups {
		w.breach = append(w.breach, fmt.Sprintf("%s of %s got no reply", step.VerbFor(g.On), g.Group()))
	}
	if len(w.m.pools.Scales) > 0 || len(w.m.loader.edits) > 0 {
		w.breach = append(w.breach, fmt.Sprintf("changes that were not written: %v %v", w.m.pools.Scales,
			w.m.loader.edits))
	}
	if n := len(w.m.loader.asking) + len(w.m.loader.waiting) + len(w.m.loader.confirms); n > 0 {
		w.breach = append(w.breach, fmt.Sprintf("%d reloads got no reply", n))
	}
	for _, a := range w.m.order {
		for _, wt := range a.waiters {
			w.breach = append(w.breach, fmt.Sprintf("%s of %s got no reply", wt.verb, a.name))
		}
		if a.out.Typing() > 0 {
			w.breach = append(w.breach, fmt.Sprintf("%d lines for %s were never typed",
				a.out.Typing(), a.name))
		}
	}
}
