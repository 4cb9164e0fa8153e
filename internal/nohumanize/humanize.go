// Package humanize replaces github.com/dustin/go-humanize, which modernc.org/libc imports for its own statistics. The
// original compiles a regular expression and builds tables whenever a process starts. gcity never prints these
// statistics.
package humanize

import "strconv"

// Comma returns n in decimal, without commas.
func Comma(n int64) string { return strconv.FormatInt(n, 10) }
