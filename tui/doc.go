// Package tui is the control room: a projection of a city's snapshots, and the keys that act on it. It accesses the
// city only through city.Control.
//
// The control room is a state machine. A message and the time go in, the new state and a list of effects come out.
// The state is tui/state.Room. The keys run actions of tui/actions, which change the state. tui/view draws it as a
// pure function. Effects are data and are carried out by tui/feed. This package routes messages to the state and
// effects to the feed, and switches between the rooms of several cities.
//
// Bubble Tea runs it. Key bindings and text inputs come from Bubbles, styles from Lip Gloss. Frames are assembled from
// sequences that Lip Gloss rendered once, and panels cache their lines until something in them changes.
//
// # Concurrency
//
// The state belongs to Bubble Tea's event loop. Everything else reaches it through one mailbox. The city's snapshots,
// its events, the periodic requests, the watched terminal and every running command have one goroutine each. These
// goroutines put their results into the mailbox and never wait for the program. A single pump empties it, at most ten
// times a second (four over SSH), and sends the contents as a single message. While an agent is attached, no program
// runs, but the goroutines keep running. Run owns all goroutines: they recover from panics and have ended when Run
// returns. The only exception is a goroutine that writes to a terminal that no longer accepts output.
package tui
