package feed

// Exit is what the user chose, or what ended the control room otherwise.
type Exit int

const (
	// Ended: the context ended, or Run failed; the user did not choose.
	Ended Exit = iota
	// Leave: joined, and everything keeps running.
	Leave
	// HandOver: keep the agents and continue headless.
	HandOver
	// KeepAgents: stop the controller, leave the agents running.
	KeepAgents
	// StopCity: stop the agents and the controller.
	StopCity
	// Hangup: the terminal is gone (SIGHUP, end of input); the caller continues headless.
	Hangup
	// Terminated: SIGTERM was received.
	Terminated
	// Interrupted: SIGINT was received for this process.
	Interrupted
)

// String names the exit for logs.
func (e Exit) String() string {
	return [...]string{"ended", "leave", "hand over", "keep agents", "stop city", "hangup",
		"terminated", "interrupted"}[e]
}
