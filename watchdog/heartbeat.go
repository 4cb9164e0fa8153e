package watchdog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// MaxHeartbeat is the maximum size of a heartbeat file in bytes.
const MaxHeartbeat = 64 << 10

// ahead is how far in the future a timestamp may be, because the clocks of different machines differ.
const ahead = time.Minute

// Heartbeat is the content of a heartbeat file.
type Heartbeat struct {
	Stamp time.Time
	Agents
}

// Agents contains the numbers of healthy and unhealthy agents that a watched agent reports. A nil number was not
// reported.
type Agents struct{ Healthy, Unhealthy *int }

// Parse parses a heartbeat: a JSON object with a timestamp, in RFC 3339 or in seconds since 1970. It ignores other keys
// and invalid counts. An error completes a sentence that begins with "its heartbeat".
func Parse(data []byte) (Heartbeat, error) {
	if len(data) > MaxHeartbeat {
		return Heartbeat{}, fmt.Errorf("is larger than %d KiB", MaxHeartbeat>>10)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return Heartbeat{}, errors.New("is empty")
	}
	var beat struct {
		Timestamp json.RawMessage `json:"timestamp"`
		Healthy   json.RawMessage `json:"healthy_agents"`
		Unhealthy json.RawMessage `json:"unhealthy_agents"`
	}
	if err := json.Unmarshal(data, &beat); err != nil {
		return Heartbeat{},
			errors.New(`is not a JSON object like {"timestamp": "2026-01-02T18:30:00Z"}`)
	}
	stamp := bytes.TrimSpace(beat.Timestamp)
	if len(stamp) == 0 || bytes.Equal(stamp, []byte("null")) {
		return Heartbeat{}, errors.New(`has no "timestamp"`)
	}
	t, ok := moment(stamp)
	if !ok || t.Year() < 1971 || t.Year() > 9999 {
		return Heartbeat{},
			fmt.Errorf(`has an invalid "timestamp": %.40s; use "2026-01-02T18:30:00Z"`,
				strconv.QuoteToASCII(string(stamp)))
	}
	return Heartbeat{t, Agents{count(beat.Healthy), count(beat.Unhealthy)}}, nil
}

const maxCount = 1_000_000

func count(raw []byte) *int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(raw)))
	if err != nil || n < 0 || n > maxCount {
		return nil
	}
	return &n
}

func moment(raw []byte) (time.Time, bool) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700",
			"2006-01-02 15:04:05Z07:00"} {
			if t, err := time.Parse(layout, text); err == nil {
				return t.UTC(), true
			}
		}
		return time.Time{}, false
	}
	seconds, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(seconds > 0 && seconds < 1<<38) { // 1<<38 seconds is the year 10680
		return time.Time{}, false
	}
	whole := int64(seconds)
	return time.Unix(whole, int64((seconds-float64(whole))*1e9)).UTC(), true
}

// Ahead returns a warning if a timestamp is too far in the future, or "".
func Ahead(stamp, now time.Time) string {
	if d := stamp.Sub(now); d > ahead {
		return fmt.Sprintf("its heartbeat is dated %s in the future; the heartbeat's age counts "+
			"from when it was first seen", text(d))
	}
	return ""
}
