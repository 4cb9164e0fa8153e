package machine

import (
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// door is what a city has to do with its answering over TCP. Who listens is no part of the controller: it says
// what is wanted, and hears what has become of it.
type door struct {
	m *Machine

	asked config.API // of whoever listens
	city.Listener
}

// open asks for what [api] of the configuration in force says, where that is news.
func (do *door) open() {
	if do.m.conf == nil || do.m.ending != alive || do.m.settling {
		return
	}
	want := do.m.conf.API
	if want.Equal(do.asked) {
		return
	}
	do.asked = want
	do.m.step.Do(effect.Listen{Want: want})
}
