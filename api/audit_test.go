package api

import (
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/api/socket"
)

// Rejections and changes are logged at most once per address and minute. A flood of addresses does not fill the log.
func TestAudit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		a := &audit{log: slog.New(slog.NewTextHandler(&out, nil)), seen: map[auditKey]*auditLine{}}
		from := func(address, what string) {
			r := httptest.NewRequest("POST", "/v0/stop", nil)
			r.RemoteAddr = address
			a.note(what, r, 401, "no token")
		}
		for range 5 {
			from("192.0.2.7:1000", "rejected")
			from("192.0.2.7:2000", "changed")
		}
		from("[2001:db8::1]:1", "rejected")
		if got := strings.Count(out.String(), "\n"); got != 3 || !strings.Contains(out.String(), "address=192.0.2.7 method=POST path=/v0/stop status=401") {
			t.Errorf("%d lines:\n%s", got, out.String())
		}
		time.Sleep(auditInterval) // fake time in the synctest bubble
		out.Reset()
		from("192.0.2.7:3000", "rejected")
		if !strings.Contains(out.String(), "not_logged_before=4") {
			t.Error(out.String())
		}
		for i := range 3 * maxAuditKeys {
			from("10.0."+string(rune('a'+i%20))+strings.Repeat("x", i/20)+":1", "rejected")
		}
		if len(a.seen) > maxAuditKeys {
			t.Errorf("got %d stored addresses", len(a.seen))
		}
	})
}

// A client does not use a socket if another user's process listens on it.
func TestTrustedPeers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "city.sock")
	if err := socket.Trusted(uint32(os.Getuid()), path); err != nil {
		t.Error(err)
	}
	if err := socket.Trusted(uint32(os.Getuid())+1, path); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Error(err)
	}
}
