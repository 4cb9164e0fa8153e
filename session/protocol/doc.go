// Package protocol implements version 1 of the session protocol, which gcity uses to talk to helper programs that run
// sessions. A helper serves HTTP on a unix socket that it inherits. docs/session-protocol.md describes the protocol for
// authors of helpers in any language. A helper written in Go calls Serve with a session.Provider. gcity uses a Client.
//
// # Concurrency
//
// A Server and a Client are safe for concurrent use. A Client has one goroutine, which reads the exit stream. Close
// stops it.
package protocol

// Version is the protocol version that this package implements.
const Version = 1

const (
	// SocketEnv is the environment variable with the descriptor number of the inherited listening socket.
	SocketEnv = "GCITY_SESSION_SOCKET_FD"

	// TimeoutHeader is the header with the call's timeout in milliseconds. A call without it has no timeout.
	TimeoutHeader = "Gcity-Timeout-Ms"

	// Upgrade is the protocol that an attach call switches to; frame.go describes its frames.
	Upgrade = "gcity-terminal/1"

	maxMessage = 64 << 20 // maximum size of a JSON response in bytes
)
