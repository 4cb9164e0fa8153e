package city

import (
	"strconv"
	"strings"

	"gcity/beads"
)

func runOf(b beads.Bead) Run {
	r := Run{
		ID: b.ID, Reason: b.Metadata[RunReason], By: b.Metadata[RunBy], Opened: b.CreatedAt, Ended: b.ClosedAt,
		Outcome: b.Metadata[RunOutcome], Error: b.Metadata[RunError], Output: b.Metadata[RunOutput], Made: b.Metadata[RunMade],
	}
	for _, l := range b.Labels {
		if name, ok := strings.CutPrefix(l, RunLabel); ok {
			r.Automation = name
		}
		if seq, ok := strings.CutPrefix(l, "seq:"); ok {
			if n, err := strconv.ParseUint(seq, 10, 64); err == nil {
				r.Seq = n
			}
		}
	}
	number := func(key string) int {
		n, err := strconv.Atoi(b.Metadata[key])
		if err != nil {
			return 0 // not written, or by somebody else
		}
		return n
	}
	r.Retry, r.Events = number(RunRetry), number(RunEvents)
	if code, err := strconv.Atoi(b.Metadata[RunCode]); err == nil {
		r.Code = &code
	}
	return r
}
