package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

type tourAction struct {
	at   int
	keys []string
}

// The start and the length of the tour, in seconds.
const (
	tourFrom   = 12
	tourLength = 60
)

func script() []tourAction {
	return []tourAction{
		{4, []string{"j"}}, {7, []string{"j"}}, {8, []string{"j"}}, // move down the list
		{10, []string{"d"}}, {13, []string{"\x1b"}}, // details
		// filter
		{14, []string{"/"}}, {15, []string{"l", "o", "a"}}, {16, []string{"\r"}},
		{17, []string{"\x1b"}},
		// pools, automations
		{18, []string{"2"}}, {21, []string{"4"}}, {23, []string{"j"}}, {26, []string{"d"}},
		{29, []string{"\x1b"}},
		// events, work
		{31, []string{"5"}}, {34, []string{"b"}}, {37, []string{"\x1b"}}, {38, []string{"1"}},
		{39, []string{"?"}}, {42, []string{"\x1b"}}, {43, []string{":"}}, {44, []string{"r", "e"}},
		{46, []string{"\x1b"}},
		// release from quarantine; the tape has this command at second 62
		{47, []string{"3"}}, {48, []string{"u"}}, {52, []string{"1"}},
		{54, []string{"\r"}}, {57, []string{"q"}}, {59, []string{"\x1b"}},
	}
}

// tour records a tour of the control room, in version 2 of the asciicast format.
func tour(ctx context.Context, tapeFile, file string) (err error) {
	s := shot{cols: 120, rows: 36, at: tourFrom}
	st, err := openRoom(ctx, tapeFile, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	if err := st.sees("demo"); err != nil {
		return err
	}
	c, err := newCast(s.cols, s.rows, "gcity: sixty seconds of a city")
	if err != nil {
		return err
	}
	actions := script()
	for second := range tourLength {
		if err := c.frame(st, float64(second)); err != nil {
			return err
		}
		if len(actions) > 0 && actions[0].at == second {
			for i, key := range actions[0].keys {
				if _, err := io.WriteString(st.tty, key); err != nil {
					return err
				}
				if err := st.sees(""); err != nil {
					return err
				}
				if err := c.frame(st, float64(second)+0.2*float64(i+1)); err != nil {
					return err
				}
			}
			actions = actions[1:]
		}
		if err := st.order(1); err != nil {
			return err
		}
		if err := st.sees(""); err != nil {
			return err
		}
	}
	if err := c.frame(st, tourLength); err != nil {
		return err
	}
	return os.WriteFile(file, c.out.Bytes(), 0o644)
}

type cast struct {
	out    bytes.Buffer
	before []string
}

func newCast(cols, rows int, title string) (*cast, error) {
	c := &cast{before: make([]string, rows)}
	return c, c.put(map[string]any{"version": 2, "width": cols, "height": rows, "title": title,
		"env": map[string]string{"TERM": "xterm-256color"}})
}

func (c *cast) put(v any) error {
	e := json.NewEncoder(&c.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (c *cast) frame(st *terminalRoom, at float64) error {
	lines, _, err := st.look()
	if err != nil {
		return err
	}
	var b strings.Builder
	for y := range lines {
		lines[y] = canonical(lines[y])
	}
	for y, line := range lines {
		if line != c.before[y] {
			// Erase the line first, because erasing after a full line would remove its last character.
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[2K%s\x1b[m", y+1, line)
		}
	}
	c.before = lines
	if b.Len() == 0 {
		return nil
	}
	if x, y, shown := st.cursor(); shown {
		fmt.Fprintf(&b, "\x1b[%d;%dH\x1b[?25h", y+1, x+1)
	} else {
		b.WriteString("\x1b[?25l")
	}
	return c.put([]any{at, "o", b.String()})
}
