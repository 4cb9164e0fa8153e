package feed

// Exit says how the control room was left.
type Exit int

const (
	// Ended means that the context ended or Run failed, before the user chose how to leave.
	Ended Exit = iota
	// Leave means that the user left a room that does not run the city; everything keeps running.
	Leave
	// HandOver means that the agents keep running and the caller continues headless.
	HandOver
	// KeepAgents means that the controller stops and the agents keep running.
	KeepAgents
	// StopCity means that the agents and the controller stop.
	StopCity
	// Hangup means that the terminal was closed (SIGHUP or end of input). The caller continues headless.
	Hangup
	// Terminated means that SIGTERM was received.
	Terminated
	// Interrupted means that this process received SIGINT.
	Interrupted
)

// String returns the exit's name for logs.
func (e Exit) String() string {
	return [...]string{"ended", "leave", "hand over", "keep agents", "stop city", "hangup",
		"terminated", "interrupted"}[e]
}
