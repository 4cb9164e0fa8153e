// Package tui is the control room: a projection of a city's snapshots, and the keys that act on it. It knows the city
// only through city.Control.
//
// The model is a value machine: a message and the time go in, the new state and a list of effects come out; View is a
// pure function of that state. Effects (commands, watching a terminal, attaching) are data, carried out by the runner.
//
// Bubble Tea runs it; keys are bindings and typed lines text inputs of Bubbles; styles and dialogs are Lip Gloss's.
// What every frame draws is put together of sequences that Lip Gloss rendered once, and panels keep their lines for
// as long as nothing in them changes.
//
// # Concurrency
//
// The model belongs to Bubble Tea's event loop. Everything else talks to it through one mailbox: a goroutine each for
// the city's snapshots, its events, the loop's pulse and the terminal being watched, and one for every command in
// flight, put what they have into the mailbox and never wait for the program; one pump takes it out, at most ten
// times a second (four over SSH), and sends it as a single message. While an agent is attached no program runs and
// nobody notices. All goroutines are owned by Run, recover from panics, and have ended when it returns.
package tui
