// Package humanize replaces github.com/dustin/go-humanize, which modernc.org/libc imports. The original compiles a
// regular expression at startup.
package humanize

import "strconv"

// Comma returns n in decimal, without commas.
func Comma(n int64) string { return strconv.FormatInt(n, 10) }
