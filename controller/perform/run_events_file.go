package perform

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gcity/automation"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/internal/disk"
)

const (
	// EventsFolder is the folder in .gc with the files of runs' events.
	EventsFolder = "runs"
	eventsSuffix = ".events.jsonl"
)

func (au *automations) eventsFile(ctx context.Context, f effect.Run) (string, error) {
	folder := filepath.Join(au.w.Dir, ".gc", EventsFolder)
	if err := disk.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("cannot write the run's events to a file: %w", err)
	}
	path := filepath.Join(folder, f.Bead+eventsSuffix)
	file, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", fmt.Errorf("cannot write the run's events to a file: %w", err)
	}
	lines := bufio.NewWriter(file)
	err = au.handOver(ctx, f.Run, lines)
	if err := errors.Join(err, lines.Flush(), file.Close()); err != nil {
		disk.Remove(path)
		return "", fmt.Errorf("cannot write the run's events to a file: %w", err)
	}
	return path, nil
}

func (au *automations) handOver(ctx context.Context, run automation.Run, to io.Writer) error {
	q := events.Query{Types: []string{run.Definition.On}, After: run.After, Before: run.Until + 1,
		Forward: true, Limit: events.MaxLimit}
	for q.After < run.Until {
		found, err := au.w.Log.Find(ctx, q)
		if err != nil || len(found) == 0 {
			return err
		}
		for _, e := range found {
			if automation.Depth(e) >= automation.MaxDepth {
				continue // skipped by automation.Runs, so not one of the run's events
			}
			line, err := json.Marshal(e)
			if err == nil {
				_, err = to.Write(append(line, '\n'))
			}
			if err != nil {
				return err
			}
		}
		q.After = found[len(found)-1].Seq
	}
	return nil
}

func (au *automations) forgetEvents() {
	folder := filepath.Join(au.w.Dir, ".gc", EventsFolder)
	left, err := disk.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range left {
		if strings.HasSuffix(e.Name(), eventsSuffix) {
			err = errors.Join(err, disk.Remove(filepath.Join(folder, e.Name())))
		}
	}
	if err != nil {
		au.w.Logger.Warn("cannot remove event files of earlier runs", "err", err)
	}
}
