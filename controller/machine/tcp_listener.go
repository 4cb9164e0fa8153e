package machine

import (
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// door is the state of the TCP listener. The machine requests the listener as an effect and gets its state as an
// input.
type door struct {
	m *Machine

	asked config.API // the newest request
	city.Listener
}

// open requests the listener that [api] describes, if the configuration differs from the last request.
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
