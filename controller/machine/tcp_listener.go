package machine

import (
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// tcpListener is the state of the TCP listener. The machine requests the listener with an effect and receives its
// state as an input.
type tcpListener struct {
	m *Machine

	asked config.API // the newest request
	city.Listener
}

// open requests the listener that [api] describes, if [api] differs from the last request.
func (tl *tcpListener) open() {
	if tl.m.conf == nil || tl.m.ending != running || tl.m.oneShot {
		return
	}
	want := tl.m.conf.API
	if want.Equal(tl.asked) {
		return
	}
	tl.asked = want
	tl.m.step.Do(effect.Listen{Want: want})
}
