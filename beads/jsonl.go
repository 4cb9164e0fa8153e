package beads

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// maxLine bounds a line of an import, in bytes. It has room for the largest bead with every character escaped.
const maxLine = 4 << 20

// Export writes all beads of a store as lines of JSON, the oldest first, in the shape in which the command line tool
// `bd` exports its issues. It returns how many.
func Export(ctx context.Context, s Store, w io.Writer) (int, error) {
	all, err := s.List(ctx, Query{Limit: -1})
	if err != nil {
		return 0, err
	}
	slices.Reverse(all)
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i, b := range all {
		if err := enc.Encode(toIssue(b)); err != nil {
			return i, fmt.Errorf("cannot write the export, at bead %s: %w", b.ID, err)
		}
	}
	if err := out.Flush(); err != nil {
		return 0, fmt.Errorf("cannot write the export: %w", err)
	}
	return len(all), nil
}

// Imported is the result of an import.
type Imported struct {
	Restored
	// lines about something else than issues, and issues that the tool had deleted
	Other    int       `json:"other"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is a line of an import that was set aside.
type Problem struct {
	Line   int    `json:"line"` // from 1
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason"`
}

func (p Problem) Error() string {
	if p.ID != "" {
		return fmt.Sprintf("line %d (%s): %s", p.Line, p.ID, p.Reason)
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
}

// Import reads lines as Export and `bd export` write them into a store, which must be a Restorer. Importing the
// same lines again changes nothing. An issue with the id of a bead in the store replaces it if it was updated
// later. Invalid lines are listed in the result and do not prevent the others, of which all or none are imported.
func Import(ctx context.Context, s Store, r io.Reader) (Imported, error) {
	var done Imported
	store, ok := s.(Restorer)
	if !ok {
		return done, errors.New("this store of beads cannot take an import")
	}
	all, err := read(r, &done)
	if err != nil {
		return Imported{}, fmt.Errorf("cannot read the import: %w; nothing was taken", err)
	}
	if len(all) == 0 {
		return done, nil
	}
	done.Restored, err = store.Restore(ctx, all)
	if err != nil {
		return Imported{}, fmt.Errorf("nothing was imported: %w", err)
	}
	return done, nil
}

// read collects what can be restored; of two lines with one id the later counts.
func read(r io.Reader, done *Imported) ([]Bead, error) {
	var all []Bead
	place := map[string]int{}
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil && !errors.Is(err, errLong) {
			return nil, err
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var b Bead
		if err == nil {
			b, err = fromIssue(line)
		}
		if errors.Is(err, errOther) {
			done.Other++
			continue
		}
		if err == nil {
			_, _, err = Merge(nil, b, time.Unix(0, 0))
		}
		if err != nil {
			done.Problems = append(done.Problems, Problem{Line: n, ID: b.ID, Reason: err.Error()})
			continue
		}
		if i, again := place[b.ID]; again {
			all[i] = b
			continue
		}
		place[b.ID] = len(all)
		all = append(all, b)
	}
}

var errLong = fmt.Errorf("the line has more than %d bytes", maxLine)

// readLine returns the next line, errLong for one that is too long, and io.EOF after the last.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !(errors.Is(err, io.EOF) && (len(line) > 0 || long)):
			return nil, err
		case long:
			return nil, errLong
		}
		return line, nil
	}
}
