// Package protocol implements the session protocol, version 1, between gcity and a helper program that runs
// sessions. A helper serves HTTP on a unix socket that it inherits. docs/session-protocol.md describes the protocol
// for authors of helpers in any language. For a provider in Go, Serve is the main function of a helper. Client is
// gcity's side.
//
// # Concurrency
//
// A Server and a Client are safe for concurrent use. A Client has one goroutine, which reads the stream of exits.
// Close stops it.
package protocol

// Version is the version of the protocol that this package implements.
const Version = 1

const (
	// SocketEnv is the name of the variable with the number of the inherited file descriptor: a listening unix
	// socket.
	SocketEnv = "GCITY_SESSION_SOCKET_FD"

	// TimeoutHeader contains how many milliseconds the caller waits for the response. Without it, a call has no
	// timeout.
	TimeoutHeader = "Gcity-Timeout-Ms"

	// Upgrade is the protocol to which an attach switches; see the types of frames in frame.go.
	Upgrade = "gcity-terminal/1"

	maxMessage = 64 << 20 // maximum size of a JSON response in bytes
)
