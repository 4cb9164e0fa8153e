package machine

import (
	"testing"
	"time"

	"gcity/controller/effect"
)

// If work changes during a count, it is counted again immediately, not at the next patrol.
func TestCountOfWhatChangesMeanwhile(t *testing.T) {
	m := newMachine()
	m.conf = &effect.Configuration{}
	counts := func() (n int) {
		for _, f := range m.step.Effects {
			if _, ok := f.(effect.CountWork); ok {
				n++
			}
		}
		m.step.Effects = nil
		return n
	}
	m.work.count()
	if counts() != 1 {
		t.Fatal("work is not counted")
	}
	m.work.count()
	m.work.count()
	if counts() != 0 {
		t.Error("it is counted twice at once")
	}
	m.work.takeCount(time.Time{}, effect.WorkCounted{Unchanged: true})
	if counts() != 1 {
		t.Error("what came meanwhile is not counted")
	}
	m.work.takeCount(time.Time{}, effect.WorkCounted{Unchanged: true})
	if counts() != 0 {
		t.Error("it is counted for ever")
	}
}
