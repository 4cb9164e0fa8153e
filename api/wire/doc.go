// Package wire contains the definitions that server and client of the API share: paths and their meaning, the format of
// answers, and the frames of an attached terminal.
package wire
