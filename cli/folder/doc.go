// Package folder reads and writes the folder of a city: the sources of its configuration, its lock, logs, events
// and formulas, and the trust in its programs. It needs neither a controller nor command-line flags.
package folder
