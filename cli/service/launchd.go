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
	write := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	text := html.EscapeString // encoding/xml would make every start of gcity slower
	write(`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" `+
		`"http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- %s -->
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>%s</string>
	<key>ProgramArguments</key>
	<array>
`, s.mark(), text(s.label()))
	for _, arg := range s.command() {
		write("\t\t<string>%s</string>\n", text(arg))
	}
	write("\t</array>\n")
	if s.System && s.User != "" {
		write("\t<key>UserName</key>\n\t<string>%s</string>\n", text(s.User))
	}
	write("\t<key>EnvironmentVariables</key>\n\t<dict>\n")
	for _, kv := range s.env {
		name, value, _ := strings.Cut(kv, "=")
		write("\t\t<key>%s</key>\n\t\t<string>%s</string>\n", text(name), text(value))
	}
	write(`	</dict>
	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
	<key>ThrottleInterval</key>
	<integer>5</integer>
	<key>ExitTimeOut</key>
	<integer>%d</integer>
	<!-- Agents keep running when their controller exits. -->
	<key>AbandonProcessGroup</key>
	<true/>
	<key>StandardErrorPath</key>
	<string>%s</string>
</dict>
</plist>
`, s.stopSeconds(), text(s.log))
	return b.String(), nil
}

func (s *unit) label() string { return "gcity." + s.Name }
