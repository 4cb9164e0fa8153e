package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"gcity/internal/disk"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// memory is what a room remembers of how it was left: one file for each city. Fields may be added; what an older file
// lacks is as usual, and of what a newer one has besides nothing is known.
type memory struct {
	Version int    `json:"version"`
	Focus   string `json:"focus,omitempty"`
	Zoomed  bool   `json:"zoomed,omitempty"`
	Hidden  bool   `json:"pane_hidden,omitempty"`
	// it is not where it usually is: beside, over SSH below
	Moved     bool              `json:"pane_moved,omitempty"`
	Attention bool              `json:"attention,omitempty"`
	Filters   map[string]string `json:"filters,omitempty"` // by the names of panels
	Orders    map[string]string `json:"orders,omitempty"`  // by the names of panels
	History   []string          `json:"history,omitempty"` // of the palette, oldest first
	// texts that went to agents, oldest first
	Sent []string `json:"sent,omitempty"`
}

// memoryVersion grows when a file means something else than before; one of a later version is not read.
const memoryVersion = 1

// maxMemory bounds a file that is read.
const maxMemory = 1 << 20

// rememberEvery is how often what changed is written while the room is open.
const rememberEvery = time.Minute

// remember writes down how the room stands.
type remember struct{ text []byte }

func (remember) effect() {}

// filters are those of all panels, by name.
func filters(m *model) map[string]*widget.Filter {
	all := map[string]*widget.Filter{}
	for _, p := range m.Panels {
		if a := p.About(); !a.Part {
			all[string(a.ID)] = p.Query()
		}
	}
	return all
}

// memory is how the room stands now.
func memoryOf(m *model) memory {
	out := memory{Version: memoryVersion, Focus: string(m.focus), Zoomed: m.zoomed,
		Hidden: m.hidden,
		Moved:  m.below != m.around.below, Attention: m.attention, Filters: map[string]string{},
		Orders: m.orders(), History: m.history, Sent: m.sent}
	for name, f := range filters(m) {
		if f.Active() {
			out.Filters[name] = f.Text
		}
	}
	return out
}

// recall makes the room stand as it was left.
func recall(m *model, old memory) {
	m.recalled = old
	if id := panel.ID(old.Focus); id == panel.IDPeek || m.panelOf(id).About().ID == id {
		m.focus = id
	}
	m.hidden, m.attention = old.Hidden, old.Attention
	m.below = m.around.below != old.Moved
	if m.hidden && m.focus == panel.IDPeek {
		m.focus = panel.IDAgents
	}
	m.zoomed, m.before = old.Zoomed, m.focus
	if m.focus == panel.IDPeek {
		m.before = panel.IDAgents
	}
	for name, f := range filters(m) {
		*f = widget.ParseFilter(widget.SingleLine(old.Filters[name]))
	}
	m.setOrders(old.Orders)
	setHistory(m, old.History)
	setSent(m, old.Sent)
	if m.snap != nil {
		m.refill()
	}
	m.noted = memoryOf(m).text()
	tellKept(m)
}

// tellKept says that not all is shown, because it was so when the room was left.
func tellKept(m *model) {
	text := panel.SearchText(m.env(), filter(m), false)
	if text == "" {
		return
	}
	show(m, "as you left it: "+text+" hides the others; "+m.keys.KeyOf("view.back")+" clears it",
		false)
	if !filter(m).Active() {
		show(m, "as you left it: only what needs attention; "+m.keys.KeyOf("view.attention")+
			" shows all", false)
	}
}

func (s memory) text() []byte {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil { // strings and flags always can be written
		panic(err)
	}
	return append(text, '\n')
}

// keepMemory asks for what changed to be written, now and then, and once more at the end.
func keepMemory(m *model, last bool) []effect {
	if !last && m.now.Sub(m.notedAt) < rememberEvery {
		return nil
	}
	m.notedAt = m.now
	text := memoryOf(m).text()
	if string(text) == string(m.noted) {
		return nil
	}
	m.noted = text
	return []effect{remember{text}}
}

// readMemory reads a file. None at all is nothing to remember; the error says why one does not count.
func readMemory(path string) (memory, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return memory{}, nil
	case err != nil:
		return memory{}, err
	case !info.Mode().IsRegular() || info.Size() > maxMemory:
		return memory{}, fmt.Errorf("%s is no file that gcity has written", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return memory{}, err
	}
	var m memory
	if err := json.Unmarshal(data, &m); err != nil {
		return memory{}, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if m.Version != memoryVersion {
		return memory{}, fmt.Errorf("%s has the version %d, this gcity knows %d", path, m.Version,
			memoryVersion)
	}
	return m, nil
}

// remember writes a memory down. Where that fails nothing is lost but the convenience.
func (r *runner) remember(path string, e remember) {
	if path == "" {
		return
	}
	r.spawn("memory", func(context.Context) {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = disk.Replace(path, e.text, 0o600)
		}
		if err != nil {
			r.log.Warn("how the control room stands cannot be kept", "error", err)
		}
	})
}
