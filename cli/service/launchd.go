package service

import (
	"fmt"
	"html"
	"strings"
)

func (s *unit) plistText() (string, error) {
	for _, word := range append(s.command(), s.env...) {
		if err := fitForUnit(word); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	line := func(depth int, format string, args ...any) {
		fmt.Fprintf(&b, strings.Repeat("\t", depth)+format+"\n", args...)
	}
	text := html.EscapeString // encoding/xml would make every start of gcity slower
	line(0, `<?xml version="1.0" encoding="UTF-8"?>`)
	line(0, `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" `+
		`"http://www.apple.com/DTDs/PropertyList-1.0.dtd">`)
	line(0, "<!-- %s -->", s.mark())
	line(0, `<plist version="1.0">`)
	line(0, "<dict>")
	line(1, "<key>Label</key>")
	line(1, "<string>%s</string>", text(s.label()))
	line(1, "<key>ProgramArguments</key>")
	line(1, "<array>")
	for _, arg := range s.command() {
		line(2, "<string>%s</string>", text(arg))
	}
	line(1, "</array>")
	if s.System && s.User != "" {
		line(1, "<key>UserName</key>")
		line(1, "<string>%s</string>", text(s.User))
	}
	line(1, "<key>EnvironmentVariables</key>")
	line(1, "<dict>")
	for _, kv := range s.env {
		name, value, _ := strings.Cut(kv, "=")
		line(2, "<key>%s</key>", text(name))
		line(2, "<string>%s</string>", text(value))
	}
	line(1, "</dict>")
	line(1, "<key>RunAtLoad</key>")
	line(1, "<true/>")
	line(1, "<key>KeepAlive</key>")
	line(1, "<dict>")
	line(2, "<key>SuccessfulExit</key>")
	line(2, "<false/>")
	line(1, "</dict>")
	line(1, "<key>ThrottleInterval</key>")
	line(1, "<integer>5</integer>")
	line(1, "<key>ExitTimeOut</key>")
	line(1, "<integer>%d</integer>", s.stopSeconds())
	line(1, "<!-- Agents keep running when their controller exits. -->")
	line(1, "<key>AbandonProcessGroup</key>")
	line(1, "<true/>")
	line(1, "<key>StandardErrorPath</key>")
	line(1, "<string>%s</string>", text(s.log))
	line(0, "</dict>\n</plist>")
	return b.String(), nil
}

func (s *unit) label() string { return "gcity." + s.Name }
