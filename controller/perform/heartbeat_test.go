package perform

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/controller/effect"
)

// For an invalid heartbeat file, the result describes the problem and has no timestamp.
func TestHeartbeatFiles(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := New(World{Options: Options{Dir: dir}})
	look := func(path string) effect.HeartbeatRead {
		return r.heartbeat(t.Context(), effect.ReadHeartbeat{Tier: "care", Path: path}).(effect.HeartbeatRead)
	}
	if in := look(
		put("good", `{"timestamp":"2026-01-02T18:30:00Z","healthy_agents":42}`)); in.Problem !=
		"" || in.Stamp.Year() != 2026 || in.Agents.Healthy == nil || *in.Agents.Healthy != 42 {
		t.Errorf("%+v", in)
	}
	if in := look(filepath.Join(dir, "none")); in.Problem != "" || !in.Stamp.IsZero() {
		t.Errorf("%+v", in)
	}
	secret := put("secret", `{"timestamp":"2026-01-02T18:30:00Z"}`)
	if err := os.Chmod(secret, 0); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{
		put("torn", `{"timestamp":"2026-01-`):         "its heartbeat, torn, is not a JSON object",
		put("huge", strings.Repeat(" ", 1<<20)):       "its heartbeat, huge, is larger than 64 KiB",
		put("empty", ""):                              "its heartbeat, empty, is empty",
		put("hostile", "{\"timestamp\":\"\x1b[2J\"}"): "its heartbeat, hostile, is not a JSON object",
		dir:         "is not a regular file",
		"/dev/zero": "its heartbeat, /dev/zero, is not a regular file",
	} {
		if in := look(path); !strings.Contains(in.Problem, says) || !in.Stamp.IsZero() {
			t.Errorf("%s: %+v", path, in)
		}
	}
	if in := look(filepath.Join(dir, "torn")); in.ReadFailed {
		t.Errorf("torn heartbeat: got a read failure: %+v", in)
	}
	if in := look(dir); !in.ReadFailed {
		t.Errorf("folder as heartbeat: got no read failure: %+v", in)
	}
	if in := look(secret); os.Geteuid() != 0 &&
		!strings.Contains(in.Problem, "its heartbeat, secret, cannot be read: permission denied") {
		t.Errorf("%+v", in)
	}
}
