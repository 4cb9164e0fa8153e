package controller

import (
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/events"
	"gcity/session"
)

// effect is something the machine wants done. Effects with a key run off the loop, at most one per key at a time (L1),
// and come back as inputs.
type effect interface{ key() string }

type (
	// fxStart starts an agent's session and brings it to readiness. → inStarted
	fxStart struct{ want *agent.Want }
	// fxResume carries an adopted session on to readiness. → inStarted
	fxResume struct {
		want   *agent.Want
		status session.Status
	}
	// fxStop ends a session's tree. → inStopped
	fxStop struct {
		agent, session string
		grace          time.Duration
	}
	// fxKill ends a session's tree now, beside a stop under way. No input follows: the stop's own result does.
	fxKill struct{ agent, session string }
	// fxCancel ends the wait of a start under way; its inStarted still comes.
	fxCancel struct{ agent string }
	// fxCapture keeps what a dead session said. → inCaptured
	fxCapture struct {
		agent, session, id string
		at                 time.Time
		cols, rows         int
	}
	// fxAck lets the provider forget a recorded exit.
	fxAck struct{ agent, session, id string }
	// fxType types into a session. → inTyped
	fxType struct {
		agent, session string
		cmd            city.Command
	}
	// fxList looks at reality. → inObserved
	fxList struct{ turn uint64 }
	// fxLoad reads the configuration if it is no longer the known one. → inConfig
	fxLoad struct {
		known   string // the revision in force
		refused string // the one that was refused last
		sighted string // the one that a patrol saw last
		now     bool   // the file is known to be whole: load whatever it is
		force   bool   // somebody wants to hear of it, new or not
	}
	// fxEdit writes the suspended flag of an agent, a pool or a rig; of the city if neither is named. → inEdited
	fxEdit struct {
		agent, rig string
		on         bool
		id         uint64 // of the command behind it
	}
	// fxCheck runs a pool's check. → inChecked
	fxCheck struct{ pool *agent.Pool }
	// fxMark writes a session's drain marks; the zero Drain takes them away. → inMarked
	fxMark struct {
		agent, session, id string
		drain              session.Drain
	}
	// fxScale writes a pool's override, or takes it out. → inScaled
	fxScale struct {
		pool string
		size *int
		id   uint64 // of the command behind it
	}
	// fxMeasure samples what sessions take. → inMeasured
	fxMeasure struct{}
	// fxRemember writes the crash histories down, all agents' as JSON; nil removes the file. → inRemembered
	fxRemember struct{ memory []byte }
	// fxRecord appends an event; the answers hear its seq once it is written (L9).
	fxRecord struct {
		event   events.Event
		answers []answer
	}
	// fxAnswer answers commands that no event proves.
	fxAnswer struct{ answer }
)

// answer is the reply to the command of this id.
type answer struct {
	id      uint64
	receipt city.Receipt
	err     *city.Error
}

func (f fxStart) key() string    { return "agent:" + f.want.Name }
func (f fxResume) key() string   { return "agent:" + f.want.Name }
func (f fxStop) key() string     { return "agent:" + f.agent }
func (f fxKill) key() string     { return "kill:" + f.agent }
func (f fxCancel) key() string   { return "" }
func (f fxCapture) key() string  { return "capture:" + f.agent + ":" + f.id }
func (f fxAck) key() string      { return "ack:" + f.agent + ":" + f.id }
func (f fxType) key() string     { return "type:" + f.agent }
func (f fxList) key() string     { return "list" }
func (f fxLoad) key() string     { return "load" }
func (f fxEdit) key() string     { return "edit" }
func (f fxCheck) key() string    { return "check:" + f.pool.Name }
func (f fxMark) key() string     { return "mark:" + f.agent }
func (f fxScale) key() string    { return "scale" }
func (f fxMeasure) key() string  { return "measure" }
func (f fxRemember) key() string { return "remember" }
func (f fxRecord) key() string   { return "" }
func (f fxAnswer) key() string   { return "" }
