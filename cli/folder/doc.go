// Package folder reads and writes a city's folder: its configuration sources, lock, logs, events and formulas, and
// whether its programs are trusted. It needs neither a controller nor command-line flags.
package folder
