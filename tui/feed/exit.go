package feed

// Exit is what the person chose, or what ended the control room without being asked.
type Exit int

const (
	// Ended: the context ended, or Run failed; nobody chose anything.
	Ended Exit = iota
	// Leave: joined, and everything keeps running.
	Leave
	// HandOver: keep the agents and go on headless.
	HandOver
	// KeepAgents: stop the controller, leave the agents running.
	KeepAgents
	// StopCity: stop the agents and the controller.
	StopCity
	// Hangup: the terminal is gone (SIGHUP, end of input); the caller goes on headless.
	Hangup
	// Terminated: SIGTERM came.
	Terminated
	// Interrupted: SIGINT came, and it was meant for this process.
	Interrupted
)

// String names the exit for logs.
func (e Exit) String() string {
	return [...]string{"ended", "leave", "hand over", "keep agents", "stop city", "hangup",
		"terminated", "interrupted"}[e]
}
