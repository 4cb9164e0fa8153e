package machine

import (
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// door is what a city has to do with its answering over TCP. Who listens is no part of the controller: it says
// what is wanted, and hears what has become of it.
type door struct {
	asked config.API // of whoever listens
	city.Door
}

// openDoor asks for what [api] of the configuration in force says, where that is news.
func (m *Machine) openDoor() {
	if m.conf == nil || m.ending != alive || m.settling {
		return
	}
	want := m.conf.API
	if want.Equal(m.door.asked) {
		return
	}
	m.door.asked = want
	m.step.Do(effect.Listen{Want: want})
}
