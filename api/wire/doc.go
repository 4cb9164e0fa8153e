// Package wire defines what the API's server and client share: paths and their meaning, the format of responses, and
// the frames of an attached terminal.
package wire
