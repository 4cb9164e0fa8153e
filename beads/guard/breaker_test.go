package guard

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// In each row, a number is the time of a call in seconds.
func TestBreaker(t *testing.T) {
	for _, c := range []struct{ name, story, want string }{
		{"successes and rejections do not open it", "0 bad, 1 bad, 2 good, 3 bad, 4 bad, 5 in", "5 in"},
		{"three consecutive failures open it", "0 bad, 1 bad, 2 bad, 2 in, 3 in", "2 kept away since 0 until 3 (bad at 2); 3 probe"},
		{"a call that is cut short does not count", "0 bad, 1 bad, 2 short, 3 in, 3 bad, 3 in", "3 in; 3 kept away since 0 until 4 (bad at 3)"},
		{"only one call is the probe", "0 bad, 0 bad, 0 bad, 1 in, 1 in, 5 in", "1 probe; 1 kept away since 0 until 1 (bad at 0); 5 kept away since 0 until 1 (bad at 0)"},
		{"each failed probe doubles the wait, up to a minute",
			"0 bad, 0 bad, 0 bad, 1 probe bad, 3 probe bad, 7 probe bad, 15 probe bad, 31 probe bad, 63 probe bad, 63 in, 123 probe bad, 123 in",
			"63 kept away since 0 until 123 (bad at 63); 123 kept away since 0 until 183 (bad at 123)"},
		{"a successful probe closes it and resets the count", "0 bad, 0 bad, 0 bad, 1 probe good, 1 in, 2 bad, 3 bad, 3 in, 4 bad, 4 in", "1 in; 3 in; 4 kept away since 2 until 5 (bad at 4)"},
		{"a probe that is cut short is repeated", "0 bad, 0 bad, 0 bad, 1 probe short, 1 in", "1 probe"},
		{"a probe that cannot test the calls allows them, and the next failure doubles the wait",
			"0 bad, 0 bad, 0 bad, 1 probe untested, 1 in, 2 bad, 2 in, 4 probe untested, 5 good, 6 bad, 7 bad, 7 in",
			"1 in; 2 kept away since 0 until 4 (bad at 2); 7 in"},
		{"an earlier call that fails does not prolong it", "0 bad, 0 bad, 0 bad, 9 bad, 9 in", "9 probe"},
		{"an earlier call that succeeds closes it", "0 bad, 0 bad, 0 bad, 0 good, 0 in", "0 in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Breaker
			var got []string
			zero := time.Unix(0, 0)
			for step := range strings.SplitSeq(c.story, ", ") {
				var second int
				words := strings.Fields(step)
				if _, err := fmt.Sscan(words[0], &second); err != nil {
					t.Fatal(err)
				}
				now, probe, what := zero.Add(time.Duration(second)*time.Second), false, words[len(words)-1]
				if len(words) == 3 {
					if in, p := b.Enter(now); !in || !p {
						t.Fatalf("%s: no probe was allowed", step)
					}
					probe = true
				}
				if what != "in" {
					v := map[string]verdict{"good": StoreWorks, "bad": StoreFailed, "short": inconclusive, "untested": untested}[what]
					was := fmt.Sprint(b.Open(), b.until)
					if changed := b.Ended(now, probe, v, errors.New("bad at "+words[0])); changed != (was != fmt.Sprint(b.Open(), b.until)) {
						t.Errorf("%s: changed = %v", step, changed)
					}
					continue
				}
				switch in, p := b.Enter(now); {
				case p:
					got = append(got, words[0]+" probe")
				case in:
					got = append(got, words[0]+" in")
				default:
					got = append(got, fmt.Sprintf("%s kept away since %v until %v (%v)", words[0], b.since.Sub(zero).Seconds(), b.until.Sub(zero).Seconds(), b.why))
				}
			}
			if got := strings.Join(got, "; "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
