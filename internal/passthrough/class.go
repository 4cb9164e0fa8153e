package passthrough

import (
	"bytes"
	"slices"
	"strings"
)

type verdict struct {
	class Set // class of the string; 0 means that it passes every filter
	known bool
}

// more is the verdict until the class is known.
var more = verdict{}

func is(class Set) verdict { return verdict{class, true} }

// controlClass returns the class of a CSI sequence. body is the part after the introducer.
func controlClass(body []byte) Set {
	if bytes.IndexByte([]byte("ityhl"), body[len(body)-1]) < 0 {
		return 0
	}
	plain := make([]byte, 0, 32)
	// skip control characters, because terminals execute them and then continue the sequence
	for _, b := range body {
		if b >= 0x20 && b != del {
			plain = append(plain, b)
		}
	}
	final := plain[len(plain)-1]
	params, _ := split(plain[:len(plain)-1])
	intermediates := plain[len(params) : len(plain)-1]
	private := len(params) > 0 && params[0] == '?'
	switch {
	case final == 'i':
		return MediaCopy
	case final == 't' && len(intermediates) == 0:
		if n := number(firstOf(bytes.TrimLeft(params, "<=>?"))); n == 20 || n == 21 || n > 65535 {
			return TitleReport
		}
	case final == 'y' && bytes.ContainsRune(intermediates, '*'):
		return ScreenReport
	case private && final == 'l' && sets(params[1:], 2): // VT52
		return never
	case private && final == 'h' && sets(params[1:], 38): // Tektronix
		return never
	}
	return 0
}

func split(b []byte) (params, rest []byte) {
	n := 0
	for n < len(b) && b[n] >= 0x30 {
		n++
	}
	return b[:n], b[n:]
}

func firstOf(params []byte) []byte {
	if at := bytes.IndexAny(params, ";:"); at >= 0 {
		return params[:at]
	}
	return params
}

// sets reports whether params contain the mode, or a number that a terminal might misread as the mode.
func sets(params []byte, mode int) bool {
	for one := range bytes.SplitSeq(params, []byte(";")) {
		if n := number(firstOf(one)); n == mode || n > 65535 {
			return true
		}
	}
	return false
}

// number returns the number at the start of b. It limits large numbers, but keeps them above 65535.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			break
		}
		n = min(n*10+int(c-'0'), 1<<20)
	}
	return n
}

func dcsClass(body []byte) verdict {
	final := body[len(body)-1]
	if final >= 0x20 && final < 0x40 {
		return more
	}
	head := body[:len(body)-1]
	switch {
	case final == 'q' && len(bytes.Trim(head, "0123456789;")) == 0: // sixels
		return is(0)
	case final == 's' && (string(head) == "=1" || string(head) == "=2"): // synchronized update
		return is(0)
	case final == 'q' && (bytes.HasSuffix(head, []byte("$")) || bytes.HasSuffix(head, []byte("+"))):
		return is(DCSRequest)
	}
	return is(DCS)
}

// drawing lists the OSC numbers that draw, describe what is drawn, or query a color.
var drawing = [...]int{4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 21, 22, 66, 99, 104,
	105, 106, 110, 111, 112, 113, 114,
	115, 116, 117, 118, 119, 133, 176, 633, 3008, 30001, 30101}

// oscClass returns the class of an OSC string. body is incomplete unless ended is true.
func oscClass(body []byte, ended bool) verdict {
	digits := 0
	for digits < len(body) && body[digits] >= '0' && body[digits] <= '9' {
		digits++
	}
	switch {
	case digits == len(body) && !ended && digits <= 10:
		return more
	case digits == 0 && len(body) > 0 && strings.IndexByte("PRlL", body[0]) >= 0:
		// colors of the Linux console, and old forms of titles
		return is(0)
	case digits == 0 || digits > 10 || digits < len(body) && body[digits] != ';':
		return is(never)
	}
	payload, has := "", digits < len(body)
	if has {
		payload = string(body[digits+1:])
	}
	switch n := number(body[:digits]); n {
	case 0, 1, 2:
		return beginning(payload, ended, "?", TitleReport, 0)
	case 9:
		return notification(payload, ended)
	case 50:
		return beginning(payload, ended, "CursorShape=", 0, OSC)
	case 52:
		return clipboard(payload, ended)
	case 777:
		return beginning(payload, ended, "notify;", 0, OSC)
	case 1337:
		return iterm(payload, ended)
	case 5522:
		return is(ClipboardRead)
	default:
		if slices.Contains(drawing[:], n) {
			return is(0)
		}
		return is(OSC)
	}
}

func beginning(payload string, ended bool, want string, yes, no Set) verdict {
	switch {
	case strings.HasPrefix(payload, want):
		return is(yes)
	case !ended && strings.HasPrefix(want, payload):
		return more
	}
	return is(no)
}

// OSC 9 shows a notification, or sets a progress bar (4) or the working folder (9).
func notification(payload string, ended bool) verdict {
	digits := len(payload) - len(strings.TrimLeft(payload, "0123456789"))
	switch {
	case digits == len(payload) && !ended && digits < 6:
		return more
	case digits == 0 || digits < len(payload) && payload[digits] != ';':
		return is(0)
	case payload[:digits] == "4" || payload[:digits] == "9":
		return is(0)
	}
	return is(OSC)
}

// clipboard returns the class of OSC 52. A payload with "?" requests the clipboard's content.
func clipboard(payload string, ended bool) verdict {
	_, content, given := strings.Cut(payload, ";")
	switch {
	case content == "" && !ended:
		return more
	case given && content != "" && content[0] == '?':
		return is(ClipboardRead)
	}
	return is(Clipboard)
}

// itermKeys lists the OSC 1337 commands that draw or describe what is drawn.
var itermKeys = [...]string{"Capabilities", "ClearScrollback", "CurrentDir", "CursorShape",
	"FileEnd", "FilePart", "HighlightCursorLine",
	"RemoteHost", "ReportCellSize", "SetMark", "ShellIntegrationVersion", "UnicodeVersion"}

// iterm returns the class of OSC 1337. A file passes only if it is an image to display.
func iterm(payload string, ended bool) verdict {
	at := strings.IndexAny(payload, "=:;")
	if at < 0 && !ended {
		return more
	}
	key := payload
	if at >= 0 {
		key = payload[:at]
	}
	switch {
	case key == "Copy" || key == "CopyToClipboard" || key == "EndCopy":
		return is(Clipboard)
	case key == "File" || key == "MultipartFile":
		options, _, complete := strings.Cut(payload[min(at+1, len(payload)):], ":")
		if !complete && !ended {
			return more
		}
		if at > 0 && slices.Contains(strings.Split(options, ";"), "inline=1") &&
			strings.Count(options, "inline=") == 1 {
			return is(0)
		}
		return is(OSC)
	case slices.Contains(itermKeys[:], key):
		return is(0)
	}
	return is(OSC)
}
