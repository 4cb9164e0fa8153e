package controller

import (
	"fmt"

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
func (m *machine) openDoor() {
	if m.conf == nil || m.ending != alive || m.settling {
		return
	}
	want := m.conf.API
	if want.Equal(m.door.asked) {
		return
	}
	m.door.asked = want
	m.do(effect.Listen{Want: want})
}

// Supervised is the Mode of a city that answers over TCP where its supervisor does, and nowhere else.
const Supervised = "supervised"

// doorOf is [api] with nothing said where nothing is wanted, so that it need not be asked for.
func (c *Controller) doorOf(cfg *config.City) config.API {
	if cfg.API.Port == 0 || c.o.Mode == Supervised {
		return config.API{}
	}
	return cfg.API
}

// ignores is what there is to say of an [api] that nobody serves, "" = nothing. It is logged when it is news.
func (c *Controller) ignores(cfg *config.City) string {
	text := ""
	if cfg.API.Port != 0 && c.o.Mode == Supervised {
		text = fmt.Sprintf("city '%s' has [api] port=%d which is ignored under supervisor mode",
			cfg.Workspace.Name, cfg.API.Port)
	}
	if before := c.ignored.Swap(&text); text != "" && (before == nil || *before != text) {
		c.o.Logger.Warn(text)
	}
	return text
}
