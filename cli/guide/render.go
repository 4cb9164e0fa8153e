package guide

import (
	"fmt"
	"regexp"
	"strings"
)

// Style contains functions that add terminal styles to parts of a page.
type Style struct {
	Title func(string) string
	Code  func(string) string
	Block func(string) string
	Width int // in columns
}

func link() *regexp.Regexp { return regexp.MustCompile(`\[([^\]]*)\]\(([^)]*)\)`) }
func bold() *regexp.Regexp { return regexp.MustCompile(`\*\*([^*]+)\*\*`) }
func emphasis() *regexp.Regexp {
	return regexp.MustCompile(`(^| )\*([^*\x60 ]+)\*`)
}
func span() *regexp.Regexp { return regexp.MustCompile("`([^`]*)`") }

// Terminal returns the topic's page, formatted for a terminal.
func (t Topic) Terminal(s Style) string {
	w := &writer{Style: s, width: s.Width}
	b := &w.Builder
	last := heading
	for i, bl := range parse(t.Text()) {
		if i > 0 && !(bl.kind == item && last == item) {
			b.WriteString("\n")
		}
		last = bl.kind
		switch bl.kind {
		case heading:
			b.WriteString(s.Title(inline(bl.text)) + "\n")
		case paragraph:
			w.wrap("", "", inline(bl.text))
		case item:
			mark, rest, _ := strings.Cut(bl.text, " ")
			w.wrap(mark+" ", strings.Repeat(" ", len(mark)+1), inline(rest))
		case code:
			for _, line := range bl.lines {
				b.WriteString(strings.TrimRight("    "+s.Block(line), " ") + "\n")
			}
		case table:
			w.table(bl.rows)
		}
	}
	return b.String()
}

type writer struct {
	strings.Builder
	Style
	width int
}

func (w *writer) table(rows [][]string) {
	head := rows[0]
	for _, row := range rows[1:] {
		w.wrap("  ", "  ", inline(row[0]))
		for i, cell := range row[1:] {
			if cell == "" {
				continue
			}
			text := inline(cell)
			if len(row) > 2 && i+1 < len(head) && head[i+1] != "" {
				text = inline(head[i+1]) + ": " + text
			}
			w.wrap("      ", "      ", text)
		}
	}
}

func inline(text string) string {
	text = (&references{pattern: link()}).replace(text)
	return emphasis().ReplaceAllString(bold().ReplaceAllString(text, "$1"), "$1$2")
}

func (w *writer) wrap(first, rest, text string) {
	line, columns := first, len(first)
	empty, code := true, span()
	flush := func() {
		styled := code.ReplaceAllStringFunc(line, func(m string) string {
			return w.Code(strings.Trim(m, "`"))
		})
		w.WriteString(strings.TrimRight(styled, " ") + "\n")
	}
	for _, word := range words(text) {
		n := len([]rune(word))
		if !empty && columns+1+n > w.width {
			flush()
			line, columns, empty = rest, len(rest), true
		}
		if !empty {
			line += " "
			columns++
		}
		line += word
		columns += n
		empty = false
	}
	flush()
}

func words(text string) []string {
	var out []string
	var b strings.Builder
	quoted := false
	for _, r := range text {
		if r == '`' {
			quoted = !quoted
		}
		if r == ' ' && !quoted {
			if b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			continue
		}
		b.WriteRune(r)
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}

// Man returns the topic's page as a manual page for section 7. The function escape makes all text safe for man.
func (t Topic) Man(version string, escape func(string) string) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	plain := func(text string) string { return escape(strings.ReplaceAll(inline(text), "`", "")) }
	line(`.TH "GCITY\-%s" "7" "" "gcity %s" "gcity"`,
		escape(strings.ToUpper(t.Name)), escape(version))
	line(".SH NAME\ngcity\\-%s \\- %s", escape(t.Name), plain(t.Title()))
	title := ".SH DESCRIPTION"
	for _, bl := range parse(t.Text()) {
		if bl.kind == heading {
			if title = ""; bl.level == 1 {
				title = ".SH DESCRIPTION"
				continue
			}
			line("%s %s", map[bool]string{true: ".SH", false: ".SS"}[bl.level == 2], plain(bl.text))
			continue
		}
		if title != "" {
			line("%s", title)
			title = ""
		}
		switch bl.kind {
		case paragraph:
			line(".PP\n%s", plain(bl.text))
		case item:
			_, rest, _ := strings.Cut(bl.text, " ")
			line(".IP \\(bu 2\n%s", plain(rest))
		case code:
			line(".PP\n.EX")
			for _, text := range bl.lines {
				line("%s", escape(text))
			}
			line(".EE")
		case table:
			for _, row := range bl.rows[1:] {
				line(".TP\n%s\n%s", plain(row[0]), plain(strings.Join(row[1:], "; ")))
			}
		}
	}
	return b.String()
}
