//go:build !linux

package shell

import "time"

// sweep knows no process by its environment here: what leaves the line's process group lives on.
func sweep(string, int, time.Duration, time.Duration) error { return nil }
