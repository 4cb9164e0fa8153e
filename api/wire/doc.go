// Package wire defines what the API's server and client share: paths, the format of responses, and terminal frames.
package wire
