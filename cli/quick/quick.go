// Package quick executes the common forms of `gcity agent peek` in an init function. At that time, most packages of the
// program are not initialized yet. Their initialization takes longer than a peek.
//
// Go initializes packages in the order of their import paths, but each package after its imports. Therefore, this
// package must import only packages of the standard library that are cheap to initialize.
//
// If package quick cannot handle a command line, it does nothing, and package cli executes the command. Therefore,
// package cli handles failed requests, unknown names, cities without a controller, and text that could harm the
// terminal.
package quick

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

//nolint:gochecknoinits // main would run only after all packages have been initialized
func init() {
	p, ok := parse(os.Args[1:], os.Getenv("GC_CITY_PATH"))
	if !ok {
		return
	}
	if text, ok := p.output(); ok {
		if _, err := os.Stdout.WriteString(text + "\n"); err != nil {
			_, _ = os.Stderr.WriteString("gcity: cannot print the output: " + err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
}

type peek struct {
	agent, city string
	lines       int // 0 = the screen
}

func parse(args []string, city string) (p peek, ok bool) {
	if len(args) < 3 || args[0] != "agent" || args[1] != "peek" {
		return peek{}, false
	}
	p.city = city
	for args = args[2:]; len(args) > 0; args = args[1:] {
		arg := args[0]
		switch {
		case arg == "--city" && len(args) > 1 && args[1] != "":
			p.city, args = args[1], args[1:]
		case arg == "-n" && len(args) > 1:
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 || n > maxLines {
				return peek{}, false
			}
			p.lines, args = n, args[1:]
		case p.agent == "" && isName(arg):
			p.agent = arg
		default:
			return peek{}, false
		}
	}
	if p.city == "" {
		p.city = "."
	}
	return p, p.agent != ""
}

// maxLines is the maximum number of lines that a controller returns.
const maxLines = 10000

func isName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
		case i > 0 && (c == '-' || c == '.' || c == '/'):
		default:
			return false
		}
	}
	return s != ""
}

func (p peek) output() (text string, ok bool) {
	if _, err := os.Stat(p.city + "/city.toml"); err != nil {
		return "", false
	}
	path := "/v0/agent/" + strings.ReplaceAll(p.agent, "/", "%2F") + "/output"
	if p.lines > 0 {
		path += "?lines=" + strconv.Itoa(p.lines)
	}
	response, err := get(p.city+"/.gc/controller.sock", path)
	if err != nil {
		return "", false
	}
	head, body, _ := bytes.Cut(response, []byte("\r\n\r\n"))
	var answer struct {
		Turns []struct {
			Text string `json:"text"`
		} `json:"turns"`
	}
	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200 ")) || json.Unmarshal(body, &answer) != nil {
		return "", false
	}
	for _, t := range answer.Turns {
		text += t.Text
	}
	text = strings.TrimRight(text, "\n")
	return text, text != "" && isSafe(text)
}

func isSafe(text string) bool {
	// length of the current line in bytes, assuming the longest encoding of each character
	length := 0
	for _, r := range text {
		length += utf8.UTFMax
		switch {
		case r == '\n':
			length = 0
		case length > maxLine:
			return false
		case ' ' <= r && r <= '~':
		case 0xa1 <= r && r <= 0x2ff && r != 0xad: // Latin
		case 0x2010 <= r && r <= 0x2027, 0x2030 <= r && r <= 0x205e: // punctuation
		case 0x2190 <= r && r <= 0x2bff: // arrows, box drawing, symbols, Braille
		case 0x4e00 <= r && r <= 0x9fff: // Chinese characters
		default:
			return false
		}
	}
	return true
}

// Package cli shortens lines that have more bytes than maxLine.
const maxLine = 4096
