// Package wire is what the server and the client of the API share: paths and what they name, the shapes of answers, and
// the frames of an attached terminal.
package wire
