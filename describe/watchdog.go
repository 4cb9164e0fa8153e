package describe

import (
	"time"

	"gcity/city"
	"gcity/internal/span"
)

// Judges describes how a watchdog makes its next decision.
func Judges(w *city.Watchdog) string {
	switch w.Mode {
	case city.ByTriage:
		text := w.Triage + ", started for each check"
		if w.TTL > 0 {
			text += " with " + span.Text(w.TTL) + " to decide"
		}
		return text
	case city.ByThresholds:
		return "only the thresholds"
	case city.ByRestart:
		return "only the thresholds; this watchdog cannot type into the terminal, so it restarts " +
			"an agent that is very stale"
	}
	return string(w.Mode)
}

// Judged describes what a watchdog decided and when: "wake 2m ago, by scout in 12s: it hangs (typed)".
func Judged(j *city.Judgement, age string, took func(time.Duration) string) string {
	return string(j.Decision) + " " + age + " ago, " + JudgedBy(j, took)
}

// JudgedBy describes a decision's author, reason and result: "by scout in 12s: it hangs (typed)".
func JudgedBy(j *city.Judgement, took func(time.Duration) string) string {
	text := "by " + j.By
	if j.Took > 0 {
		text += " in " + took(j.Took)
	}
	return text + ": " + JudgedWhy(j)
}

// JudgedWhy describes a decision's reason and result: "it hangs (typed)".
func JudgedWhy(j *city.Judgement) string {
	if j.Result != "" {
		return j.Reason + " (" + j.Result + ")"
	}
	return j.Reason
}
