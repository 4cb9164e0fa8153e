package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/events"
)

type recording struct {
	Began  time.Time               `json:"began"`
	Ended  time.Time               `json:"ended"`
	States []timedEvent[*state]    `json:"states"`
	Events []events.Event          `json:"events"`
	Work   []timedEvent[[]work]    `json:"work"`
	Frames map[string][]timedFrame `json:"frames"` // by agent
	// last output before the terminal was closed, by agent
	Words map[string][]words   `json:"words"`
	Runs  map[string][]printed `json:"runs"` // by run ID
	Said  []sentCommand        `json:"said"`

	About map[string][]timedEvent[*about] `json:"about"` // inspections, by agent
}

type (
	state = city.Snapshot
	about = city.Inspection
	work  = beads.Bead
)

type timedEvent[T any] struct {
	At time.Time `json:"at"`
	It T         `json:"it"`
}

type words = timedEvent[string]

type timedFrame struct {
	At    time.Time  `json:"at"`
	Frame city.Frame `json:"frame"`
	End   bool       `json:"end,omitempty"`
	Why   string     `json:"why,omitempty"`
}

type printed struct {
	At    time.Time  `json:"at"`
	Piece city.Piece `json:"piece"`
	End   bool       `json:"end,omitempty"`
}

type sentCommand struct {
	At      time.Time       `json:"at"`
	Verb    string          `json:"verb"`
	Target  string          `json:"target"`
	Body    json.RawMessage `json:"body"`
	Receipt city.Receipt    `json:"receipt"`
}

func upTo[T any](all []timedEvent[T], at time.Time) (it T) {
	for _, h := range all {
		if h.At.After(at) {
			break
		}
		it = h.It
	}
	return it
}

// anonymous removes strings that identify the machine. pairs contains alternating old and new strings.
func (t *recording) anonymous(pairs ...string) (*recording, error) {
	raw, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(pairs); i += 2 {
		raw = bytes.ReplaceAll(raw, []byte(pairs[i]), []byte(pairs[i+1]))
	}
	clean := &recording{}
	if err := json.Unmarshal(raw, clean); err != nil {
		return nil, err
	}
	for _, all := range clean.Frames {
		for i := range all {
			for p := 0; p < len(pairs); p += 2 {
				all[i].Frame.Data = bytes.ReplaceAll(all[i].Frame.Data, []byte(pairs[p]),
					[]byte(pairs[p+1]))
			}
		}
	}
	return clean, nil
}

func (t *recording) save(file string) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(json.NewEncoder(z).Encode(t), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

func loadRecording(file string) (*recording, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("no tape found; record one with `go run ./screenshots -record`: %w",
			err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t := &recording{}
	if err := json.Unmarshal(raw, t); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(t.States) == 0 {
		return nil, fmt.Errorf("%s: the tape is empty", file)
	}
	return t, nil
}
