package controller

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/city"
)

// FuzzLaws plays random stories, byte by byte, with every fault the world knows, and holds them against the laws.
func FuzzLaws(f *testing.F) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		seed := make([]byte, 20+rnd.IntN(200))
		for i := range seed {
			seed[i] = byte(rnd.Uint32())
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 160)]
		first, second := chaos(data), chaos(data)
		if !slices.Equal(first.log, second.log) { // L8
			t.Error("L8: the same inputs gave other effects")
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

// chaos plays the bytes, then lets all faults cease and holds the city against L5 and L7.
func chaos(data []byte) *world {
	w := newWorld()
	w.onDisk = len(data) > 0 && data[0] > 127
	w.declare(cast[:]...)
	w.advance(0)
	for i := 0; i+1 < len(data) && len(w.breach) == 0; i += 2 {
		w.fault(data[i], data[i+1])
		w.show() // L14
	}
	w.calm()
	return w
}

func (w *world) fault(what, who byte) {
	name := cast[who%4]
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
		w.advance(time.Duration(who) * time.Minute)
	case 7:
		w.fails[name] = map[bool]string{true: "no"}[who > 127]
	case 8:
		w.stuck["agent:"+name] = true
	case 9:
		clear(w.stuck)
		w.step(inWake{})
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
	case 14:
		w.broken = map[bool]string{true: "does not parse"}[who > 127]
		w.step(inPoke{})
	case 20:
		w.onDisk = who > 127 // from the next configuration on
	case 21:
		w.fails["remember"] = map[bool]string{true: "disk full"}[who > 127]
	case 22:
		w.stuck["remember"] = true
	default:
		w.anyCommand(what, who, name)
	}
}

// redeclare changes who is wanted, by the bits of who.
func (w *world) redeclare(who byte) {
	var specs []string
	for i, name := range cast {
		if who>>i&1 == 0 {
			continue
		}
		spec := name + ":command=" + string('x'+rune(who>>(4+i)&1))
		if w.edits[name] {
			spec += ",suspended"
		}
		specs = append(specs, spec)
	}
	w.declare(specs...)
}

func (w *world) anyCommand(what, who byte, name string) {
	all := []city.Command{
		city.Restart{Agent: name}, city.Kill{Agent: name}, city.Stop{Agent: name}, city.Resume{Agent: name},
		city.Release{Agent: name}, city.RequestRestart{Agent: name}, city.Nudge{Agent: name, Text: "x"}, city.Reload{},
		city.Suspend{}, city.Resume{}, city.Reload{Confirm: true},
	}
	w.command(uint64(len(w.log))<<8|uint64(what), all[int(who>>2)%len(all)])
}

// calm lifts all faults; the city must come to rest with everybody there (L7), and rest must be rest (L5).
func (w *world) calm() {
	clear(w.stuck)
	clear(w.fails)
	w.blind, w.broken = "", ""
	for _, s := range w.alive {
		s.Attached, s.TypedAt = 0, time.Time{}
	}
	w.declare(cast[:]...)
	w.step(inWake{})
	w.advance(3 * time.Hour)
	for _, name := range cast {
		if w.alive[name] == nil {
			w.breach = append(w.breach, fmt.Sprintf("L7: %s is missing: %v", name, w.show()))
		}
	}
	if len(w.dead) > 0 {
		w.breach = append(w.breach, fmt.Sprintf("ends that nobody acknowledged: %v", w.dead))
	}
	w.unanswered()
	quiet := len(w.log)
	w.advance(time.Hour)
	for _, l := range w.log[quiet:] {
		w.breach = append(w.breach, "L5: a city at rest did something: "+l)
	}
	w.show()
}

// unanswered holds every command against its promise: an answer, whatever happens.
func (w *world) unanswered() {
	if n := len(w.m.asking) + len(w.m.waiting) + len(w.m.confirms); n > 0 {
		w.breach = append(w.breach, fmt.Sprintf("%d reloads were never answered", n))
	}
	for _, a := range w.m.order {
		for _, wt := range a.waiters {
			w.breach = append(w.breach, fmt.Sprintf("%s of %s was never answered", wt.verb, a.name))
		}
		if len(a.typing) > 0 {
			w.breach = append(w.breach, fmt.Sprintf("%d lines for %s were never typed", len(a.typing), a.name))
		}
	}
}
