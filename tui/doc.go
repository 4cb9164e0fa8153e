// Package tui is the control room: it shows a city's snapshots, and its keys act on the city. It accesses the city only
// through city.Control.
//
// The control room is a state machine: a message and the current time go in; the new state and a list of effects come
// out. The state is tui/state.Room. A key runs an action of tui/actions, and the action changes the state. tui/view
// draws the state as a pure function. Effects are data, and tui/feed carries them out. This package passes messages to
// the state and effects to the feed, and switches between the rooms of several cities.
//
// The control room is a Bubble Tea program. Key bindings and text inputs come from Bubbles, and styles come from Lip
// Gloss. Lip Gloss renders the escape sequences of each style when a theme is applied, and frames are assembled from
// these sequences. Panels cache their lines until their content changes.
//
// # Concurrency
//
// The state belongs to Bubble Tea's event loop. Everything else reaches it through one mailbox. The city's snapshots,
// its events, the periodic requests, the watched terminal and every running command have one goroutine each. These
// goroutines put their results into the mailbox and never wait for the program. A single pump empties the mailbox at
// most ten times a second (four over SSH) and sends the contents as a single message. While the user is attached to an
// agent, no Bubble Tea program runs, but the goroutines keep running. Run owns all goroutines: they recover from panics
// and have ended when Run returns. The only exception is a goroutine that writes to a terminal that no longer accepts
// output.
package tui
