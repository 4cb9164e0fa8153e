// Package output writes the output of commands: lines, aligned tables, colors, JSON and events. It makes external text
// safe for a terminal (L12).
package output
