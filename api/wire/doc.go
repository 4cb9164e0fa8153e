// Package wire is shared by the server and the client of the API: paths and their meaning, the format of answers,
// and the frames of an attached terminal.
package wire
