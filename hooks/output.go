package hooks

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// Output converts a text to the output with which a program's hook passes it to the model. It does not change the text
// if the program is unknown, or if the text is empty.
func Output(program string, c Command, text string) (output string, known bool) {
	k := kindOf(program)
	if k == nil || text == "" {
		return text, k != nil
	}
	for _, h := range k.hooks {
		if h.command == c && h.output != "" {
			text = strings.Replace(h.output, "TEXT", string(raw(text)), 1) + "\n"
			break
		}
	}
	return text, true
}

// GetsMail reports whether a program passes mail to its model before a turn. If not, the hook at the end of a turn must
// print the mail.
func GetsMail(program string) bool {
	k := kindOf(program)
	return k == nil || k.text != "" ||
		slices.ContainsFunc(k.hooks, func(h hook) bool { return h.command == Mail })
}

// Continued reports whether a hook has already continued the turn that ends. It also returns true if the turn was
// interrupted or failed. in is the hook's input.
func Continued(in io.Reader) bool {
	var input struct {
		Active      bool   `json:"stop_hook_active"`
		ActiveCamel bool   `json:"stopHookActive"` // Copilot, for events in camel case
		Loops       int    `json:"loop_count"`     // Cursor
		Status      string `json:"status"`         // Cursor: completed, aborted or error
	}
	// Cursor can write a byte order mark first
	text := bufio.NewReader(io.LimitReader(in, maxFile))
	if r, _, err := text.ReadRune(); err == nil && r != '\ufeff' {
		_ = text.UnreadRune()
	}
	_ = json.NewDecoder(text).Decode(&input)
	return input.Active || input.ActiveCamel || input.Loops > 0 || input.Status == "aborted" ||
		input.Status == "error"
}
