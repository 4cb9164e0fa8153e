package pty

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"time"

	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/wire"
)

// hidden returns sessions that are alive although their folders were deleted. The search is slow, so hidden searches
// only in read-only mode, and only if no session has a folder.
func (p *Provider) hidden(entries []*entry) (found []session.Status) {
	if !p.files.observe || len(entries) > 0 {
		return nil
	}
	pids, err := proc.All()
	if err != nil {
		return nil
	}
	for _, pid := range pids {
		dir, ok := p.files.holderFolder(pid)
		if _, err := os.Lstat(dir); !ok || !errors.Is(err, os.ErrNotExist) {
			continue
		}
		for _, child := range proc.Descendants(pid) {
			st := hiddenStatus(child)
			if st.Agent != "" && st.ID != "" {
				st.Name, st.City = dir[len(p.files.dir)+1:], p.files.city
				found = append(found, st)
				break
			}
		}
	}
	return found
}

func hiddenStatus(pid int) session.Status {
	st := session.Status{Alive: true, Ready: true, PID: pid}
	for entry := range bytes.SplitSeq(proc.Environ(pid), []byte{0}) {
		switch name, value, _ := strings.Cut(string(entry), "="); name {
		case "GC_AGENT":
			st.Agent = value
		case "GC_SESSION_ID":
			st.ID = value
		}
	}
	if process, err := proc.ReadStat(pid); err == nil {
		st.Started = wire.TimeSinceBoot(int64(process.Start) * int64(clockTick))
	}
	return st
}

// clockTick is the unit of process start times in /proc.
const clockTick = 10 * time.Millisecond
