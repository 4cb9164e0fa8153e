package controller

import (
	"slices"

	"gcity/city"
	"gcity/config"
)

// door is what a city has to do with its answering over TCP. Who listens is no part of the controller: it says what is
// wanted, and hears what has become of it.
type door struct {
	asked config.API // of whoever listens
	city.Door
}

// openDoor asks for what [api] of the configuration in force says, where that is news.
func (m *machine) openDoor() {
	if m.conf == nil || m.ending != alive || m.settling {
		return
	}
	want := m.conf.api
	if want.Port == m.door.asked.Port && want.Bind == m.door.asked.Bind && want.TokenFile == m.door.asked.TokenFile && slices.Equal(want.Hosts, m.door.asked.Hosts) {
		return
	}
	m.door.asked = want
	m.do(fxDoor{want})
}

// doorOf is [api] with nothing said where nothing is wanted, so that it need not be asked for.
func doorOf(c *config.City) config.API {
	if c.API.Port == 0 {
		return config.API{}
	}
	return c.API
}
