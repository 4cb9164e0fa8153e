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

// maxLine is the maximum length of an imported line, in bytes.
const maxLine = 4 << 20

// Exported is the result of an export.
type Exported struct {
	Beads   int
	Omitted []Unreadable // records that cannot be read
	Damage  error        // nil = the store is not damaged
}

// Export writes all readable beads in a store as lines of JSON, oldest first, in the format of `bd export`.
func Export(ctx context.Context, s Store, w io.Writer) (Exported, error) {
	all, done, err := readable(ctx, s)
	if err != nil {
		return Exported{}, err
	}
	slices.Reverse(all)
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, b := range all {
		if err := enc.Encode(toIssue(b)); err != nil {
			return Exported{}, fmt.Errorf("cannot write bead %s to the export: %w", b.ID, err)
		}
	}
	if err := out.Flush(); err != nil {
		return Exported{}, fmt.Errorf("cannot write the export: %w", err)
	}
	done.Beads = len(all)
	return done, nil
}

// readable returns all beads that can be read, newest first.
func readable(ctx context.Context, s Store) (all []Bead, done Exported, err error) {
	all, err = s.List(ctx, Query{Limit: -1})
	if d, ok := s.(Salvager); ok && err != nil {
		if found, lost, failed := d.Salvage(ctx, err); failed == nil {
			return found, Exported{Omitted: lost, Damage: err}, nil
		}
	}
	if a, ok := s.(Auditor); ok && err == nil {
		done.Omitted, err = a.Unreadable(ctx)
		if errors.Is(err, errors.ErrUnsupported) {
			done.Omitted, err = nil, nil
		}
	}
	return all, done, err
}

// Imported is the result of an import.
type Imported struct {
	Restored
	// lines that are not issues, and issues that were deleted in bd
	Other    int       `json:"other"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem describes an invalid line that an import has skipped.
type Problem struct {
	Line   int    `json:"line"` // counted from 1
	ID     string `json:"id,omitempty"`
	Reason string `json:"reason"`
}

func (p Problem) Error() string {
	if p.ID != "" {
		return fmt.Sprintf("line %d (%s): %s", p.Line, p.ID, p.Reason)
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Reason)
}

// Import imports the output of Export or `bd export` into a Restorer. It is idempotent. The version that was updated
// last wins. It imports all valid lines or none, and lists invalid ones in the result.
func Import(ctx context.Context, s Store, r io.Reader) (Imported, error) {
	var done Imported
	store, ok := s.(Restorer)
	if !ok {
		return done, errors.New("this store does not support imports")
	}
	all, err := read(r, &done)
	if err != nil {
		return Imported{}, fmt.Errorf("cannot read the import: %w; nothing was imported", err)
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

// read returns the beads in the valid lines, and records the other lines in done, except empty ones. For duplicate
// IDs, the last line counts.
func read(r io.Reader, done *Imported) ([]Bead, error) {
	var all []Bead
	index := map[string]int{}
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
		if i, again := index[b.ID]; again {
			all[i] = b
			continue
		}
		index[b.ID] = len(all)
		all = append(all, b)
	}
}

var errLong = fmt.Errorf("the line has more than %d bytes", maxLine)

// readLine returns errLong for a line that is too long, and io.EOF after the last line.
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
