package watchdog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// MaxHeartbeat bounds a heartbeat's file, in bytes.
const MaxHeartbeat = 64 << 10

// ahead is how far in the future a heartbeat may be without a word about it: clocks of two machines differ.
const ahead = time.Minute

// Heartbeat is what a heartbeat's file says.
type Heartbeat struct {
	Stamp time.Time
	Agents
}

// Agents is how many agents a watched agent reports as healthy and as unhealthy. nil = it does not report that.
type Agents struct{ Healthy, Unhealthy *int }

// Parse reads a heartbeat: a JSON object with a timestamp, in RFC 3339 or as seconds since 1970, whatever else it
// has. Counts of agents that are not counts are ignored. The error follows "its heartbeat".
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
			errors.New(`is no JSON object like {"timestamp": "2026-01-02T18:30:00Z"}`)
	}
	stamp := bytes.TrimSpace(beat.Timestamp)
	if len(stamp) == 0 || bytes.Equal(stamp, []byte("null")) {
		return Heartbeat{}, errors.New(`has no "timestamp"`)
	}
	t, ok := moment(stamp)
	if !ok || t.Year() < 1971 || t.Year() > 9999 {
		return Heartbeat{},
			fmt.Errorf(`has a "timestamp" that is no time: %.40s; write "2026-01-02T18:30:00Z"`,
				strconv.QuoteToASCII(string(stamp)))
	}
	return Heartbeat{t, Agents{count(beat.Healthy), count(beat.Unhealthy)}}, nil
}

// maxCount bounds a number of agents that is believed.
const maxCount = 1_000_000

// count reads a number of agents, nil if it is none.
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
	if err != nil || !(seconds > 0 && seconds < 1<<38) { // the year 10680
		return time.Time{}, false
	}
	whole := int64(seconds)
	return time.Unix(whole, int64((seconds-float64(whole))*1e9)).UTC(), true
}

// Ahead says that a heartbeat is dated in the future, "" if it is not.
func Ahead(stamp, now time.Time) string {
	if d := stamp.Sub(now); d > ahead {
		return fmt.Sprintf("its heartbeat is dated %s ahead of this clock, and counts from when "+
			"it was seen", text(d))
	}
	return ""
}
