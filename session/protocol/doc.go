// Package protocol is the session protocol, version 1, between gcity and a helper program that runs sessions. A
// helper serves HTTP on a unix socket that it inherits. docs/session-protocol.md describes the protocol for authors
// of helpers in any language. Serve is a whole helper for a provider written in Go, and Client is the provider on
// gcity's side.
//
// # Concurrency
//
// A Server and a Client may be used from several goroutines. A Client has one goroutine, which follows the stream
// of exits; Close stops it.
package protocol

// Version is the version of the protocol that this package implements.
const Version = 1

const (
	// SocketEnv names the variable that holds the number of the inherited file descriptor: a listening unix socket.
	SocketEnv = "GCITY_SESSION_SOCKET_FD"

	// TimeoutHeader carries how many milliseconds the caller waits for the answer. Without it a call has no limit.
	TimeoutHeader = "Gcity-Timeout-Ms"

	// Upgrade is the protocol that an attach switches to; see Frame types in frame.go.
	Upgrade = "gcity-terminal/1"

	maxMessage = 64 << 20 // limit of one JSON answer in bytes
)
