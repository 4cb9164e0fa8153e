package suggest

import "fmt"

// NotFound returns the message for a name that does not exist. It suggests the nearest existing name if one is near.
func NotFound(what, name string, names []string) string {
	msg := fmt.Sprintf("no %s is called %q", what, name)
	if near := Nearest(name, names); near != "" {
		msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return msg
}
