package api

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// audit logs rejected requests, and changes over TCP, at most once per minute for each address and kind of request.
type audit struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[auditKey]*auditLine
}

type auditKey struct{ what, address string }

type auditLine struct {
	at   time.Time
	more int // requests skipped since this line
}

const (
	auditInterval = time.Minute
	maxAuditKeys  = 1024
)

func (a *audit) note(what string, r *http.Request, status int, why string) {
	address, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		address = r.RemoteAddr
	}
	more, ok := a.due(auditKey{what, address}, time.Now())
	if !ok {
		return
	}
	attrs := []any{"address", address, "method", r.Method, "path", r.URL.EscapedPath()}
	if status != 0 {
		attrs = append(attrs, "status", status, "why", why)
	}
	if more > 0 {
		attrs = append(attrs, "not_logged_before", more)
	}
	a.log.Info("the API over TCP: "+what, attrs...)
}

func (a *audit) due(key auditKey, now time.Time) (more int, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.seen[key]
	if last != nil && now.Sub(last.at) < auditInterval {
		last.more++
		return 0, false
	}
	if last == nil && len(a.seen) >= maxAuditKeys {
		a.forget(now)
	}
	if last != nil {
		more = last.more
	} else if len(a.seen) >= maxAuditKeys {
		return 0, false // this many addresses within a minute are an attempt to flood the log
	}
	a.seen[key] = &auditLine{at: now}
	return more, true
}

func (a *audit) forget(now time.Time) {
	for key, line := range a.seen {
		if now.Sub(line.at) >= auditInterval {
			delete(a.seen, key)
		}
	}
}
