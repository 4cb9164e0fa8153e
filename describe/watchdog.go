package describe

import (
	"time"

	"gcity/city"
)

// Judges returns what decides the next beat of a watchdog.
func Judges(w *city.Watchdog) string {
	switch w.Mode {
	case city.ByTriage:
		text := w.Triage + ", started for each beat"
		if w.TTL > 0 {
			text += ", within " + Setting(w.TTL)
		}
		return text
	case city.ByThresholds:
		return "the ages alone"
	case city.ByRestart:
		return "the ages alone; nothing can be typed, so what is very stale is restarted"
	}
	return string(w.Mode)
}

// Judged returns what a watchdog decided and when: "wake 2m ago, by scout in 12s: it hangs (typed)". The caller writes
// ages and durations as its reader expects them.
func Judged(j *city.Judgement, age string, took func(time.Duration) string) string {
	return string(j.Decision) + " " + age + " ago, " + JudgedBy(j, took)
}

// JudgedBy returns what decided, why, and the result: "by scout in 12s: it hangs (typed)".
func JudgedBy(j *city.Judgement, took func(time.Duration) string) string {
	text := "by " + j.By
	if j.Took > 0 {
		text += " in " + took(j.Took)
	}
	return text + ": " + JudgedWhy(j)
}

// JudgedWhy returns why a watchdog decided as it did, and the result: "it hangs (typed)".
func JudgedWhy(j *city.Judgement) string {
	if j.Result != "" {
		return j.Reason + " (" + j.Result + ")"
	}
	return j.Reason
}
