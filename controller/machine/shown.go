package machine

import "fmt"

// numbered is a text with a process's number in it, "" where none is known: of a session elsewhere, or of a drill.
func numbered(pid int, format string) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf(format, pid)
}
