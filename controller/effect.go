package controller

import (
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/formula"
	"gcity/session"
)

// effect is something the machine wants done. Effects with a key run off the loop, at most one per key at a time (L1),
// and come back as inputs.
type effect interface{ key() string }

type (
	// fxStart starts an agent's session and brings it to readiness. → inStarted
	fxStart struct {
		want  *agent.Want
		brief *brief // a file that it is to find; nil = none
		ends  []unrecordedEnd
	}
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
	// fxVet asks a provider whether it could run sessions. → inVetted
	fxVet struct{ provider string }
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
	// fxType presses keys in a session, interrupts or clears it. → inTyped
	fxType struct {
		agent, session string
		cmd            city.Command
	}
	// fxSend types a text into a session and submits it; a polite one only while nobody types there. → inSent
	fxSend struct {
		agent, session, life string
		id                   uint64
		text                 string
		polite               bool
		provider             string // that runs it; "" = there is but one
		prefix               string // of the line in which the agent's program waits for input; "" = nobody knows
	}
	// fxList looks at reality. → inObserved
	fxList struct {
		turn    uint64
		inherit bool // sessions that a predecessor started may be seen for the first time
		first   bool // no look has shown any session so far
	}
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
	// fxScan looks for automations in layers of folders. → inScanned
	fxScan struct {
		layers  []formula.Layer
		rigs    []agent.Rig
		options automation.Options
	}
	// fxSweep closes the records of runs that a predecessor left open. The newest of each of some automations is told, too,
	// however many newer ones others have. → inSwept
	fxSweep struct{ of []string }
	// fxStrays closes the records of runs that are open and older than a time, but for those that are known. → inStrays
	fxStrays struct {
		known  []string // beads, sorted
		before time.Time
	}
	// fxFollow hands in events of these types after a seq, instead of those it handed in before. → inHappened
	fxFollow struct {
		id    uint64 // of this one: what those before it still hand in is not used
		after uint64
		types []string
	}
	// fxCondition runs an automation's check. → inCondition
	fxCondition struct {
		in *config.City
		of automation.Definition
	}
	// fxOpen makes the record of a run. → inOpened
	fxOpen struct{ run automation.Run }
	// fxRun carries a run out. → inRan
	fxRun struct {
		in     *config.City // in force when the run was opened
		run    automation.Run
		bead   string
		memory uint64    // revision of what is to be remembered that has to be on the disk before
		failed *city.Run // whose failure it follows; nil: it follows none
	}
	// fxEndRun ends a run that goes, because somebody wants it; it comes back by itself.
	fxEndRun struct{ bead, by string }
	// fxEndRuns ends all runs that go; each comes back by itself.
	fxEndRuns struct{}
	// fxShut closes a run's record. → inShut
	fxShut struct {
		run     city.Run
		formula bool
		kind    string // of the event that tells of it; "" = it has been told
		msg     string
		again   *again // it is tried again; nil: it is not
		failed  bool   // the last try
	}
	// fxMemorise writes down what automations have done. → inMemorised
	fxMemorise struct {
		rev    uint64
		memory []byte
	}
	// fxBead makes or changes a piece of work. → inBead
	fxBead struct {
		id  uint64
		cmd city.Command
	}
	// fxCount counts open work. → inCounted
	fxCount struct{ pools []string }
	// fxReturn gives back to their pools what is assigned to members that have left for good. → inReturned
	fxReturn struct{ of []leaver }
	// fxProbe finds out whether stores that failed are well again. → inProbed; inStores tells of them
	fxProbe struct{}
	// fxPurge removes what was closed so long ago: wisps, 0 = they stay; and records of runs, but for the newest of each of
	// these automations. → inPurged
	fxPurge struct {
		wisps, runs time.Duration
		of          []string
	}
	// fxBackUp makes the backups of work that are due. → inBackedUp
	fxBackUp struct{}
	// fxMeasure samples what sessions take. → inMeasured
	fxMeasure struct{}
	// fxRemember writes the crash histories down, all agents' as JSON; nil removes the file. → inRemembered
	fxRemember struct{ memory []byte }
	// fxRecord appends an event; the answers hear its seq once it is written (L9).
	fxRecord struct {
		event   events.Event
		answers []answer
	}
	// fxHeartbeat looks at the file of a watchdog's agent. → inHeartbeat
	fxHeartbeat struct{ tier, path string }
	// fxEscalate calls a person: by mail, and by a command if there is one. → inEscalated
	fxEscalate struct {
		tier, from, to, subject, text string
		call                          time.Time // when it was
		command                       string
		env                           []string
		in                            *config.City
	}
	// fxDoor says where the city is to answer over TCP. → inDoor, whenever that changes
	fxDoor struct{ want config.API }
	// fxEmit writes an event of a client and answers the command: it is in the log, or it is refused.
	fxEmit struct {
		id    uint64
		event events.Event
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

func (f fxStart) key() string     { return "agent:" + f.want.Name }
func (f fxResume) key() string    { return "agent:" + f.want.Name }
func (f fxStop) key() string      { return "agent:" + f.agent }
func (f fxVet) key() string       { return "vet:" + f.provider }
func (f fxKill) key() string      { return "kill:" + f.agent }
func (f fxCancel) key() string    { return "" }
func (f fxCapture) key() string   { return "capture:" + f.agent + ":" + f.id }
func (f fxAck) key() string       { return "ack:" + f.agent + ":" + f.id }
func (f fxType) key() string      { return "type:" + f.agent }
func (f fxSend) key() string      { return "type:" + f.agent } // in one order with keys
func (f fxList) key() string      { return "list" }
func (f fxLoad) key() string      { return "load" }
func (f fxEdit) key() string      { return "edit" }
func (f fxScan) key() string      { return "scan" }
func (f fxStrays) key() string    { return "strays" }
func (f fxSweep) key() string     { return "sweep" }
func (f fxFollow) key() string    { return "" }
func (f fxCondition) key() string { return "condition:" + f.of.Scoped() }
func (f fxOpen) key() string      { return "run:" + f.run.Definition.Scoped() }
func (f fxRun) key() string       { return "run:" + f.run.Definition.Scoped() }
func (f fxEndRun) key() string    { return "" }
func (f fxEndRuns) key() string   { return "" }
func (f fxShut) key() string      { return "shut:" + f.run.ID }
func (f fxMemorise) key() string  { return "memorise" }
func (f fxBead) key() string      { return "" }
func (f fxCount) key() string     { return "count" }
func (f fxReturn) key() string    { return "return" }
func (f fxProbe) key() string     { return "probe" }
func (f fxPurge) key() string     { return "purge" }
func (f fxBackUp) key() string    { return "backup" }
func (f fxCheck) key() string     { return "check:" + f.pool.Name }
func (f fxMark) key() string      { return "mark:" + f.agent }
func (f fxScale) key() string     { return "scale" }
func (f fxMeasure) key() string   { return "measure" }
func (f fxRemember) key() string  { return "remember" }
func (f fxRecord) key() string    { return "" }
func (f fxHeartbeat) key() string { return "heartbeat:" + f.tier }
func (f fxEscalate) key() string  { return "escalate:" + f.tier }
func (f fxDoor) key() string      { return "" }
func (f fxEmit) key() string      { return "" }
func (f fxAnswer) key() string    { return "" }
